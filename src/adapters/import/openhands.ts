import type { EventDraft } from '../../core/event/event.ts';
import { given, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstTime } from './first-lines.ts';
import { said, Talk, toolCallPart } from './talk.ts';

/** The event streams of OpenHands: a list of actions and observations, or the `history` of a benchmark's output. */
export const openhands: ForeignFormat = defineFormat({
  name: 'openhands',
  about: 'event streams of OpenHands',
  detect: ({ text }) =>
    /"(?:action|observation)"\s*:\s*"/.test(text) && /"source"\s*:\s*"(?:user|agent|environment)"/.test(text),
  cut: ({ text }) =>
    /^\s*\{[^\n]*\}\s*\n\s*\{/.test(text) ? { kind: 'lines' } : { kind: 'elements', of: ['', 'history', 'trajectory'] },
  open: ({ document, text }) => {
    const reader = new OpenHandsReader();
    return {
      session: stringAt(document, 'instance_id'),
      startedAt: firstTime(text, 'timestamp'),
      unit: ({ value, at }) => (isObject(value) ? reader.event(value, at) : undefined),
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
});

/** Actions and observations about the state of the agent, which its model does not see. */
const plainKinds: ReadonlySet<string> = new Set([
  'null',
  'change_agent_state',
  'agent_state_changed',
  'start',
  'pause',
  'resume',
  'stop',
  'recall',
  'system',
  'condensation_request',
]);

class OpenHandsReader {
  readonly talk = new Talk('openhands', undefined);
  #responses = new Set<string>();

  event(event: JsonObject, at: number): UnitMeaning | undefined {
    const [action, observation] = [stringAt(event, 'action'), stringAt(event, 'observation')];
    if (action === undefined && observation === undefined) return undefined;
    const id = String(event['id'] ?? at);
    const isPrompt = action === 'message' && event['source'] === 'user';
    const meant = action === undefined ? this.#observed(observation ?? '', event) : this.#acted(action, event, id);
    const drafts = this.talk.of(meant, { time: stringAt(event, 'timestamp') });
    return {
      type: action === undefined ? `observation.${observation}` : `action.${action}`,
      id,
      isTalk: true,
      drafts,
      ...(isPrompt ? { begins: { kind: 'prompt', id } } : {}),
    };
  }

  #acted(action: string, event: JsonObject, id: string): EventDraft[] {
    const args = objectAt(event, 'args') ?? {};
    if (action === 'system') return [{ type: 'settings.changed', data: { system: stringAt(args, 'content') ?? '' } }];
    if (plainKinds.has(action)) return [];
    const content = stringAt(args, 'content') ?? stringAt(event, 'message') ?? '';
    if (action === 'message' && event['source'] === 'user')
      return [said('user', content), ...this.talk.begin({ prompt: content })];
    if (action === 'condensation') return [this.#condensed(args)];
    const spent = this.#spent(event);
    if (action === 'message' || action === 'think')
      return [said('assistant', stringAt(args, 'thought') ?? content), ...spent];
    if (action === 'finish' || action === 'reject') {
      const outcome = action === 'finish' ? 'ok' : 'aborted';
      const text = stringAt(args, 'final_thought') ?? stringAt(args, 'thought') ?? content;
      return [...(text === '' ? [] : [said('assistant', text)]), { type: 'run.ended', data: { outcome } }, ...spent];
    }
    return [...this.#called(action, event, args, id), ...spent];
  }

  #called(action: string, event: JsonObject, args: JsonObject, id: string): EventDraft[] {
    const metadata = objectAt(event, 'tool_call_metadata');
    const name = stringAt(metadata, 'function_name') ?? action;
    const call = stringAt(metadata, 'tool_call_id') ?? id;
    const { thought, ...input } = args;
    const text = typeof thought === 'string' && thought !== '' ? [{ type: 'text', text: thought }] : [];
    this.#calls.set(id, call);
    return [said('assistant', [...text, toolCallPart(call, name, input)]), this.talk.toolStarted(call, name, input)];
  }

  readonly #calls = new Map<string, string>();

  #observed(observation: string, event: JsonObject): EventDraft[] {
    const call = this.#calls.get(String(event['cause']));
    if (call === undefined) return [];
    const extras = objectAt(event, 'extras');
    const metadata = objectAt(extras, 'metadata');
    const exitCode = numberAt(metadata, 'exit_code') ?? numberAt(extras, 'exit_code');
    const output = stringAt(event, 'content') ?? '';
    const ended = this.talk.toolEnded(call, { output, isError: observation === 'error', exitCode });
    return [...ended, ...patched(observation, extras, output)];
  }

  #condensed(args: JsonObject): EventDraft {
    const summary = stringAt(args, 'summary');
    return {
      type: 'conversation.compacted',
      data: { messages: summary === undefined ? [] : [{ role: 'user', content: summary }], kept: 0 },
    };
  }

  /** Returns what a response cost, once: several actions may come from one. */
  #spent(event: JsonObject): EventDraft[] {
    const response = objectAt(objectAt(event, 'tool_call_metadata'), 'model_response');
    const id = stringAt(response, 'id');
    const usage = objectAt(response, 'usage');
    if (id === undefined || usage === undefined || this.#responses.has(id)) return [];
    this.#responses.add(id);
    const tokens = {
      inputTokens: numberAt(usage, 'prompt_tokens') ?? 0,
      outputTokens: numberAt(usage, 'completion_tokens') ?? 0,
    };
    return this.talk.modelCall(id, stringAt(response, 'model') ?? 'unknown', { usage: tokens }).slice(1);
  }
}

function patched(observation: string, extras: JsonObject | undefined, output: string): EventDraft[] {
  const path = stringAt(extras, 'path');
  if ((observation !== 'edit' && observation !== 'write') || path === undefined) return [];
  const [before, after] = [extras?.['old_content'], extras?.['new_content']];
  const patch = stringAt(extras, 'diff') ?? (/^(?:diff |---|@@)/m.test(output) ? output : undefined);
  return [
    {
      type: 'file.patched',
      data: {
        path,
        ...given({ before, after, patch }),
      },
    },
  ];
}
