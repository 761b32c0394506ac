import { BoundedMap } from '../bounded-map.ts';
import { sameJson } from '../canonical-json.ts';
import type { JsonValue } from '../json.ts';
import { type Message, toolCallsIn } from '../message/message.ts';
import type { PendingCall } from './agent.ts';
import type { OpenCall, Recorder } from './recorder.ts';

/** A tool call that a model asked for and that nobody has made yet. */
interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  /** The id of the model call that asked; undefined if an earlier run made it. */
  readonly by: string | undefined;
}

/** Calls that are remembered for one recorder; an older one only loses its id and the model call as its cause. */
const askedMax = 10_000;

interface Book {
  readonly open: BoundedMap<string, AskedCall>;
  /** The id of the model call that asked last; undefined if this run has made none. */
  last: string | undefined;
}

const books = new WeakMap<Recorder, Book>();

function bookOf(recorder: Recorder): Book {
  const book = books.get(recorder) ?? { open: new BoundedMap<string, AskedCall>(askedMax), last: undefined };
  books.set(recorder, book);
  return book;
}

/** Remembers the tool calls that a message asks for, so that code that makes them without their ids is recognized. */
export function noteAsked(recorder: Recorder, message: Message, call: OpenCall): void {
  const asked = toolCallsIn(message);
  if (asked.length === 0) return;
  const book = bookOf(recorder);
  book.last = call.call;
  for (const { toolCallId: id, toolName: name, input } of asked) {
    call.asksFor(id);
    book.open.set(id, { id, name, input, by: call.call });
  }
}

/** Remembers the calls that an earlier run was asked for, which the agent is about to make. */
export function notePending(recorder: Recorder, pending: readonly PendingCall[]): void {
  const { open } = bookOf(recorder);
  for (const { call: id, name, input } of pending) open.set(id, { id, name, input, by: undefined });
}

/** Forgets a call that code makes by its id. */
export function dropAsked(recorder: Recorder, call: string | undefined): void {
  if (call !== undefined) books.get(recorder)?.open.delete(call);
}

/**
 * Takes the id of the call that code is about to make, if a model asked for it: the first call of that name with these
 * arguments. A program may change arguments on the way, by the defaults of a schema for example; then it is the only
 * call of that name in the last answer.
 */
export function takeAsked(recorder: Recorder, name: string, input: JsonValue): string | undefined {
  const book = bookOf(recorder);
  const named = [...book.open.values()].filter((asked) => asked.name === name);
  const recent = named.filter(({ by }) => by === book.last);
  const isSame = (asked: AskedCall): boolean => sameJson(asked.input, input);
  const found = recent.find(isSame) ?? named.find(isSame) ?? (recent.length === 1 ? recent[0] : undefined);
  if (found !== undefined) book.open.delete(found.id);
  return found?.id;
}
