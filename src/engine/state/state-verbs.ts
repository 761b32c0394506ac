import type { JsonInputValue } from '../../core/json.ts';
import type { PointInput } from '../../core/ref.ts';
import type { StateValue, StateVersion } from './entry.ts';
import type { StateAt } from './point.ts';
import type { StateChange } from './state-changes.ts';
import type { StateReplay, StateReplayOptions } from './state-replay.ts';
import type { Committed, TransactionOptions } from './transaction-work.ts';

/** How to list keys or versions. */
export interface StateListOptions {
  /** At which point; the head of the branch if left out. */
  readonly at?: PointInput;
  /** The most items to return. */
  readonly limit?: number;
}

/** How to run a transaction that is given as a function. */
export interface RunOptions extends TransactionOptions {
  /** How often the function is run again after a conflict: 5 times if left out. */
  readonly retries?: number;
}

/** The outcome of a transaction that was given as a function. */
export interface Ran<Result> extends Committed {
  /** The function's return value. */
  readonly result: Result;
}

/**
 * The state of one agent on one branch: versioned values under keys, written in atomic transactions. A point that names
 * no branch is on this branch.
 */
export interface StateVerbs {
  readonly branch: string;
  /** Whose state it is. */
  readonly agent: string;

  /**
   * Returns the state of a different agent.
   *
   * @example
   * ```ts
   * const { value } = await session.state.as('support').get('plan');
   * ```
   */
  as(agent: string): StateVerbs;

  /**
   * Returns the same agent's state on a different branch.
   *
   * @example
   * ```ts
   * const { exists } = await session.state.on('careful').get('plan');
   * ```
   */
  on(branch: string): StateVerbs;

  /**
   * Begins a transaction, which stores nothing until it is committed.
   *
   * @example
   * ```ts
   * await using tx = session.state.begin({ timeoutMs: 5_000 });
   * tx.write('plan', 'ask');
   * await tx.commit(); // left without it, the transaction is aborted
   * ```
   */
  begin(options?: TransactionOptions): TransactionVerbs;

  /**
   * Returns the open transaction of an id; `transaction.not-found` if it has ended, has expired, or is on a different
   * branch.
   *
   * @example
   * ```ts
   * const { txn } = session.state.begin();
   * session.state.openTransaction(txn).write('plan', 'ask');
   * await session.state.openTransaction(txn).commit();
   * ```
   */
  openTransaction(txn: string): TransactionVerbs;

  /**
   * Runs a function in a transaction and commits, or aborts if the function throws. If a different writer changed a key
   * that the function read, the function runs again in a new transaction: it should only read and write state.
   *
   * @example
   * ```ts
   * const { seq, result } = await session.state.transaction(async (tx) => {
   *   const { value } = await tx.get('count');
   *   tx.write('count', Number(value ?? 0) + 1);
   *   return value;
   * });
   * ```
   */
  transaction<Result>(
    work: (tx: TransactionVerbs) => Result | Promise<Result>,
    options?: RunOptions,
  ): Promise<Ran<Result>>;

  /**
   * Returns the value of a key now, or at a point.
   *
   * @example
   * ```ts
   * const { value, version, seq, time, exists } = await session.state.get('plan');
   * const before = await session.state.get('plan', { at: '@7' });
   * ```
   */
  get(key: string, options?: { readonly at?: PointInput }): Promise<StateValue>;

  /**
   * Returns the value a key had: at a point, at a seq or time of this branch, or as one of its versions. Versions are
   * looked up in the view, so one that was rewound or reverted is not found. Undoing a revert can bring a version number
   * into the view twice; then the last one counts, which is the first that `history` returns.
   *
   * @example
   * ```ts
   * await session.state.getAt('plan', { version: 1 });
   * await session.state.getAt('plan', { point: 'careful@4' });
   * await session.state.getAt('plan', { seq: 7 });
   * await session.state.getAt('plan', { time: '2026-11-15T10:00:00Z' });
   * ```
   */
  getAt(key: string, where: StateAt & { readonly version?: number }): Promise<StateValue>;

  /**
   * Lists the keys that hold a value, sorted by their UTF-8 bytes.
   *
   * @example
   * ```ts
   * for await (const key of session.state.keys({ at: 'main@7' })) console.log(key);
   * ```
   */
  keys(options?: StateListOptions): AsyncGenerator<string, void, undefined>;

  /**
   * Lists the keys with a prefix that hold a value, with their values, sorted by their UTF-8 bytes.
   *
   * @example
   * ```ts
   * for await (const { key, value, version } of session.state.scan('task/', { limit: 100 })) console.log(key, value);
   * ```
   */
  scan(prefix: string, options?: StateListOptions): AsyncGenerator<StateValue, void, undefined>;

  /**
   * Lists every version of a key, the last first: its value, who wrote it, when, in which transaction and why.
   *
   * @example
   * ```ts
   * for await (const { version, op, value, by, time, txn } of session.state.history('plan')) console.log(version, value);
   * ```
   */
  history(key: string, options?: StateListOptions): AsyncGenerator<StateVersion, void, undefined>;

  /**
   * Reads the transactions again, in the order of their commits, each with the operations of this agent alone.
   *
   * @example
   * ```ts
   * for await (const { seq, operations } of session.state.replay({ after: 7 })) {
   *   for (const { op, key, value } of operations) console.log(seq, op, key, value);
   * }
   * ```
   */
  replay(options?: StateReplayOptions): StateReplay;

  /**
   * Lists the keys whose values differ between two points.
   *
   * @example
   * ```ts
   * for await (const { key, kind, left, right } of session.state.diff('main@7', 'careful')) {
   *   console.log(kind, key, left?.value, right?.value);
   * }
   * ```
   */
  diff(
    left: PointInput,
    right?: PointInput,
    options?: { readonly prefix?: string },
  ): AsyncGenerator<StateChange, void, undefined>;
}

/**
 * Writes and deletes that are committed together or not at all. The transaction reads everything at one point, and its
 * commit fails if a key it read has changed since. It expires if nobody ends it; bound with `await using`, it is aborted
 * unless it was committed.
 */
export interface TransactionVerbs extends AsyncDisposable {
  /** Whose keys are read and written; `as` returns the same transaction for a different agent. */
  readonly agent: string;
  /** The id of the transaction, which will be the id of its event. */
  readonly txn: string;
  /** The result of the commit; undefined before there is one. */
  readonly committed: Committed | undefined;
  /** Whether the commit found that a key the transaction read was changed. */
  readonly isInConflict: boolean;

  /**
   * Returns the same transaction for the keys of a different agent.
   *
   * @example
   * ```ts
   * await session.state.transaction((tx) => {
   *   tx.as('planner').write('plan', 'refund');
   *   tx.as('worker').write('task', { order: 7 });
   * });
   * ```
   */
  as(agent: string): TransactionVerbs;

  /**
   * Writes a value under a key, once it is committed. Writing a key twice makes two versions.
   *
   * @example
   * ```ts
   * await using tx = session.state.begin();
   * tx.write('plan', { next: 'ask' });
   * const { seq, versions } = await tx.commit();
   * ```
   */
  write(key: string, value: JsonInputValue): void;

  /**
   * Deletes a key, once it is committed. A delete makes a version too.
   *
   * @example
   * ```ts
   * await session.state.transaction((tx) => tx.delete('plan'));
   * ```
   */
  delete(key: string): void;

  /**
   * Returns the value of a key in this transaction: its own write, or the value at the point it reads from.
   *
   * @example
   * ```ts
   * await session.state.transaction(async (tx) => {
   *   const { value } = await tx.get('count');
   *   tx.write('count', Number(value ?? 0) + 1); // no increment of a different writer is lost
   * });
   * ```
   */
  get(key: string): Promise<StateValue>;

  /**
   * Lists the keys with a prefix that hold a value in this transaction, with their values. A key that a different writer
   * adds under the prefix is a conflict.
   *
   * @example
   * ```ts
   * await session.state.transaction(async (tx) => {
   *   for await (const { key } of tx.scan('draft/')) tx.delete(key);
   * });
   * ```
   */
  scan(prefix: string): AsyncGenerator<StateValue, void, undefined>;

  /**
   * Appends everything as one event, or nothing. `state.conflict` if a key it read was changed; then begin again.
   *
   * @example
   * ```ts
   * const tx = session.state.begin();
   * tx.write('plan', 'ask');
   * const { txn, seq, time, versions } = await tx.commit(); // versions: [{ agent: 'default', key: 'plan', version: 1 }]
   * ```
   */
  commit(): Promise<Committed>;

  /**
   * Aborts the transaction; nothing of it is stored. Aborting twice is harmless.
   *
   * @example
   * ```ts
   * const tx = session.state.begin();
   * tx.write('plan', 'ask');
   * tx.abort();
   * ```
   */
  abort(): void;
}
