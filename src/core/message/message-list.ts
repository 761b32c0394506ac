import { isObject, type JsonArray, type JsonObject, type JsonValue } from '../json.ts';
import type { Seq } from '../point.ts';
import { messageKey, textOf, toolCallsIn, toolResultsIn } from './message.ts';

/** A message in a conversation, with the seq of the event that made it; an erased one has no `message`. */
export interface MessageEntry {
  readonly seq: Seq;
  message?: JsonObject;
  /** Set if the end of a call made it: a `message.added` with the same content is then not a new message. */
  made?: 'answer' | 'result';
}

/** A conversation as it grows. It is JSON, so that a projection can keep it. */
export interface MessageList {
  entries: MessageEntry[];
  /** The tool calls without a result of the last message that asked for tools. */
  awaited: { readonly id: string; readonly name: string }[];
}

/**
 * Takes over the list of a model call. A known message, by content and order, keeps the seq of the event that made it;
 * the call made all others. `earlier` has more known messages.
 */
export function adoptMessages(
  list: MessageList,
  items: JsonArray,
  { seq, earlier }: { readonly seq: Seq; readonly earlier: readonly MessageEntry[] },
): void {
  let shared = 0;
  for (; shared < items.length; shared++) {
    const entry = list.entries[shared];
    const item = items[shared];
    if (entry === undefined || !isObject(item) || !isSame(entry, item)) break;
    // The next list has the same object, which is faster to compare than its content.
    if (entry.message !== undefined) entry.message = item;
  }
  settled.set(list, Math.min(settledIn(list), shared));
  if (shared < items.length || shared < list.entries.length) {
    const seqOf = seqFinder([...earlier, ...list.entries.slice(shared)]);
    list.entries.length = shared;
    answers.delete(list);
    for (const item of items.slice(shared)) {
      const isErased = !isObject(item) || item['erased'] === true;
      list.entries.push(isErased ? { seq } : { seq: seqOf(item) ?? seq, message: item });
    }
  }
}

/** Begins a conversation with the list of a run; unanswered calls at its end wait for results. */
export function beginMessages(
  list: MessageList,
  items: JsonArray,
  from: { readonly seq: Seq; readonly earlier: readonly MessageEntry[] },
): void {
  adoptMessages(list, items, from);
  settleMessages(list);
  const asked = list.entries.findLastIndex(({ message }) => message?.['role'] !== 'tool');
  const answered = new Set(
    list.entries
      .slice(asked + 1)
      .flatMap(({ message }) => toolResultsIn(message ?? null).map((part) => part.toolCallId)),
  );
  list.awaited = awaitedBy(list.entries[asked]?.message ?? {}).filter(({ id }) => !answered.has(id));
}

/** Settles the list: from now on, a message with the content of an answer or a result is a new message. */
export function settleMessages(list: MessageList): void {
  const { entries } = list;
  for (let index = settledIn(list); index < entries.length; index++) delete entries[index]?.made;
  settled.set(list, entries.length);
  answers.set(list, 0);
  list.awaited = [];
}

/** How many entries at the beginning of a list are settled, as far as it is known: a long list is not gone through for each call. */
const settled = new WeakMap<MessageList, number>();

function settledIn(list: MessageList): number {
  return Math.min(settled.get(list) ?? 0, list.entries.length);
}

/** Returns true if an entry and an item are the same message; a hole in the list is the erased message that was there. */
function isSame(entry: MessageEntry, item: JsonObject): boolean {
  if (item['erased'] === true || entry.message === undefined)
    return item['erased'] === true && entry.message === undefined;
  return isEqual(entry.message, item) || messageKey(entry.message) === messageKey(item);
}

/** Compares two values. This is much faster than comparing keys, and true for almost every equal message. */
function isEqual(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) && left.length === right.length && left.every((item, index) => isEqual(item, right[index]))
    );
  }
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name]))
  );
}

/**
 * Returns a function that finds the seq of a message by content, each entry once: the next one in order, else the first
 * one left.
 */
function seqFinder(entries: readonly MessageEntry[]): (message: JsonObject) => Seq | undefined {
  const places = new Map<string, number[]>();
  for (const [index, { message }] of entries.entries()) {
    if (message === undefined) continue;
    const key = messageKey(message);
    const known = places.get(key);
    if (known === undefined) places.set(key, [index]);
    else known.push(index);
  }
  let next = 0;
  return (message) => {
    const found = places.get(messageKey(message)) ?? [];
    const place = found.find((index) => index >= next) ?? found[0];
    if (place === undefined) return undefined;
    found.splice(found.indexOf(place), 1);
    next = Math.max(next, place + 1);
    return entries[place]?.seq;
  };
}

/** Adds a message, unless it repeats what the end of a call said. */
export function joinMessage(list: MessageList, seq: Seq, message: JsonObject): void {
  const results = new Set(toolResultsIn(message).map((part) => part.toolCallId));
  if (results.size > 0) {
    const isSaid = (held: MessageEntry): boolean =>
      held.made === 'result' && toolResultsIn(held.message ?? null).every((part) => results.has(part.toolCallId));
    list.awaited = list.awaited.filter(({ id }) => !results.has(id));
    const from = settledIn(list);
    const open = list.entries.slice(from);
    if (open.some(isSaid)) list.entries.splice(from, open.length, ...open.filter((held) => !isSaid(held)));
  }
  const answer = answersIn(list) === 0 ? undefined : list.entries.findLast((held) => held.made === 'answer');
  if (answer?.message !== undefined && messageKey(answer.message) === messageKey(message)) {
    delete answer.made;
    answers.set(list, answersIn(list) - 1);
  } else {
    list.entries.push({ seq, message });
    // A response may come as several messages, each with its own call; the next model call settles them all.
    list.awaited.push(...awaitedBy(message));
  }
}

/** How many answers of a list have not been settled, as far as it was counted: a long list is not searched for none. */
const answers = new WeakMap<MessageList, number>();

function answersIn(list: MessageList): number {
  let count = answers.get(list);
  if (count === undefined) {
    count = list.entries.filter(({ made }) => made === 'answer').length;
    answers.set(list, count);
  }
  return count;
}

/** Returns the tool calls of a message. */
function awaitedBy(message: JsonObject): MessageList['awaited'] {
  return toolCallsIn(message).map(({ toolCallId, toolName }) => ({ id: toolCallId, name: toolName }));
}

/** Adds the answer of a model; its tool calls then wait for results. */
export function joinAnswer(list: MessageList, seq: Seq, message: JsonObject): void {
  const count = answersIn(list);
  list.entries.push({ seq, message, made: 'answer' });
  answers.set(list, count + 1);
  list.awaited = awaitedBy(message);
}

/**
 * Adds the end of a call as a tool result, if the model asked for it: by the id of the tool call, else by the name of
 * the tool. Returns false for a tool that the program called on its own.
 */
export function joinResult(list: MessageList, seq: Seq, ended: JsonObject): boolean {
  const { call, name, outcome, output = null, error = null } = ended;
  const own = list.awaited.findIndex(({ id }) => id === call);
  const place = own >= 0 ? own : list.awaited.findIndex((asked) => asked.name === name);
  const [awaited] = place < 0 ? [] : list.awaited.splice(place, 1);
  if (awaited === undefined) return false;
  const isError = outcome !== 'ok';
  const part = {
    type: 'tool-result',
    toolCallId: awaited.id,
    toolName: awaited.name,
    output: isError && output === null ? error : output,
    ...(isError ? { isError } : {}),
  };
  const result: MessageEntry = { seq, message: { role: 'tool', content: [part] }, made: 'result' };
  list.entries.splice(resultPlace(list, awaited.id), 0, result);
  return true;
}

/** The places of the tool calls of a message among them, by id. */
type CallOrder = ReadonlyMap<string, number>;

/** The order of the calls that a list waits for, by the list of those that have no result yet. */
const orders = new WeakMap<MessageList['awaited'], CallOrder>();

/** Returns the order of the calls of the message that asked for one; none if no message did. */
function orderOf({ entries, awaited }: MessageList, id: string): CallOrder {
  const known = orders.get(awaited);
  if (known?.has(id) === true) return known;
  const asking = entries.findLast(({ message = {} }) => toolCallsIn(message).some((call) => call.toolCallId === id));
  const calls = toolCallsIn(asking?.message ?? {});
  const order = new Map(calls.map(({ toolCallId }, index) => [toolCallId, index]));
  orders.set(awaited, order);
  return order;
}

/**
 * Returns the place of a result: results are in the order of their calls, whichever came first. It looks from the end,
 * and stops at a result that comes before it: nearly every result is the last one.
 */
function resultPlace(list: MessageList, id: string): number {
  const { entries } = list;
  const order = orderOf(list, id);
  const own = order.get(id) ?? -1;
  let place = entries.length;
  for (let index = entries.length - 1; own >= 0 && index >= 0; index--) {
    const { made, message = {} } = entries[index] as MessageEntry;
    if (message['role'] === 'assistant' && toolCallsIn(message).some((call) => call.toolCallId === id)) break;
    const places = made === 'result' ? toolResultsIn(message).flatMap((part) => order.get(part.toolCallId) ?? []) : [];
    if (places.some((held) => held > own)) place = index;
    else if (places.length > 0) break;
  }
  return place;
}

/** Counts the system messages at the beginning. */
export function leadingSystemCount(entries: readonly Pick<MessageEntry, 'message'>[]): number {
  const end = entries.findIndex(({ message }) => message?.['role'] !== 'system');
  return end < 0 ? entries.length : end;
}

/** Returns the system messages at the beginning as one text; null if there are none. */
export function leadingSystem(entries: readonly MessageEntry[]): string | null {
  const leading = entries.slice(0, leadingSystemCount(entries));
  return leading.length === 0 ? null : leading.map(({ message }) => textOf(message ?? null)).join('\n\n');
}
