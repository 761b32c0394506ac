import { columnFlags, type EventRows } from '../../../src/core/session/event-columns.ts';
import { WordList } from './word-list.ts';

/** One event in the index of a history. */
export interface IndexRow {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly type: string;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
  readonly turn: number;
  readonly cause?: number | undefined;
  /** Of the end of a call: the seq of its start. */
  readonly began?: number | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly outcome?: string | undefined;
  readonly effect?: string | undefined;
  readonly latencyMs?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedTokens?: number | undefined;
  readonly cost?: number | undefined;
  /** Bits of `columnFlags`. */
  readonly flags?: number | undefined;
}

const numbers = ['time'] as const;
const floats = ['latencyMs', 'firstTokenMs', 'cost'] as const;
const integers = [
  'turn',
  'cause',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'began',
  'end',
  'type',
  'agent',
  'run',
  'kind',
  'name',
  'outcome',
  'effect',
] as const;
const bits = ['flags'] as const;
const few = ['known'] as const;

type Columns = Record<(typeof numbers)[number], Float64Array> &
  Record<(typeof floats)[number], Float32Array> &
  Record<(typeof integers)[number], Uint32Array> &
  Record<(typeof bits)[number], Uint16Array> &
  Record<(typeof few)[number], Uint8Array>;

const wordColumns = ['type', 'agent', 'run', 'kind', 'name', 'outcome', 'effect'] as const;

type WordColumn = (typeof wordColumns)[number];

/** The columns that a chunk has in the same form. */
const sameColumns = ['time', 'turn', 'cause', 'flags', 'inputTokens', 'outputTokens', 'cachedTokens'] as const;

/** The index of one branch's raw history: every event in columns, found by its seq. It grows in place. */
export class EventIndex {
  /** Rises with every change. */
  version = 0;
  #head = 0;
  #count = 0;
  #capacity = 1_024;
  #columns: Columns = makeColumns(this.#capacity);
  readonly #lists: Record<WordColumn, WordList> = {
    type: new WordList(),
    agent: new WordList(),
    run: new WordList(),
    kind: new WordList(),
    name: new WordList(),
    outcome: new WordList(),
    effect: new WordList(),
  };
  #outside: readonly (readonly [number, number])[] = [];

  /** The last seq. */
  get head(): number {
    return this.#head;
  }

  /** How many events are there; fewer than `head` while it loads. */
  get count(): number {
    return this.#count;
  }

  /** Says how long the history is before its events are there. */
  grow(head: number): void {
    if (head <= this.#head) return;
    this.#head = head;
    while (this.#capacity <= head) this.#capacity *= 2;
    if (this.#columns.time.length < this.#capacity) this.#columns = makeColumns(this.#capacity, this.#columns);
    this.version++;
  }

  /** Adds events, in any order; one that is there already is replaced. */
  put(rows: Iterable<IndexRow>): void {
    for (const row of rows) {
      const { seq, began, flags = 0 } = row;
      this.#place(seq, began ?? 0);
      const columns = this.#columns;
      columns.time[seq] = row.time;
      columns.turn[seq] = row.turn;
      columns.flags[seq] = flags;
      for (const name of floats) columns[name][seq] = row[name] ?? Number.NaN;
      for (const name of ['cause', 'inputTokens', 'outputTokens', 'cachedTokens'] as const)
        columns[name][seq] = row[name] ?? 0;
      for (const name of wordColumns) columns[name][seq] = this.#lists[name].numberOf(row[name]);
    }
    this.version++;
  }

  /** Adds a chunk of events as it comes from the index of the store. */
  putRows(rows: EventRows): void {
    const { first, count } = rows;
    this.grow(first + count - 1);
    const columns = this.#columns;
    for (const name of sameColumns) columns[name].set(rows[name], first);
    for (const name of wordColumns) this.#putWords(name, rows[name], rows);
    for (let row = 0; row < count; row++) {
      const seq = first + row;
      this.#place(seq, rows.began[row] ?? 0);
      const cost = rows.cost[row] ?? -1;
      columns.cost[seq] = cost < 0 ? Number.NaN : cost / 1e6;
      const isEnd = ((rows.flags[row] ?? 0) & columnFlags.end) !== 0;
      columns.latencyMs[seq] = isEnd ? (rows.latency[row] ?? 0) : Number.NaN;
      columns.firstTokenMs[seq] = rows.firstToken[row] || Number.NaN;
    }
    this.version++;
  }

  /** Writes the strings of a chunk as numbers of this index. Each string is looked up once, however many events have it. */
  #putWords(column: WordColumn, positions: Uint16Array, { first, texts }: EventRows): void {
    const to = this.#columns[column];
    const list = this.#lists[column];
    const numbers: number[] = [];
    for (const [row, position] of positions.entries())
      to[first + row] = numbers[position] ??= list.numberOf(texts[position]);
  }

  /** Makes room for an event, and joins the end of a call with its start. */
  #place(seq: number, began: number): void {
    this.grow(seq);
    if (this.#columns.known[seq] === 0) this.#count++;
    this.#columns.known[seq] = 1;
    if (began === 0 || began >= seq) return;
    this.#columns.end[began] = seq;
    this.#columns.began[seq] = began;
  }

  /** Names the stretches of seqs that are not in the view any more. */
  leaveOut(stretches: readonly (readonly [number, number])[]): void {
    this.#outside = stretches.toSorted(([a], [b]) => a - b);
    this.version++;
  }

  /** Returns true if an event is in the view. */
  isInView(seq: number): boolean {
    let low = 0;
    let high = this.#outside.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const [from, to] = this.#outside[middle] ?? [0, 0];
      if (seq < from) high = middle - 1;
      else if (seq > to) low = middle + 1;
      else return false;
    }
    return true;
  }

  /** Returns true if an event is there. */
  has(seq: number): boolean {
    return seq >= 1 && seq <= this.#head && this.#columns.known[seq] === 1;
  }

  /** Returns a string of an event; empty if it has none. */
  word(column: WordColumn, seq: number): string {
    return this.#lists[column].at(this.#columns[column][seq] ?? 0);
  }

  /** Returns the number under which a column lists a string, to compare many events with it. */
  numberOf(column: WordColumn, word: string): number {
    return this.#lists[column].find(word) ?? -1;
  }

  /** Returns the different strings of a column. */
  words(column: WordColumn): readonly string[] {
    return this.#lists[column].words;
  }

  /** The columns themselves, for those who look at every event. */
  get columns(): Readonly<Columns> {
    return this.#columns;
  }

  /** Returns a number of an event; undefined if it has none. */
  number(column: 'latencyMs' | 'firstTokenMs' | 'cost', seq: number): number | undefined {
    const value = this.#columns[column][seq];
    if (value === undefined || Number.isNaN(value)) return undefined;
    return column === 'latencyMs' && value === 0 ? this.#between(seq) : value;
  }

  /** Returns the time from the start of a call to its end. Imports record no latency, and the index has 0 for none. */
  #between(end: number): number {
    const { began, time } = this.#columns;
    const start = began[end] ?? 0;
    return start === 0 || !this.has(start) ? 0 : Math.max(0, (time[end] ?? 0) - (time[start] ?? 0));
  }

  /** Returns true if an event has a flag. */
  hasFlag(seq: number, name: keyof typeof columnFlags): boolean {
    return ((this.#columns.flags[seq] ?? 0) & columnFlags[name]) !== 0;
  }

  /** Returns the seq of the start of the call that an event starts or ends; undefined for other events. */
  callOf(seq: number): number | undefined {
    if (!this.hasFlag(seq, 'call')) return undefined;
    if (!this.hasFlag(seq, 'end')) return seq;
    const began = this.#columns.began[seq] ?? 0;
    return began === 0 ? undefined : began;
  }

  /** Returns the seq of the end of a call that starts at a seq; undefined while it is open. */
  endOf(seq: number): number | undefined {
    const end = this.#columns.end[seq] ?? 0;
    return end === 0 ? undefined : end;
  }

  /** Returns true if an event shows that something failed. */
  isError(seq: number): boolean {
    return this.hasFlag(seq, 'error');
  }
}

function makeColumns(size: number, from?: Columns): Columns {
  const columns = {
    ...fresh(numbers, (name) => copied(new Float64Array(size), from?.[name])),
    ...fresh(floats, (name) => copied(new Float32Array(size).fill(Number.NaN), from?.[name])),
    ...fresh(integers, (name) => copied(new Uint32Array(size), from?.[name])),
    ...fresh(bits, (name) => copied(new Uint16Array(size), from?.[name])),
    ...fresh(few, (name) => copied(new Uint8Array(size), from?.[name])),
  };
  return columns;
}

function copied<Column extends { set(from: ArrayLike<number>): void }>(
  to: Column,
  from: ArrayLike<number> | undefined,
): Column {
  if (from !== undefined) to.set(from);
  return to;
}

function fresh<Name extends string, Column>(
  names: readonly Name[],
  make: (name: Name) => Column,
): Record<Name, Column> {
  const made: Partial<Record<Name, Column>> = {};
  for (const name of names) made[name] = make(name);
  return made as Record<Name, Column>;
}
