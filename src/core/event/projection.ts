import { orderedWithin } from '../canonical-json.ts';
import { messageOf, RepriseError } from '../error.ts';
import { checkId } from '../id.ts';
import { given, type JsonValue, setKey } from '../json.ts';
import { checkKeys, type KnownKeys, shownValue } from '../known-keys.ts';
import type { Event } from './event.ts';
import { upcast } from './upcast.ts';

/**
 * A pure fold over a history. The same events give the same value, today and later, so it must not read clocks, draw
 * random numbers, or keep anything outside the value.
 */
export interface Projection<Value, Result = Value> {
  readonly name: string;
  /** Snapshots are kept only for a projection that has a version. Change it whenever the fold gives a new result. */
  readonly version?: string;
  /** The history to fold: the view, or every stored event with its markers. */
  readonly history: 'view' | 'raw';
  /** The types of events it folds; all if left out. Other events are not read from the store. */
  readonly types?: readonly string[];
  /** Fields of `data` it does not use, such as `request`: events come without them, and their parts are not read. */
  readonly without?: readonly string[];
  /**
   * Only with raw history: the value begins anew after each multiple of so many seqs, so that a fold reads no event from
   * before. `apply` has to drop the earlier value itself.
   */
  readonly window?: number;
  readonly initial: () => Value;
  /** Returns the value with an event; may change the value in place and return it. Values are JSON. */
  apply(value: Value, event: Event): Value;
  /** Returns what a reader sees of the value, without changing it; the value itself if left out. */
  finish?(value: Value): Result;
}

/**
 * Checks a projection and returns it, with its types inferred.
 *
 * @example
 * ```ts
 * const toolCalls = defineProjection({
 *   name: 'tool-calls',
 *   version: '1',
 *   history: 'view',
 *   initial: () => 0,
 *   apply: (count, event) => (event.type === 'call.started' && event.data['kind'] === 'tool' ? count + 1 : count),
 * });
 * ```
 */
export function defineProjection<Value, Result = Value>(
  projection: Projection<Value, Result>,
): Projection<Value, Result> {
  const given: Partial<Record<keyof Projection<Value>, unknown>> | null = projection;
  if (typeof given !== 'object' || given === null) refuse('a projection', 'it is not an object');
  const name = `the projection ${given.name === undefined ? 'without a name' : shownValue(given.name)}`;
  try {
    checkId('projection', given.name);
  } catch (error) {
    refuse(name, messageOf(error), error);
  }
  if (given.version !== undefined && (typeof given.version !== 'string' || given.version === '')) {
    refuse(name, 'its version is not a string');
  }
  if (given.history !== 'view' && given.history !== 'raw') refuse(name, 'its history is neither "view" nor "raw"');
  for (const list of ['types', 'without'] as const) {
    const names = given[list];
    if (names !== undefined && !(Array.isArray(names) && names.every((item) => typeof item === 'string')))
      refuse(name, `its "${list}" is not a list of strings`);
  }
  if (given.window !== undefined && !(isWhole(given.window) && given.history === 'raw'))
    refuse(name, 'its window is not a whole number from 1, or its history is not "raw"');
  if (typeof given.initial !== 'function') refuse(name, '"initial" is not a function');
  if (typeof given.apply !== 'function') refuse(name, '"apply" is not a function');
  if (given.finish !== undefined && typeof given.finish !== 'function') refuse(name, '"finish" is not a function');
  checkKeys(given, projectionKeys);
  return projection;
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;

const projectionKeys: KnownKeys = {
  keys: new Set('name version history types without window initial apply finish'.split(' ')),
  code: 'projection.invalid',
  attempt: 'use the projection',
  whole: 'a projection',
};

/**
 * Folds a history from its beginning.
 *
 * @example
 * ```ts
 * const events: Event[] = [];
 * for await (const event of session.replay()) events.push(event);
 * console.log(project(summary, events).title); // the same as session.fold(summary)
 * ```
 */
export function project<Value, Result = Value>(projection: Projection<Value, Result>, events: Iterable<Event>): Result {
  let value = initialValue(projection);
  for (const event of events) value = applyEvent(projection, value, event);
  return finishValue(projection, value);
}

/** Returns the value a projection starts from. */
export function initialValue<Value, Result>(projection: Projection<Value, Result>): Value {
  try {
    // A copy, because `apply` may change the value and `initial` may return the same object each time.
    return structuredClone(projection.initial());
  } catch (error) {
    return fail(projection.name, 'its "initial" threw', error);
  }
}

/** Folds one event, after bringing its data to the current form of its type. */
export function applyEvent<Value, Result>(projection: Projection<Value, Result>, value: Value, event: Event): Value {
  if (projection.types?.includes(event.type) === false) return value;
  const current = withoutFields(upcast(event), projection.without);
  try {
    const next = projection.apply(value, current);
    if (next === undefined || isPromise(next))
      throw new TypeError(`it gave ${next === undefined ? 'nothing' : 'a promise'}`);
    return next;
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    return fail(projection.name, `it threw at seq ${event.seq} of "${event.branch}" ("${event.type}")`, error, {
      seq: event.seq,
      branch: event.branch,
    });
  }
}

function isPromise(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Drops the fields that a fold does not use, so that it sees the same however the event was read. */
function withoutFields(event: Event, fields: readonly string[] = []): Event {
  if (!fields.some((field) => Object.hasOwn(event.data, field))) return event;
  const data: Record<string, JsonValue> = {};
  for (const field of Object.keys(event.data)) if (!fields.includes(field)) setKey(data, field, event.data[field]);
  return { ...event, data };
}

/** Returns what a reader sees of a value. */
export function finishValue<Value, Result>(projection: Projection<Value, Result>, value: Value): Result {
  // Without `finish`, the result is the value.
  if (projection.finish === undefined) return value as unknown as Result;
  try {
    return projection.finish(value);
  } catch (error) {
    return fail(projection.name, 'its "finish" threw', error);
  }
}

/**
 * Returns the value as JSON text, for a snapshot; throws `projection.invalid` if it is not JSON. Keys keep their order,
 * so that a kept value is the same, byte for byte, as one that is folded again.
 */
export function valueText<Value, Result>(projection: Projection<Value, Result>, value: Value): string {
  return valueTextWithin(projection, value, Number.POSITIVE_INFINITY) as string;
}

/** Does the same; undefined if the text has more characters than a number. */
export function valueTextWithin<Value, Result>(
  projection: Projection<Value, Result>,
  value: Value,
  max: number,
): string | undefined {
  try {
    return orderedWithin(value, max);
  } catch (error) {
    return refuse(`the projection "${projection.name}"`, `its value is not JSON: ${messageOf(error)}`, error);
  }
}

function fail(
  name: string,
  what: string,
  cause: unknown,
  where: { readonly seq?: number; readonly branch?: string } = {},
): never {
  throw new RepriseError('projection.failed', `Cannot fold the projection "${name}": ${what}: ${messageOf(cause)}`, {
    hint: 'Make the projection accept every event, including erased and unknown ones.',
    details: { projection: name, ...where },
    cause,
  });
}

function refuse(name: string, why: string, cause?: unknown): never {
  throw new RepriseError('projection.invalid', `Cannot use ${name}: ${why}`, {
    hint: 'Pass { name, version?, history, types?, without?, window?, initial, apply, finish? }, whose value is JSON.',
    ...given({ cause }),
  });
}
