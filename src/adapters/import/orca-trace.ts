import type { EventDraft } from '../../core/event/event.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, numberAt, objectAt, stringAt } from '../../core/json.ts';
import { defineFormat, type ForeignFormat, type UnitMeaning } from '../../core/recording/foreign-format.ts';
import { firstLines, firstString } from './pieces/first-lines.ts';
import { said, Talk } from './pieces/talk.ts';

/** The path of a payload that is a separate file. */
const blob = /(^|[/\\])blobs[/\\][0-9a-f]{2}[/\\][0-9a-f]{64}$/;

/** The traces of orca-trace v0: `events.jsonl`, with large payloads in files named by their digest. */
export const orcaTrace: ForeignFormat = defineFormat({
  name: 'orca-trace',
  about: 'traces of orca-trace v0',
  detect: ({ text }) => firstLines(text).some(isOwn),
  cut: ({ path }) => (/[/\\]?blobs[/\\]/.test(path ?? '') ? { kind: 'whole' } : { kind: 'lines' }),
  open: ({ text, path }) => {
    const lines = firstLines(text);
    const reader = new OrcaReader();
    return {
      session: path === undefined ? undefined : path.split(/[/\\]/).at(-2),
      startedAt: firstString(lines, 'ts'),
      unit: ({ value, file }) => {
        if (file !== '') return { type: 'blob', drafts: [] };
        return isObject(value) && isOwn(value) ? reader.event(value) : undefined;
      },
      end: () => ({ warnings: reader.talk.unanswered }),
    };
  },
  family: {
    parts: blob,
    beside: (path) => [`${path.replace(/[^/\\]*$/, '')}blobs`],
    place: ({ path }) => {
      if (blob.test(path)) return { source: path.replace(blob, '$1'), rank: 1 };
      return path.endsWith('events.jsonl') ? { source: path.replace(/[^/\\]*$/, ''), rank: 0 } : undefined;
    },
  },
});

const isOwn = (line: JsonValue): boolean =>
  isObject(line) &&
  typeof line['seq'] === 'number' &&
  Object.hasOwn(line, 'mono_us') &&
  typeof line['type'] === 'string';

class OrcaReader {
  readonly talk = new Talk('agent', undefined);
  #turn = 0;

  event(event: JsonObject): UnitMeaning {
    const type = String(event['type']);
    const id = String(event['seq']);
    const turn = numberAt(event, 'turn') ?? this.#turn;
    const isPrompt = turn > this.#turn;
    this.#turn = turn;
    const agent = actorOf(event['actor']);
    const drafts = this.talk.of(this.#drafts(type, event, id), { time: stringAt(event, 'ts'), agent });
    return { type, id, isTalk: true, drafts, ...(isPrompt ? { begins: { kind: 'prompt', id } } : {}) };
  }

  #drafts(type: string, event: JsonObject, id: string): EventDraft[] {
    const payload = event['payload'] ?? null;
    const attrs = objectAt(event, 'attrs') ?? {};
    const text = typeof payload === 'string' ? payload : (stringAt(payload, 'text') ?? stringAt(payload, 'content'));
    const call = stringAt(attrs, 'call_id') ?? stringAt(payload, 'call_id');
    const name =
      stringAt(attrs, 'tool') ??
      stringAt(attrs, 'name') ??
      stringAt(payload, 'tool') ??
      stringAt(payload, 'name') ??
      'unknown';
    if (/tool.*(?:call|start|request|invoke)/i.test(type))
      return [this.talk.toolStarted(call ?? id, name, payload ?? {})];
    if (/tool.*(?:result|end|complete|response|return|error)/i.test(type)) {
      const cause = arrayAt(event, 'causes')?.[0];
      return this.talk.toolEnded(call ?? String(cause ?? id), { output: payload, isError: /error/i.test(type), name });
    }
    if (text === undefined) return [];
    if (/user|prompt|human/i.test(type)) return [said('user', text), ...this.talk.begin({ prompt: text })];
    if (/assistant|model|llm|agent.*(?:message|output)/i.test(type)) return [said('assistant', text)];
    return /system/i.test(type) ? [said('system', text)] : [];
  }
}

function actorOf(actor: JsonValue | undefined): string | undefined {
  const name = typeof actor === 'string' ? actor : (stringAt(actor, 'id') ?? stringAt(actor, 'name'));
  return name === undefined || /^(?:user|human|system|tool)/.test(name) ? undefined : name;
}
