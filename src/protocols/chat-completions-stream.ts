import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  numberAt,
  objectAt,
  setKey,
  stringAt,
} from '../core/json.ts';
import { objectsIn, withoutKeys } from './message-list.ts';
import type { StreamEvent, StreamFold, StreamOptions } from './protocol.ts';

type Growing = Record<string, JsonValue>;

/** A choice of a streamed answer while it arrives. */
interface GrowingChoice {
  readonly own: Growing;
  readonly message: Growing;
}

/** Puts a streamed chat completion together. */
export class ChatFold implements StreamFold {
  readonly #head: Growing = {};
  readonly #choices = new Map<number, GrowingChoice>();
  isFinished = false;
  hasToken = false;

  add(event: StreamEvent): void {
    const { data } = event;
    if (data === '[DONE]') this.isFinished = true;
    if (typeof data === 'string') return;
    this.hasToken ||= chatSpeaks(event);
    const { choices, usage, object: _, obfuscation: _noise, ...head } = data;
    Object.assign(this.#head, head);
    if (usage !== null && usage !== undefined) this.#head['usage'] = usage;
    for (const choice of objectsIn(choices)) this.#addChoice(choice);
  }

  #addChoice({ delta, ...own }: JsonObject): void {
    const index = numberAt(own, 'index') ?? 0;
    const choice = this.#choices.get(index) ?? { own: {}, message: {} };
    this.#choices.set(index, choice);
    for (const [key, value] of Object.entries(own)) {
      if (key === 'logprobs') choice.own[key] = merged(choice.own[key], value);
      else if (value !== null || choice.own[key] === undefined) choice.own[key] = value;
    }
    if (isObject(delta)) for (const [key, value] of Object.entries(delta)) grow(choice.message, key, value);
  }

  body(): JsonObject {
    const choices = [...this.#choices]
      .toSorted(([a], [b]) => a - b)
      .map(([, { own, message }]) => ({ ...own, message: { ...message, ...whole(message) } }));
    const error = objectAt(this.#head, 'error');
    return error !== undefined && choices.length === 0
      ? this.#head
      : { ...this.#head, object: 'chat.completion', choices };
  }
}

/** Strings that name something arrive whole; every other string arrives in pieces. */
const wholeKeys: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name']);

function grow(target: Growing, key: string, value: JsonValue): void {
  const before = target[key];
  const isPiece = typeof before === 'string' && typeof value === 'string' && !wholeKeys.has(key);
  if (isPiece) target[key] = before + value;
  else if (isArray(value) || isObject(value)) setKey(target, key, merged(before, value));
  else if (value !== null || before === undefined) setKey(target, key, value);
}

function merged(before: JsonValue | undefined, value: JsonValue): JsonValue {
  if (isArray(value)) return mergedList(isArray(before) ? before : [], value);
  if (!isObject(value)) return value === null && before !== undefined ? before : value;
  const target: Growing = isObject(before) ? { ...before } : {};
  for (const [key, each] of Object.entries(value)) grow(target, key, each);
  return target;
}

/** Items that say their index are pieces of one item; others come one after the other. */
function mergedList(before: readonly JsonValue[], items: readonly JsonValue[]): readonly JsonValue[] {
  const list = [...before];
  for (const item of items) {
    const index = numberAt(item, 'index');
    const at = index === undefined ? -1 : list.findIndex((each) => numberAt(each, 'index') === index);
    if (at < 0) list.push(item);
    else list[at] = merged(list[at], item);
  }
  return list;
}

/** The parts of a message that a whole answer has in a different form than a streamed one. */
function whole(message: JsonObject): JsonObject {
  const calls = objectsIn(message['tool_calls']).map((call) => withoutKeys(call, ['index']));
  return calls.length === 0 ? {} : { content: message['content'] || null, tool_calls: calls };
}

/** Returns true if an event of a chat completion carries a piece of what the model says. */
export function chatSpeaks({ data }: StreamEvent): boolean {
  if (typeof data === 'string') return false;
  return objectsIn(data['choices']).some(({ delta }) => {
    if (!isObject(delta)) return false;
    const { role: _, tool_calls: calls, ...texts } = delta;
    const isText = Object.values(texts).some((value) => typeof value === 'string' && value !== '');
    return isText || objectsIn(calls).some((call) => (stringAt(call['function'], 'arguments') ?? '') !== '');
  });
}

/** Writes a whole chat completion as the events of a stream. */
export function* chatEvents(body: JsonObject, { cut = (text) => [text] }: StreamOptions): Iterable<StreamEvent> {
  const { choices, usage, object: _, ...head } = body;
  if (objectAt(body, 'error') !== undefined && choices === undefined) return yield { data: body };
  const chunk = (choice: JsonObject): StreamEvent => ({
    data: { ...head, object: 'chat.completion.chunk', choices: [choice] },
  });
  for (const choice of objectsIn(choices)) {
    const { message, finish_reason: reason, ...own } = choice;
    for (const delta of isObject(message) ? deltasOf(message, cut) : [])
      yield chunk({ ...own, delta, finish_reason: null });
    yield chunk({ ...own, delta: {}, finish_reason: reason ?? null });
  }
  if (usage !== undefined) yield { data: { ...head, object: 'chat.completion.chunk', choices: [], usage } };
  yield { data: '[DONE]' };
}

function* deltasOf(message: JsonObject, cut: NonNullable<StreamOptions['cut']>): Iterable<JsonObject> {
  const { role = 'assistant', content, tool_calls: calls, reasoning_content: thought, ...rest } = message;
  const isSpoken = typeof content === 'string';
  yield { role, content: isSpoken ? '' : (content ?? null), ...rest };
  if (typeof thought === 'string') for (const piece of cut(thought, 'reasoning')) yield { reasoning_content: piece };
  if (isSpoken && content !== '') for (const piece of cut(content, 'text')) yield { content: piece };
  for (const [index, call] of objectsIn(calls).entries()) {
    const key = isObject(call['custom']) ? 'custom' : 'function';
    const written = key === 'custom' ? 'input' : 'arguments';
    const called = objectAt(call, key) ?? {};
    yield { tool_calls: [{ index, ...call, [key]: { ...called, [written]: '' } }] };
    for (const piece of cut(stringAt(called, written) ?? '', 'arguments'))
      if (piece !== '') yield { tool_calls: [{ index, [key]: { [written]: piece } }] };
  }
}
