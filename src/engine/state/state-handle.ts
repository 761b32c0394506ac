import { RepriseError } from '../../core/error.ts';
import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkLimit } from '../../core/limits.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace, type Place } from '../history/place.ts';
import type { StateValue, StateVersion } from './entry.ts';
import { type StatePlace, scanState, statePlace, valueAt, valueOf, versionsOf } from './lookup.ts';
import { pointOf, type StateAt, viewPointOf } from './point.ts';
import { diffState, type StateChange } from './state-changes.ts';
import { replayState, type StateReplay, type StateReplayOptions } from './state-replay.ts';
import { Transaction } from './transaction.ts';
import {
  type Committed,
  type TransactionOptions,
  TransactionWork,
  transactionOptionNames,
} from './transaction-work.ts';
import { versionAt } from './versions.ts';

/** How to list keys or versions. */
export interface StateListOptions {
  /** At which point; the head of the branch if left out. */
  readonly at?: PointInput;
  /** At most so many. */
  readonly limit?: number;
}

/** How to run a transaction that is given as a function. */
export interface RunOptions extends TransactionOptions {
  /** How often the function is run again when what it read was changed: 5 times if left out. */
  readonly retries?: number;
}

/** What a transaction given as a function comes to. */
export interface Ran<Result> extends Committed {
  /** What the function gave back. */
  readonly result: Result;
}

const retriesDefault = 5;

const beginKeys: KnownKeys = optionKeys<TransactionOptions>('begin', transactionOptionNames, 'a transaction');
const runKeys: KnownKeys = optionKeys<RunOptions>(
  'run a transaction',
  { ...transactionOptionNames, retries: true },
  'a transaction',
);
const getKeys: KnownKeys = optionKeys<{ at: true }>('get a key', { at: true }, 'a look');
const getAtKeys: KnownKeys = optionKeys<{ point: true; seq: true; time: true; at: true; version: true }>(
  'get a key',
  { point: true, seq: true, time: true, at: true, version: true },
  'a look',
);
const listKeys: KnownKeys = optionKeys<StateListOptions>('list state', { at: true, limit: true }, 'a list');
const diffKeys: KnownKeys = optionKeys<{ prefix: true }>('compare state', { prefix: true }, 'a comparison');

/**
 * The state of one agent on one branch: versioned values under keys, written in atomic transactions. A point that names
 * no branch is on this branch.
 */
export class StateHandle {
  readonly branch: string;
  /** Whose state it is. */
  readonly agent: string;
  readonly #engine: Engine;
  readonly #session: string;

  constructor(engine: Engine, session: string, of: { readonly branch: string; readonly agent: string }) {
    this.#engine = engine;
    this.#session = session;
    this.branch = of.branch;
    this.agent = of.agent;
  }

  /**
   * The state of another agent.
   *
   * @example
   * ```ts
   * const { value } = await session.state.as('support').get('plan');
   * ```
   */
  as(agent: string): StateHandle {
    return new StateHandle(this.#engine, this.#session, { branch: this.branch, agent: checkAgent(agent) });
  }

  /**
   * The same agent's state on another branch.
   *
   * @example
   * ```ts
   * const { exists } = await session.state.on('careful').get('plan');
   * ```
   */
  on(branch: string): StateHandle {
    return new StateHandle(this.#engine, this.#session, { branch: checkId('branch', branch), agent: this.agent });
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
    checkKeys(options, beginKeys);
    const { branch, agent } = this;
    const place = { engine: this.#engine, session: this.#session, branch, agent };
    return new Transaction(new TransactionWork(place, options), agent);
  }

  /**
   * The open transaction of an id; `transaction.not-found` if it has ended, has expired, or is not of this branch.
   *
   * @example
   * ```ts
   * const { txn } = session.state.begin();
   * session.state.begun(txn).write('plan', 'ask');
   * await session.state.begun(txn).commit();
   * ```
   */
  begun(txn: string): Transaction {
    const work = this.#engine.transactions.find(txn);
    const { branch } = this;
    if (work instanceof TransactionWork) {
      const { place } = work;
      const isHere = place.engine.namespace === this.#engine.namespace && place.session === this.#session;
      if (isHere && place.branch === branch) return new Transaction(work, this.agent);
    }
    throw new RepriseError('transaction.not-found', `Cannot find transaction "${txn}" on "${branch}": none is open`, {
      hint: 'It was committed, aborted, has expired, or was begun elsewhere.',
      details: { txn, branch },
    });
  }

  /**
   * Runs a function in a transaction and commits, or aborts if it throws. When what it read was changed by another
   * writer, it is run again in a new transaction: it should do nothing but read and write state.
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
  async transaction<Result>(
    work: (tx: Transaction) => Result | Promise<Result>,
    options: RunOptions = {},
  ): Promise<Ran<Result>> {
    checkKeys(options, runKeys);
    const { retries = retriesDefault, ...begin } = options;
    if (!Number.isSafeInteger(retries) || retries < 0) refuseCount('retries', retries);
    checkLimit('transactionRetriesMax', retries, 'run a transaction');
    for (let tries = 0; ; tries++) {
      await using tx = this.begin(begin);
      try {
        const result = await work(tx);
        return { ...(tx.committed ?? (await tx.commit())), result };
      } catch (error) {
        // Its own conflict, also when the function committed itself; that of another transaction is for the caller.
        if (!tx.isInConflict || tries >= retries) throw error;
      }
    }
  }

  /**
   * What a key holds now, or at a point.
   *
   * @example
   * ```ts
   * const { value, version, seq, time, exists } = await session.state.get('plan');
   * const before = await session.state.get('plan', { at: '@7' });
   * ```
   */
  async get(key: string, options: { readonly at?: PointInput } = {}): Promise<StateValue> {
    checkKeys(options, getKeys);
    return this.getAt(key, options);
  }

  /**
   * What a key held: at a point, at a seq or time of this branch, or as one of its versions. A version is looked for in
   * the view, so that one that was rewound or reverted is not there. If a revert that was taken back has brought a number
   * into the view twice, it is the last one, which is the first that `history` shows.
   *
   * @example
   * ```ts
   * await session.state.getAt('plan', { version: 1 });
   * await session.state.getAt('plan', { point: 'careful@4' });
   * await session.state.getAt('plan', { seq: 7 });
   * await session.state.getAt('plan', { time: '2026-11-15T10:00:00Z' });
   * ```
   */
  async getAt(key: string, where: StateAt & { readonly version?: number }): Promise<StateValue> {
    checkKeys(where, getAtKeys);
    const of = { agent: this.agent, key: checkKey(key) };
    const quick = where.version === undefined ? viewPointOf(this.branch, where) : undefined;
    const value = quick === undefined ? undefined : await valueAt(this.#engine, this.#session, quick, of);
    if (value !== undefined) return value;
    const place = await this.#placeOf(where);
    if (where.version === undefined) return valueOf(statePlace(this.#engine, place), of);
    if (!Number.isSafeInteger(where.version) || where.version < 0) refuseCount('version', where.version);
    return versionAt(this.#engine, place, of, where.version);
  }

  /**
   * The keys that hold a value, sorted by their UTF-8 bytes.
   *
   * @example
   * ```ts
   * for await (const key of session.state.keys({ at: 'main@7' })) console.log(key);
   * ```
   */
  async *keys(options: StateListOptions = {}): AsyncGenerator<string, void, undefined> {
    for await (const { key } of this.scan('', options)) yield key;
  }

  /**
   * The keys with a prefix that hold a value, with their values, sorted by their UTF-8 bytes.
   *
   * @example
   * ```ts
   * for await (const { key, value, version } of session.state.scan('task/', { limit: 100 })) console.log(key, value);
   * ```
   */
  async *scan(prefix: string, options: StateListOptions = {}): AsyncGenerator<StateValue, void, undefined> {
    checkKey(prefix);
    checkKeys(options, listKeys);
    let left = limitOf(options);
    if (left <= 0) return;
    for await (const value of scanState(await this.#lookAt(options), this.agent, prefix)) {
      yield value;
      if (--left <= 0) return;
    }
  }

  /**
   * Every version of a key, the last first: its value, who wrote it, when, in which transaction and because of what.
   *
   * @example
   * ```ts
   * for await (const { version, op, value, by, time, txn } of session.state.history('plan')) console.log(version, value);
   * ```
   */
  async *history(key: string, options: StateListOptions = {}): AsyncGenerator<StateVersion, void, undefined> {
    const of = { agent: this.agent, key: checkKey(key) };
    checkKeys(options, listKeys);
    let left = limitOf(options);
    if (left <= 0) return;
    for await (const version of versionsOf(await this.#lookAt(options), of)) {
      yield version;
      if (--left <= 0) return;
    }
  }

  /**
   * The transactions again, in the order of their commits, each with this agent's operations and nobody else's.
   *
   * @example
   * ```ts
   * for await (const { seq, operations } of session.state.replay({ after: 7 })) {
   *   for (const { op, key, value } of operations) console.log(seq, op, key, value);
   * }
   * ```
   */
  replay(options: StateReplayOptions = {}): StateReplay {
    return replayState(this.#engine, { session: this.#session, branch: this.branch, agent: this.agent }, options);
  }

  /**
   * The keys that hold another value at the second point than at the first.
   *
   * @example
   * ```ts
   * for await (const { key, kind, left, right } of session.state.diff('main@7', 'careful')) {
   *   console.log(kind, key, left?.value, right?.value);
   * }
   * ```
   */
  async *diff(
    left: PointInput,
    right: PointInput = {},
    options: { readonly prefix?: string } = {},
  ): AsyncGenerator<StateChange, void, undefined> {
    checkKeys(options, diffKeys);
    const prefix = checkKey(options.prefix ?? '');
    const places = [await this.#lookAt({ point: left }), await this.#lookAt({ point: right })] as const;
    yield* diffState(...places, { agent: this.agent, prefix });
  }

  async #lookAt(where: StateAt): Promise<StatePlace> {
    return statePlace(this.#engine, await this.#placeOf(where));
  }

  #placeOf(where: StateAt): Promise<Place> {
    return findPlace(this.#engine, this.#session, pointOf(this.branch, where));
  }
}

function limitOf({ limit = Number.POSITIVE_INFINITY }: StateListOptions): number {
  if (limit !== Number.POSITIVE_INFINITY && (!Number.isSafeInteger(limit) || limit < 0)) refuseCount('limit', limit);
  return limit;
}

function refuseCount(option: string, given: number): never {
  throw new RepriseError('option.invalid', `Cannot use state with ${option} ${String(given)}`, {
    hint: 'It takes a whole number from 0.',
    details: { option },
  });
}
