import { RepriseError } from '../../core/error.ts';
import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import { checkKeys, shownValue } from '../../core/known-keys.ts';
import type { StateValue, StateVersion } from './entry.ts';
import { refuseCount } from './refuse-count.ts';
import { runTransaction } from './run-transaction.ts';
import type { StateChange } from './state-changes.ts';
import {
  diffKeys,
  getKeys,
  limitOf,
  listKeys,
  type Ran,
  type RunOptions,
  type StateGetOptions,
  type StateListOptions,
} from './state-options.ts';
import type { StateReplay, StateReplayOptions } from './state-replay.ts';
import type { StateSource } from './state-source.ts';
import type { Transaction } from './transaction.ts';
import type { TransactionOptions } from './transaction-work.ts';

/** The state of one agent at one place: versioned values under keys. */
export class StateReader {
  readonly #source: StateSource;

  constructor(source: StateSource) {
    this.#source = source;
  }

  /** Whose state it is. */
  get agent(): string {
    return this.#source.agent;
  }

  /**
   * Returns the state of a different agent.
   *
   * @example
   * ```ts
   * const { value } = await session.state.as('support').get('plan');
   * ```
   */
  as(agent: string): StateReader {
    return new StateReader(this.#source.as(checkAgent(agent)));
  }

  /**
   * Returns the value of a key at this place, or one of its versions. Versions are looked up in the view, so one that was
   * rewound or reverted is not found. Undoing a revert can bring a version number into the view twice; then the last one
   * counts, which is the first that `history` returns.
   *
   * @example
   * ```ts
   * const { value, version, seq, time, exists } = await session.state.get('plan');
   * const before = await session.at('@7').state.get('plan');
   * const first = await session.state.get('plan', { version: 1 });
   * ```
   */
  async get(key: string, options: StateGetOptions = {}): Promise<StateValue> {
    checkKeys(options, getKeys);
    const { version } = options;
    if (version !== undefined && (!Number.isSafeInteger(version) || version < 0)) refuseCount('version', version);
    return this.#source.get(checkKey(key), version);
  }

  /**
   * Lists the keys that have a value, sorted by their UTF-8 bytes.
   *
   * @example
   * ```ts
   * for await (const key of session.at('main@7').state.keys()) console.log(key);
   * ```
   */
  async *keys(prefix = '', options: StateListOptions = {}): AsyncGenerator<string, void, undefined> {
    checkKeys(options, listKeys);
    yield* firstOf(this.#source.keys(checkKey(prefix), limitOf(options)), limitOf(options));
  }

  /**
   * Lists the keys with a prefix that have a value, with their values, sorted by their UTF-8 bytes.
   *
   * @example
   * ```ts
   * for await (const { key, value, version } of session.state.scan('task/', { limit: 100 })) console.log(key, value);
   * ```
   */
  async *scan(prefix = '', options: StateListOptions = {}): AsyncGenerator<StateValue, void, undefined> {
    checkKeys(options, listKeys);
    yield* firstOf(this.#source.scan(checkKey(prefix), limitOf(options)), limitOf(options));
  }

  /**
   * Lists every version of a key, the last first: its value, who wrote it, when, in which transaction and why.
   *
   * @example
   * ```ts
   * for await (const { version, op, value, by, time, txn } of session.state.history('plan')) console.log(version, value);
   * ```
   */
  async *history(key: string, options: StateListOptions = {}): AsyncGenerator<StateVersion, void, undefined> {
    checkKeys(options, listKeys);
    yield* firstOf(this.#source.history(checkKey(key), limitOf(options)), limitOf(options));
  }

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
  replay(options: StateReplayOptions = {}): StateReplay {
    return this.#source.replay(options);
  }

  /**
   * Lists the keys whose values differ between this place and a different one.
   *
   * @example
   * ```ts
   * for await (const { key, kind, left, right } of session.at('main@2').state.diff(branch)) {
   *   console.log(kind, key, left?.value, right?.value);
   * }
   * ```
   */
  async *diff(
    other: { readonly state: StateReader },
    options: { readonly prefix?: string } = {},
  ): AsyncGenerator<StateChange, void, undefined> {
    checkKeys(options, diffKeys);
    const given: unknown = other;
    const state = typeof given === 'object' && given !== null && 'state' in given ? given.state : undefined;
    if (!(state instanceof StateReader)) refuseOther(other);
    yield* this.#source.diff(state.#source, checkKey(options.prefix ?? ''));
  }
}

function refuseOther(other: unknown): never {
  throw new RepriseError('option.invalid', `Cannot compare state with ${shownValue(other)}: it is not a look`, {
    hint: 'Pass a look, a branch or a session: state.diff(session.at("main@12")).',
  });
}

/** Yields the first so many items of a list, and reads no further. */
async function* firstOf<Item>(items: AsyncIterable<Item>, limit: number): AsyncGenerator<Item, void, undefined> {
  let left = limit;
  if (left <= 0) return;
  for await (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}

/** The state of one agent on one branch: versioned values under keys, written in atomic transactions. */
export class State extends StateReader {
  readonly #source: StateSource;

  constructor(source: StateSource) {
    super(source);
    this.#source = source;
  }

  /**
   * Returns the state of a different agent.
   *
   * @example
   * ```ts
   * await session.state.as('planner').transaction((tx) => tx.write('plan', 'refund'));
   * ```
   */
  override as(agent: string): State {
    return new State(this.#source.as(checkAgent(agent)));
  }

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
  begin(options: TransactionOptions = {}): Transaction {
    return this.#source.begin(options);
  }

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
  openTransaction(txn: string): Transaction {
    return this.#source.openTransaction(txn);
  }

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
    work: (tx: Transaction) => Result | Promise<Result>,
    options: RunOptions = {},
  ): Promise<Ran<Result>> {
    return runTransaction((begin) => this.begin(begin), work, options);
  }
}
