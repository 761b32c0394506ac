import type { EventDraft } from '../../core/event/event.ts';
import { arrayAt, booleanAt, given, isObject, type JsonObject, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstLines, firstString } from './pieces/first-lines.ts';
import { said, Talk, toolCallPart } from './pieces/talk.ts';

/** The event files of Copilot CLI. */
export const copilotCli: ForeignFormat = defineFormat({
  name: 'copilot-cli',
  about: 'events of Copilot CLI (~/.copilot/session-state)',
  places: [{ home: '~/.copilot', variable: 'COPILOT_HOME', below: 'session-state', ending: 'events.jsonl' }],
  detect: ({ text }) =>
    firstLines(text).some((line) => isObject(line) && line['type'] === 'session.start' && isObject(line['data'])),
  cut: () => ({ kind: 'lines' }),
  open: ({ text }) => {
    const lines = firstLines(text);
    const start = lines.find((line) => isObject(line) && line['type'] === 'session.start');
    const session = stringAt(objectAt(start, 'data'), 'sessionId');
    const reader = new CopilotReader(session);
    return {
      session,
      startedAt: firstString(lines, 'timestamp'),
      unit: ({ value }) => (isObject(value) ? reader.event(value) : undefined),
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
});

const knownTypes =
  /^(?:session\.|user\.message$|assistant\.|tool\.|hook\.|system\.|permission\.|abort$|subagent\.|skill\.|elicitation\.)/;

class CopilotReader {
  readonly talk: Talk;
  #start: JsonObject = {};
  #model = 'unknown';
  /** The events that were not taken back, by which a rewind finds the one before its target. */
  #ids: string[] = [];
  readonly #agents = new Set<string>();

  constructor(session: string | undefined) {
    this.talk = new Talk('copilot-cli', session);
  }

  event(event: JsonObject): UnitMeaning | undefined {
    const type = stringAt(event, 'type');
    if (type === undefined) return undefined;
    const data = objectAt(event, 'data') ?? {};
    const id = stringAt(event, 'id');
    const agent = stringAt(event, 'agentId') ?? stringAt(data, 'parentToolCallId');
    const own = this.#drafts(type, data, id ?? '');
    const drafts = this.talk.of([...own, ...this.#spawned(agent)], { time: stringAt(event, 'timestamp'), agent });
    const isPrompt = type === 'user.message' && agent === undefined;
    const rewindTo = type === 'session.snapshot_rewind' ? this.#before(stringAt(data, 'upToEventId') ?? '') : undefined;
    if (id !== undefined) this.#ids.push(id);
    return {
      type,
      ...given({ id, rewindTo }),
      isTalk: type === 'user.message' || type === 'assistant.message',
      drafts,
      ...(isPrompt ? { begins: { kind: 'prompt', id: id ?? '' } } : {}),
      ...(knownTypes.test(type) ? {} : { warnings: [`its type "${type}" is not known`] }),
    };
  }

  /** Says once that a sub-agent began. */
  #spawned(agent: string | undefined): EventDraft[] {
    if (agent === undefined || this.#agents.has(agent)) return [];
    this.#agents.add(agent);
    return [{ type: 'agent.spawned', data: { role: 'sub-agent' } }];
  }

  /** Returns the event before the one that is rewound to, which goes with all after it; undefined if it is not there. */
  #before(target: string): string | undefined {
    const index = this.#ids.lastIndexOf(target);
    if (index < 0) return undefined;
    this.#ids = this.#ids.slice(0, index);
    return this.#ids.at(-1) ?? '';
  }

  #drafts(type: string, data: JsonObject, id: string): EventDraft[] {
    switch (type) {
      case 'session.start':
        this.#start = data;
        this.#model = stringAt(data, 'selectedModel') ?? this.#model;
        return [];
      case 'session.model_change': {
        const model = stringAt(data, 'newModel') ?? stringAt(data, 'model');
        this.#model = model ?? this.#model;
        return model === undefined ? [] : [{ type: 'settings.changed', data: { model } }];
      }
      case 'system.message':
        return [said('system', stringAt(data, 'content') ?? '')];
      case 'user.message': {
        const text = stringAt(data, 'transformedContent') ?? stringAt(data, 'content') ?? '';
        return [said('user', text), ...this.#begin(stringAt(data, 'content') ?? text)];
      }
      case 'assistant.message':
        return this.#answer(data, id);
      case 'tool.execution_start':
        return [
          this.talk.toolStarted(
            stringAt(data, 'toolCallId') ?? id,
            stringAt(data, 'toolName') ?? 'unknown',
            data['arguments'] ?? {},
          ),
        ];
      case 'tool.execution_complete': {
        const result = objectAt(data, 'result');
        const output = result?.['content'] ?? data['result'] ?? data['error'] ?? null;
        return this.talk.toolEnded(stringAt(data, 'toolCallId') ?? id, {
          output,
          isError: booleanAt(data, 'success') === false,
        });
      }
      case 'session.compaction_complete':
        return compacted(data);
      case 'abort':
        return [{ type: 'turn.ended', data: { outcome: 'aborted' } }];
      case 'assistant.turn_end':
        return [{ type: 'turn.ended', data: { outcome: 'ok' } }];
      case 'session.shutdown':
        return [{ type: 'run.ended', data: { outcome: 'ok' } }];
      default:
        return [];
    }
  }

  #begin(prompt: string): EventDraft[] {
    const context = objectAt(this.#start, 'context');
    const [branch, sha] = [stringAt(context, 'branch'), stringAt(context, 'headCommit')];
    const version = stringAt(this.#start, 'copilotVersion');
    return this.talk.begin({
      prompt,
      command: 'copilot',
      cwd: stringAt(context, 'cwd'),
      git: branch === undefined ? undefined : given({ branch, sha }),
      versions: version === undefined ? undefined : { 'copilot-cli': version },
    });
  }

  #answer(data: JsonObject, id: string): EventDraft[] {
    const text = stringAt(data, 'content') ?? '';
    const reasoning = stringAt(data, 'reasoningText');
    const asked = (arrayAt(data, 'toolRequests') ?? []).map((call) =>
      toolCallPart(
        stringAt(call, 'toolCallId') ?? '',
        stringAt(call, 'name') ?? 'unknown',
        (isObject(call) ? call['arguments'] : undefined) ?? {},
      ),
    );
    const parts: JsonObject[] = [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...asked,
    ];
    const outputTokens = numberAt(data, 'outputTokens');
    const usage = outputTokens === undefined ? undefined : { outputTokens };
    const message = { role: 'assistant', content: parts.length === 1 && text !== '' ? text : parts };
    return this.talk.modelCall(stringAt(data, 'messageId') ?? id, stringAt(data, 'model') ?? this.#model, {
      ...given({ usage }),
      message,
    });
  }
}

/** Returns a compaction: the model continues from the summary. */
function compacted(data: JsonObject): EventDraft[] {
  const summary = stringAt(data, 'summaryContent');
  if (booleanAt(data, 'success') === false || summary === undefined) return [];
  const tokensBefore = numberAt(data, 'preCompactionTokens');
  const messages = [{ role: 'user', content: summary }];
  return [{ type: 'conversation.compacted', data: { messages, ...given({ tokensBefore }) } }];
}
