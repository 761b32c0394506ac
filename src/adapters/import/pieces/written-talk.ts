import type { Event } from '../../../core/event/event.ts';
import { arrayAt, isObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../../../core/json.ts';
import { partsOf, textOf, toolCallsIn, toolResultsIn } from '../../../core/message/message.ts';
import type { WriterSource } from '../../../core/recording/foreign-format.ts';

/** A message, or the result of a tool, that a writer of a conversation writes. */
export type SaidItem =
  | { readonly kind: 'message'; readonly message: JsonObject }
  | {
      readonly kind: 'result';
      readonly call: string;
      readonly name: string;
      readonly outcome: string;
      readonly output: JsonValue;
    };

/** The last list that an agent's model was sent. */
interface SentList {
  readonly length: number;
  /** The key of its last message. */
  readonly last: string;
  readonly run: string;
  /** How many messages were written when it was sent. */
  readonly written: number;
}

/**
 * Returns the conversation of a history event by event. A message may be in a separate event, in an answer, or only
 * in a list: that of a request, that a run began with, or that a compaction left. Each comes once.
 */
export class WrittenTalk {
  readonly #hasLists: boolean;
  readonly #lists = new Map<string, SentList>();
  /** The places of each message among those that were written, by its key. */
  readonly #places = new Map<string, number[]>();
  readonly #answered = new Set<string>();
  readonly #toolNames = new Map<string, string>();
  #written = 0;

  /** In a file that was imported, the units before an event have what its list repeats: lists do not count. */
  constructor({ first }: Pick<WriterSource, 'first'>) {
    this.#hasLists = first === undefined;
  }

  /** The tool calls that are open, and the model calls that their tools made: those are outside of the conversation. */
  readonly #openTools = new Map<string, string>();
  readonly #inside = new Set<string>();
  /** How many messages were written when each run began. */
  readonly #began = new Map<string, number>();

  /** Returns what an event adds to the conversation. */
  of(event: Event): readonly SaidItem[] {
    return this.#isInside(event) ? [] : this.#added(event);
  }

  #isInside({ type, id, cause = '', agent = '', run = '', data }: Event): boolean {
    const lane = `${agent}\n${run}`;
    if (type === 'call.ended') {
      if (data['kind'] === 'tool') this.#openTools.delete(cause);
      return this.#inside.delete(cause);
    }
    if (type !== 'call.started') return false;
    if (data['kind'] === 'tool') this.#openTools.set(id, lane);
    const isInside = data['kind'] === 'model' && this.#openTools.get(cause) === lane;
    if (isInside) this.#inside.add(id);
    return isInside;
  }

  #added({ type, agent = '', run = '', data }: Event): readonly SaidItem[] {
    const message = objectAt(data, 'message');
    switch (type) {
      case 'run.started':
        this.#began.set(run, this.#written);
        return this.#listed(agent, run, arrayAt(data, 'messages') ?? []);
      case 'conversation.compacted':
        return this.#listed(agent, run, arrayAt(data, 'messages') ?? []);
      case 'call.started':
        return this.#listed(agent, run, arrayAt(objectAt(data, 'request'), 'messages') ?? []);
      case 'message.added':
        return message === undefined ? [] : this.#said(message);
      case 'call.ended':
        if (data['kind'] === 'tool') return [this.#result(data)];
        return data['kind'] === 'model' && message !== undefined ? this.#said(message) : [];
      default:
        return [];
    }
  }

  /** Returns the messages of a list that were not written before. */
  #listed(agent: string, run: string, list: readonly JsonValue[]): SaidItem[] {
    const messages = list.filter((each) => isObject(each) && typeof each['role'] === 'string') as JsonObject[];
    const [last, before] = [messages.at(-1), this.#lists.get(agent)];
    if (last === undefined || !this.#hasLists) return [];
    const end = before === undefined ? undefined : messages[before.length - 1];
    // A later run continues the list before it only if its own list is longer. Otherwise it asks again.
    const isAnew = before !== undefined && before.run !== run && messages.length <= before.length;
    const goesOn = !isAnew && end !== undefined && keyOf(end) === before?.last;
    const after = goesOn ? before.written : isAnew ? (this.#began.get(run) ?? 0) : 0;
    const written = this.#written;
    const found = new Map<string, number>();
    const items = messages.slice(goesOn ? before.length : 0).flatMap((message) => {
      const key = keyOf(message);
      const count = (found.get(key) ?? 0) + 1;
      found.set(key, count);
      return this.#countOf(key, after, written) >= count ? [] : this.#said(message);
    });
    this.#lists.set(agent, { length: messages.length, last: keyOf(last), run, written: this.#written });
    return items;
  }

  /** Returns how often a message was written after one place and until a different one. */
  #countOf(key: string, after: number, until: number): number {
    return (this.#places.get(key) ?? []).filter((at) => at > after && at <= until).length;
  }

  #said(message: JsonObject): SaidItem[] {
    for (const { toolCallId, toolName } of toolCallsIn(message)) {
      this.#toolNames.set(toolCallId, toolName);
      // An id that is asked for again has a new answer.
      this.#answered.delete(toolCallId);
    }
    if (message['role'] === 'tool')
      return toolResultsIn(message).flatMap(({ toolCallId: call, toolName, output, isError }) => {
        if (this.#answered.has(call)) return [];
        this.#answered.add(call);
        const name = this.#toolNames.get(call) ?? toolName;
        return [{ kind: 'result' as const, call, name, outcome: isError === true ? 'error' : 'ok', output }];
      });
    const key = keyOf(message);
    const times = this.#places.get(key) ?? [];
    times.push(++this.#written);
    this.#places.set(key, times);
    return [{ kind: 'message', message }];
  }

  #result(data: JsonObject): SaidItem {
    const call = stringAt(data, 'call') ?? '';
    this.#answered.add(call);
    const output = data['output'] ?? data['error'] ?? null;
    return { kind: 'result', call, name: String(data['name']), outcome: String(data['outcome']), output };
  }
}

/** Returns the id for something that an event adds: its own for the first. An imported event may be called `ID-1`. */
export const itemId = ({ id }: Event, at: number): string => (at === 0 ? id : `${id}.a${at}`);

/** Returns the same short key for messages that say the same; the form of their content does not count. */
function keyOf(message: JsonObject): string {
  const others = partsOf(message).flatMap((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return [];
    return part.type === 'tool-call' || part.type === 'tool-result' ? [part.toolCallId] : [part.type];
  });
  const role = String(message['role']);
  const text = textOf(message);
  // The text itself would keep the whole conversation in memory.
  return `${role} ${text.length} ${hashOf(text)} ${others.length === 0 ? '' : hashOf(others.join('\n'))}`;
}

/** Returns a hash of a string: equal strings have equal hashes, and two of one length hardly ever have the same by chance. */
function hashOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul((b << 13) | (b >>> 19), 5) + (code ^ 0x5bd1e995);
  }
  return `${(a >>> 0).toString(36)}.${(b >>> 0).toString(36)}`;
}
