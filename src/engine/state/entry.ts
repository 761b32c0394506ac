import type { Event } from '../../core/event/event.ts';
import { stateKey } from '../../core/event/state-key.ts';
import { isOperation } from '../../core/event/state-operation.ts';
import { arrayAt, given, type JsonObject, type JsonValue } from '../../core/json.ts';
import { beginning, type Seq } from '../../core/point.ts';

/** The value of a key at a point. */
export interface StateValue {
  readonly key: string;
  /** Whose key it is. */
  readonly agent: string;
  /** The value; null if there is none. Null can be a value, too: see `exists`. */
  readonly value: JsonValue;
  /** How often the key was written or deleted up to there; 0 if never. */
  readonly version: number;
  /** The seq of the commit that wrote or deleted it, by which commits are ordered; 0 if there is none. */
  readonly seq: Seq;
  /** The wall clock of that commit; null if there is none. */
  readonly time: string | null;
  /** Whether there is a value. */
  readonly exists: boolean;
  /** Present if the payload of that commit was erased: its operation and value are lost. */
  readonly erased?: true;
  /** Present in a transaction that wrote the key itself: the commit gives it a version. */
  readonly pending?: true;
}

/** One write or delete of a key, with who did it, when and why. */
export interface StateVersion extends StateValue {
  readonly time: string;
  /** The operation; undefined if the payload was erased. */
  readonly op?: 'write' | 'delete';
  /** The transaction: the id of its event. */
  readonly txn: string;
  /** The branch that stores the event. */
  readonly branch: string;
  readonly turn: number;
  /** Who committed it. */
  readonly by?: string;
  readonly run?: string;
  /** The id of the event that led to it. */
  readonly cause?: string;
}

/** One operation of a transaction. */
export interface StateOperation {
  readonly agent: string;
  readonly key: string;
  readonly op: 'write' | 'delete';
  /** Present for a write. */
  readonly value?: JsonValue;
  readonly version: number;
}

/** Returns the value of a key that was never written. */
export function neverWritten(agent: string, key: string): StateValue {
  return { key, agent, value: null, version: 0, seq: beginning, time: null, exists: false };
}

const isStateOperation = (value: JsonValue): value is JsonObject & StateOperation => isOperation(value);

/** Returns the operations of a transaction, in order; none if its payload was erased. */
export function operationsOf({ data }: Pick<Event, 'data'>): StateOperation[] {
  return (arrayAt(data, 'operations') ?? []).filter(isStateOperation);
}

/** The operations of transactions by key. A look at many keys of one transaction sorts its operations once. */
const operationsByKey = new WeakMap<JsonObject, ReadonlyMap<string, readonly StateOperation[]>>();

/** Returns the operations of a transaction on one key, in order. */
export function operationsOn({ data }: Pick<Event, 'data'>, agent: string, key: string): readonly StateOperation[] {
  let sorted = operationsByKey.get(data);
  if (sorted === undefined) {
    sorted = Map.groupBy(operationsOf({ data }), (operation) => stateKey(operation.agent, operation.key));
    operationsByKey.set(data, sorted);
  }
  return sorted.get(stateKey(agent, key)) ?? [];
}

/** Returns the value of a key after an operation. */
export function valueAfter({ seq, time }: Pick<Event, 'seq' | 'time'>, operation: StateOperation): StateValue {
  const { agent, key, op, value, version } = operation;
  return { key, agent, value: value ?? null, version, seq, time, exists: op === 'write' };
}

/** Returns the value of a key whose last commit was erased. */
export function erasedValue(
  { seq, time }: Pick<Event, 'seq' | 'time'>,
  { agent, key }: { readonly agent: string; readonly key: string },
  version: number,
): StateValue {
  return { key, agent, value: null, version, seq, time, exists: false, erased: true };
}

/** Adds the event that made a value to it. */
export function versionOf(event: Event, value: StateValue, op?: 'write' | 'delete'): StateVersion {
  const { id, branch, turn, agent, run, cause, time } = event;
  return {
    ...value,
    time,
    ...given({ op }),
    txn: id,
    branch,
    turn,
    ...given({ by: agent, run, cause }),
  };
}
