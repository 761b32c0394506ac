/** Events in one chunk of an index; chunks begin after each multiple of it. */
export const chunkEvents = 4_096;

/** Bits of the column `flags`. */
export const columnFlags = {
  /** `call.started` or `call.ended`. */
  call: 1,
  /** `call.ended`. */
  end: 2,
  /** Has an outcome. */
  outcome: 4,
  /** Failed: an outcome that is an error, or a check that did not pass. */
  error: 8,
  reused: 16,
  simulated: 32,
  erased: 64,
  /** A structural event. */
  marker: 128,
  /** Repeats the event before it in kind, and says nothing on its own. */
  noise: 256,
  named: 512,
  spent: 1024,
  /** The start of a run that resumed an earlier one. */
  resumed: 2048,
} as const;

/**
 * The columns of consecutive events of raw history. A column that only some events have stores a value for each of
 * those, and the flags tell which they are.
 */
export interface EventColumns {
  /** The seq of the first event; 0 if there are none. */
  readonly first: number;
  /** When the first event happened, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The dictionary of this chunk; columns name its entries by position. Entry 0 is always empty. */
  readonly texts: readonly string[];
  /** For each event, the milliseconds after the event before. */
  readonly time: readonly number[];
  readonly type: readonly number[];
  readonly agent: readonly number[];
  readonly run: readonly number[];
  /** For each event, the difference from the turn of the event before; for the first, its turn. */
  readonly turn: readonly number[];
  /** For each event, how many seqs before it its cause is; 0 if it names none in this history. */
  readonly cause: readonly number[];
  /** For each event, its {@link columnFlags}. */
  readonly flags: readonly number[];
  /** For each event that is `named`: a model, tool or address; a role; a key; a task; a file. */
  readonly name: readonly number[];
  /** For each `call`. */
  readonly kind: readonly number[];
  /** For each `call` that is not an `end`. */
  readonly effect: readonly number[];
  /** For each event that has an `outcome`. */
  readonly outcome: readonly number[];
  /** For each `end`, how many seqs before it the call began; 0 if that is unknown. */
  readonly began: readonly number[];
  /** For each `end`, in milliseconds; 0 if unknown. */
  readonly latency: readonly number[];
  /** For each event that `spent`, in milliseconds; 0 if unknown. */
  readonly firstToken: readonly number[];
  readonly inputTokens: readonly number[];
  readonly outputTokens: readonly number[];
  readonly cachedTokens: readonly number[];
  /** For each event that `spent`, in millionths of a US dollar plus one; 0 if no price is known. */
  readonly cost: readonly number[];
}

/** Events in typed arrays, one value for each event in every array. */
export interface EventRows {
  readonly first: number;
  readonly count: number;
  /** The dictionary; `type`, `agent`, `run`, `name`, `kind`, `effect` and `outcome` name its entries. 0 is empty. */
  readonly texts: readonly string[];
  /** Milliseconds since 1970. */
  readonly time: Float64Array;
  readonly type: Uint16Array;
  readonly agent: Uint16Array;
  readonly run: Uint16Array;
  readonly turn: Uint32Array;
  /** The seq of the cause; 0 for none. */
  readonly cause: Uint32Array;
  readonly flags: Uint16Array;
  readonly name: Uint16Array;
  readonly kind: Uint16Array;
  readonly effect: Uint16Array;
  readonly outcome: Uint16Array;
  /** The seq of the start of a call that ended; 0 if unknown. */
  readonly began: Uint32Array;
  readonly latency: Uint32Array;
  readonly firstToken: Uint32Array;
  readonly inputTokens: Uint32Array;
  readonly outputTokens: Uint32Array;
  readonly cachedTokens: Uint32Array;
  /** Millionths of a US dollar; -1 if no price is known. */
  readonly cost: Float64Array;
}

type Holds = (flag: number) => boolean;

/** Returns columns as typed arrays, in which the value of every event has its own place. */
export function rowsOf(columns: EventColumns): EventRows {
  const { first, texts, flags } = columns;
  const count = flags.length;
  const { call, end, outcome, named, spent } = columnFlags;
  const all: Holds = () => true;
  const has =
    (bits: number): Holds =>
    (flag) =>
      (flag & bits) === bits;
  const spread = <Column extends Uint16Array | Uint32Array | Float64Array>(
    target: Column,
    values: readonly number[],
    holds: Holds,
    read: (value: number, row: number) => number = (value) => value,
  ): Column => {
    let next = 0;
    for (let row = 0; row < count; row++) if (holds(flags[row] ?? 0)) target[row] = read(values[next++] ?? 0, row);
    return target;
  };
  const small = (values: readonly number[], holds = all): Uint16Array => spread(new Uint16Array(count), values, holds);
  const large = (values: readonly number[], holds: Holds): Uint32Array => spread(new Uint32Array(count), values, holds);
  const back = (distance: number, row: number): number => (distance === 0 ? 0 : first + row - distance);
  const summing = (start: number): ((value: number) => number) => {
    let sum = start;
    return (value) => (sum += value);
  };
  return {
    first,
    count,
    texts,
    time: spread(new Float64Array(count), columns.time, all, summing(columns.startedAt)),
    type: small(columns.type),
    agent: small(columns.agent),
    run: small(columns.run),
    turn: spread(new Uint32Array(count), columns.turn, all, summing(0)),
    cause: spread(new Uint32Array(count), columns.cause, all, back),
    flags: small(flags),
    name: small(columns.name, has(named)),
    kind: small(columns.kind, has(call)),
    effect: small(columns.effect, (flag) => (flag & (call | end)) === call),
    outcome: small(columns.outcome, has(outcome)),
    began: spread(new Uint32Array(count), columns.began, has(end), back),
    latency: large(columns.latency, has(end)),
    firstToken: large(columns.firstToken, has(spent)),
    inputTokens: large(columns.inputTokens, has(spent)),
    outputTokens: large(columns.outputTokens, has(spent)),
    cachedTokens: large(columns.cachedTokens, has(spent)),
    cost: spread(new Float64Array(count).fill(-1), columns.cost, has(spent), (value) => value - 1),
  };
}
