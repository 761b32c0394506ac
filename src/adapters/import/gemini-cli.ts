import type { EventDraft } from '../../core/event/event.ts';
import {
  arrayAt,
  given,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  stringAt,
} from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstLines, firstString } from './first-lines.ts';
import { said, Talk, toolCallPart } from './talk.ts';

/** The chats of Gemini CLI: one JSON file, or lines with changes (`$set`) and rewinds (`$rewindTo`). */
export const geminiCli: ForeignFormat = defineFormat({
  name: 'gemini-cli',
  about: 'chats of Gemini CLI (~/.gemini/tmp/*/chats)',
  places: [
    { home: '~/.gemini', below: 'tmp', ending: '.json' },
    { home: '~/.gemini', below: 'tmp', ending: '.jsonl' },
  ],
  detect: ({ text }) => /"sessionId"\s*:/.test(text) && /"projectHash"\s*:/.test(text),
  cut: ({ text }) => (isLines(text) ? { kind: 'lines' } : { kind: 'elements', of: ['messages'] }),
  open: ({ text, document }) => {
    const lines = firstLines(text);
    const session = stringAt(document, 'sessionId') ?? firstString(lines, 'sessionId');
    const reader = new GeminiReader(session);
    return {
      session,
      startedAt: stringAt(document, 'startTime') ?? firstString(lines, 'startTime'),
      metadata: given({ projectHash: stringAt(document, 'projectHash') ?? firstString(lines, 'projectHash') }),
      unit: ({ value }) => (isObject(value) ? reader.record(value) : undefined),
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
});

/** Tells whether the first line is a record of its own. */
function isLines(text: string): boolean {
  const [first] = firstLines(text.split('\n', 1)[0] ?? '');
  return isObject(first) && !Object.hasOwn(first, 'messages');
}

class GeminiReader {
  readonly talk: Talk;
  /** The ids of the messages in order, by which a rewind finds the one before its target. */
  #ids: string[] = [];

  constructor(session: string | undefined) {
    this.talk = new Talk('gemini-cli', session);
  }

  record(record: JsonObject): UnitMeaning | undefined {
    const target = stringAt(record, '$rewindTo');
    if (target !== undefined) return { type: '$rewindTo', drafts: [], rewindTo: this.#before(target) };
    if (Object.hasOwn(record, '$set')) return { type: '$set', drafts: [] };
    const type = stringAt(record, 'type');
    if (type === undefined) return Object.hasOwn(record, 'sessionId') ? { type: 'header', drafts: [] } : undefined;
    const id = stringAt(record, 'id') ?? '';
    this.#ids.push(id);
    const drafts = this.talk.of(this.#drafts(type, record, id), { time: stringAt(record, 'timestamp') });
    const begins = type === 'user' ? { begins: { kind: 'prompt' as const, id } } : {};
    return { type, id, isTalk: true, drafts, ...begins };
  }

  /** Returns the id of the message before the one that is rewound to, which is taken back with all after it. */
  #before(target: string): string {
    const index = this.#ids.lastIndexOf(target);
    if (index < 0) return this.#ids.at(-1) ?? '';
    this.#ids = this.#ids.slice(0, index);
    return this.#ids.at(-1) ?? '';
  }

  #drafts(type: string, record: JsonObject, id: string): EventDraft[] {
    const content = partsOf(record['content']);
    switch (type) {
      case 'user': {
        const prompt = typeof content === 'string' ? content : undefined;
        return [said('user', content), ...this.talk.begin({ prompt })];
      }
      case 'gemini':
        return this.#answer(record, content, id);
      default:
        // Notes of the tool to the person: the model does not see them.
        return [];
    }
  }

  #answer(record: JsonObject, content: string | JsonObject[], id: string): EventDraft[] {
    const calls = (arrayAt(record, 'toolCalls') ?? []).filter(isObject);
    const thoughts = (arrayAt(record, 'thoughts') ?? []).map(
      (thought): JsonObject => ({
        type: 'reasoning',
        text: [stringAt(thought, 'subject'), stringAt(thought, 'description')]
          .filter((text) => text !== undefined)
          .join('\n'),
      }),
    );
    const spoken = typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content;
    const asked = calls.map((call) =>
      toolCallPart(stringAt(call, 'id') ?? '', stringAt(call, 'name') ?? 'unknown', call['args'] ?? {}),
    );
    const parts = [...thoughts, ...spoken, ...asked];
    const model = stringAt(record, 'model') ?? 'unknown';
    const usage = usageOf(objectAt(record, 'tokens'));
    const whole = thoughts.length + asked.length === 0 && typeof content === 'string' ? content : parts;
    const [started, ended] = this.talk.modelCall(id, model, given({ usage })) as [EventDraft, EventDraft];
    const message = { role: 'assistant', content: whole };
    return [started, { ...ended, data: { ...ended.data, message } }, ...calls.flatMap((call) => this.#tool(call))];
  }

  #tool(call: JsonObject): EventDraft[] {
    const id = stringAt(call, 'id') ?? '';
    const started = this.talk.toolStarted(id, stringAt(call, 'name') ?? 'unknown', call['args'] ?? {});
    const result = arrayAt(call, 'result');
    const status = stringAt(call, 'status');
    if (result === undefined && status !== 'cancelled' && status !== 'error') return [started];
    const [first] = result ?? [];
    const response = objectAt(first, 'functionResponse');
    const output = objectAt(response, 'response')?.['output'] ?? response?.['response'] ?? first ?? null;
    return [started, ...this.talk.toolEnded(id, { output, isError: status === 'error' || status === 'cancelled' })];
  }
}

function partsOf(content: JsonValue | undefined): string | JsonObject[] {
  if (typeof content === 'string') return content;
  const parts = (isArray(content) ? content : content === undefined ? [] : [content]).flatMap((part): JsonObject[] => {
    if (typeof part === 'string') return [{ type: 'text', text: part }];
    const text = stringAt(part, 'text');
    if (text !== undefined) return [{ type: 'text', text }];
    return isObject(part) ? [{ type: 'part', ...part }] : [];
  });
  const [only] = parts;
  return parts.length === 1 && only?.['type'] === 'text' ? String(only['text']) : parts;
}

function usageOf(tokens: JsonObject | undefined): JsonObject | undefined {
  if (tokens === undefined) return undefined;
  const [output, thoughts] = [numberAt(tokens, 'output'), numberAt(tokens, 'thoughts')];
  return given({
    inputTokens: numberAt(tokens, 'input'),
    outputTokens: output === undefined ? undefined : output + (thoughts ?? 0),
    cachedInputTokens: numberAt(tokens, 'cached'),
    reasoningTokens: thoughts,
  });
}
