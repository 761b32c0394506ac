import type { EventDraft } from '../../core/event/event.ts';
import { arrayAt, given, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstTime, hasDocuments } from './pieces/first-lines.ts';
import { said, Talk, toolCallPart } from './pieces/talk.ts';

/** The path of an event that is a separate file, in a folder of its conversation. */
const eventFile = /(?:^|[/\\])events[/\\](\d+)\.json$/;

/** The path of a page of events that are separate files. */
const pageFile = /(?:^|[/\\])event_cache[/\\](\d+)-\d+\.json$/;

/**
 * The event streams of OpenHands: a list of actions and observations, a file for each of them, or the `history` of a
 * benchmark's output, of which each line is a source.
 */
export const openhands: ForeignFormat = defineFormat({
  name: 'openhands',
  about: 'event streams of OpenHands',
  detect: ({ text }) =>
    /"(?:action|observation)"\s*:\s*"/.test(text) && /"source"\s*:\s*"(?:user|agent|environment)"/.test(text),
  cut: ({ text }) => {
    if (hasDocuments(text, (document) => arrayAt(document, 'history') !== undefined)) return { kind: 'sources' };
    return /^\s*\{[^\n]*\}\s*\n\s*\{/.test(text)
      ? { kind: 'lines' }
      : { kind: 'elements', of: ['', 'history', 'trajectory'] };
  },
  open: ({ document, text, path }) => {
    const reader = new OpenHandsReader();
    return {
      session: stringAt(document, 'instance_id') ?? conversationOf(path),
      startedAt: firstTime(text, 'timestamp'),
      unit: ({ value, at, file }) => {
        // A page repeats events that have their own files.
        if (pageFile.test(file)) return { type: 'page', drafts: [] };
        return isObject(value) ? reader.event(value, at) : undefined;
      },
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
  family: {
    parts: /(?:^|[/\\])(?:events[/\\]\d+|event_cache[/\\]\d+-\d+)\.json$/,
    beside: (path) => (eventFile.test(path) ? [folderOf(path)] : []),
    place: ({ path }) => {
      const page = pageFile.exec(path)?.[1];
      const number = eventFile.exec(path)?.[1] ?? page;
      // The pages come behind all events.
      return number === undefined
        ? undefined
        : { source: folderOf(path), rank: Number(number) + (page === undefined ? 0 : pageRank) };
    },
  },
  order: (names) => names.toSorted((a, b) => rankOf(a) - rankOf(b)),
});

const pageRank = 1e9;

/** Returns the folder of the conversation that an event or a page is of. */
const folderOf = (path: string): string => path.replace(/[^/\\]*[/\\][^/\\]*$/, '') || '.';

/** Returns the conversation of an event that is a separate file. */
const conversationOf = (path: string | undefined): string | undefined =>
  path === undefined || !eventFile.test(path) ? undefined : path.split(/[/\\]/).at(-3);

/** Returns the place of a file in the order of reading: the main one has no name, and is the first event. */
function rankOf(name: string): number {
  if (name === '') return -1;
  return pageFile.test(name) ? pageRank : Number(/(\d+)\.json$/.exec(name)?.[1] ?? 0);
}

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

/** An event with the messages that it added to the talk. */
interface SaidEvent {
  readonly id: string;
  readonly messages: readonly JsonObject[];
}

/** Returns the messages that events add to the talk. */
function messagesIn(drafts: readonly EventDraft[]): JsonObject[] {
  return drafts.flatMap(({ type, data }): JsonObject[] => {
    const held = data as JsonObject | undefined;
    const message = objectAt(held, 'message');
    if (message !== undefined) return [message];
    if (type !== 'call.ended' || held?.['kind'] !== 'tool') return [];
    const [toolCallId, toolName] = [String(held['call']), String(held['name'])];
    const part = { type: 'tool-result', toolCallId, toolName, output: held['output'] ?? null };
    return [{ role: 'tool', content: [part] }];
  });
}

class OpenHandsReader {
  readonly talk = new Talk('openhands', undefined);
  #responses = new Set<string>();
  /** The messages of each event, by which a condensation tells what stays. */
  readonly #history: SaidEvent[] = [];
  readonly #forgotten = new Set<string>();

  event(event: JsonObject, at: number): UnitMeaning | undefined {
    const [action, observation] = [stringAt(event, 'action'), stringAt(event, 'observation')];
    if (action === undefined && observation === undefined) return undefined;
    const id = String(event['id'] ?? at);
    const isPrompt = action === 'message' && event['source'] === 'user';
    const meant = action === undefined ? this.#observed(observation ?? '', event) : this.#acted(action, event, id);
    this.#history.push({ id, messages: messagesIn(meant) });
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

  /** Returns a condensation: the model forgets some events, and reads a summary in their place. */
  #condensed(args: JsonObject): EventDraft {
    const [from, to] = [numberAt(args, 'forgotten_events_start_id'), numberAt(args, 'forgotten_events_end_id')];
    const listed = arrayAt(args, 'forgotten_event_ids')?.map(String);
    for (const { id } of this.#history) {
      const isWithin = from !== undefined && to !== undefined && Number(id) >= from && Number(id) <= to;
      if (isWithin || listed?.includes(id) === true) this.#forgotten.add(id);
    }
    const summary = stringAt(args, 'summary');
    const first = this.#history.findIndex(({ id }) => this.#forgotten.has(id));
    const shown = (history: readonly SaidEvent[]): JsonObject[] =>
      history.filter(({ id }) => !this.#forgotten.has(id)).flatMap(({ messages }) => messages);
    const at = first < 0 ? this.#history.length : first;
    const messages = [
      ...shown(this.#history.slice(0, at)),
      ...(summary === undefined ? [] : [{ role: 'user', content: summary }]),
      ...shown(this.#history.slice(at)),
    ];
    return { type: 'conversation.compacted', data: { messages } };
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
