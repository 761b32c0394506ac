import { BoundedMap } from '../bounded-map.ts';
import { sameJson } from '../canonical-json.ts';
import type { JsonValue } from '../json.ts';
import { type Message, toolCallsIn } from '../message/message.ts';
import { propertyOf } from '../property.ts';
import type { PendingCall } from './agent.ts';
import { placeIn, type RecorderPlace } from './current-recorder.ts';
import type { OpenCall, Recorder } from './recorder.ts';

/** The code that makes a model call: its recorder, and its position in it. */
export interface Asker {
  readonly recorder: Recorder;
  readonly place: RecorderPlace | undefined;
}

/** A tool call that a model asked for and that was not made yet. */
interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
  /** The id of the model call that asked; undefined if an earlier run made it. */
  readonly by: string | undefined;
  readonly place: RecorderPlace | undefined;
}

/** Calls that are remembered for one recorder; an older one only loses its id and the model call as its cause. */
const askedMax = 10_000;

interface Book {
  readonly open: BoundedMap<string, AskedCall>;
  /** The id of the model call that asked last: inside the same thing, in the same run, and of all. */
  readonly last: BoundedMap<string, string>;
}

const books = new WeakMap<Recorder, Book>();

function bookOf(recorder: Recorder): Book {
  const book = books.get(recorder) ?? { open: new BoundedMap(askedMax), last: new BoundedMap(askedMax) };
  books.set(recorder, book);
  return book;
}

/** Names the places around code, the narrowest first. */
const placesAround = ({ cause, run }: RecorderPlace = {}): readonly string[] => [
  ...(cause === undefined ? [] : [`inside ${cause}`]),
  ...(run === undefined ? [] : [`run ${run}`]),
  'anywhere',
];

/** Remembers the tool calls that a message asks for, so that code that makes them without their ids is recognized. */
export function noteAsked({ recorder, place }: Asker, message: Message, call: OpenCall): void {
  const asked = toolCallsIn(message);
  if (asked.length === 0) return;
  const book = bookOf(recorder);
  for (const each of placesAround(place)) book.last.set(each, call.call);
  for (const { toolCallId: id, toolName: name, input } of asked) {
    call.asksFor(id);
    book.open.set(id, { id, name, input, by: call.call, place });
  }
}

/** Remembers the calls that an earlier run was asked for, which the agent is about to make. */
export function notePending(recorder: Recorder, pending: readonly PendingCall[]): void {
  const { open } = bookOf(recorder);
  for (const { call: id, name, input } of pending) open.set(id, { id, name, input, by: undefined, place: undefined });
}

/** Forgets a call that code makes by its id; what it passes is checked later. */
export function dropAsked(recorder: Recorder, start: unknown): void {
  const call = propertyOf(start, 'call');
  if (typeof call === 'string') books.get(recorder)?.open.delete(call);
}

/**
 * Takes the id of the call that code is about to make, if a model asked for it: the first call of that name with these
 * arguments. A program may change arguments on the way, by the defaults of a schema for example; then it is the only
 * call of that name in the last answer. Loops may run in parallel: a call that was asked for where the code is, or
 * else in its run, goes before all others.
 */
export function takeAsked(recorder: Recorder, name: string, input: JsonValue): string | undefined {
  const book = bookOf(recorder);
  const named = [...book.open.values()].filter((asked) => asked.name === name);
  const around = placesAround(placeIn(recorder)).map((place) => {
    const here = named.filter((asked) => placesAround(asked.place).includes(place));
    return { here, recent: here.filter(({ by }) => by === book.last.get(place)) };
  });
  const isSame = (asked: AskedCall): boolean => sameJson(asked.input, input);
  const same = around.map(({ here, recent }) => recent.find(isSame) ?? here.find(isSame));
  const only = around.map(({ recent }) => (recent.length === 1 ? recent[0] : undefined));
  const found = [...same, ...only].find((asked) => asked !== undefined);
  if (found !== undefined) book.open.delete(found.id);
  return found?.id;
}
