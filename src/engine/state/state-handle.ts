import { RepriseError } from '../../core/error.ts';
import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import type { PointInput } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { findPlace, type Place } from '../history/place.ts';
import type { StateValue, StateVersion } from './entry.ts';
import { type StateView, scanState, stateView, valueAt, valueOf, versionsOf } from './lookup.ts';
import { type StateAt, statePoint, viewPointOf } from './point.ts';
import { refuseCount, runTransaction } from './run-transaction.ts';
import { diffState, type StateChange } from './state-changes.ts';
import { diffKeys, getAtKeys, getKeys, limitOf, listKeys } from './state-options.ts';
import { replayState, type StateReplay, type StateReplayOptions } from './state-replay.ts';
import type { Ran, RunOptions, StateListOptions, StateVerbs } from './state-verbs.ts';
import { refuseOther, Transaction } from './transaction.ts';
import {
  type DuringTurn,
  type TransactionOptions,
  TransactionWork,
  transactionOptionNames,
} from './transaction-work.ts';
import { versionAt } from './versions.ts';

const beginKeys: KnownKeys = optionKeys<TransactionOptions>('begin', transactionOptionNames, 'a transaction');
/** The state of one agent on one branch. `StateVerbs` describes the verbs. */
export class StateHandle implements StateVerbs {
  readonly branch: string;
  /** Whose state it is. */
  readonly agent: string;
  readonly #engine: Engine;
  readonly #session: string;

  readonly #isBound: boolean;
  readonly #during: DuringTurn | undefined;

  /** A bound handle is handed to its agent: it leads to the state of no other. */
  constructor(
    engine: Engine,
    session: string,
    of: {
      readonly branch: string;
      readonly agent: string;
      readonly isBound?: boolean;
      /** The turn that the agent is in. */
      readonly during?: DuringTurn | undefined;
    },
  ) {
    this.#engine = engine;
    this.#session = session;
    this.branch = of.branch;
    this.agent = of.agent;
    this.#isBound = of.isBound === true;
    this.#during = of.during;
  }

  as(agent: string): StateHandle {
    const asked = checkAgent(agent);
    if (this.#isBound && asked !== this.agent) refuseOther(this.agent, asked);
    const of = { branch: this.branch, agent: asked, isBound: this.#isBound, during: this.#during };
    return new StateHandle(this.#engine, this.#session, of);
  }

  on(branch: string): StateHandle {
    const of = { branch: checkId('branch', branch), agent: this.agent, isBound: this.#isBound, during: this.#during };
    return new StateHandle(this.#engine, this.#session, of);
  }

  begin(options: TransactionOptions = {}): Transaction {
    checkKeys(options, beginKeys);
    const { branch, agent } = this;
    const during = this.#during;
    during?.check?.();
    const scope = { engine: this.#engine, session: this.#session, branch, agent, ...given({ during }) };
    const { turn = during?.turn, cause = during?.cause } = options;
    const work = new TransactionWork(scope, { ...options, ...given({ turn, cause }) });
    return new Transaction(work, agent, this.#isBound);
  }

  openTransaction(txn: string): Transaction {
    const work = this.#engine.transactions.find(txn);
    const { branch } = this;
    if (work instanceof TransactionWork) {
      const { scope } = work;
      const isHere = scope.engine.namespace === this.#engine.namespace && scope.session === this.#session;
      const isOwn = !this.#isBound || scope.agent === this.agent;
      if (isHere && isOwn && scope.branch === branch) return new Transaction(work, this.agent, this.#isBound);
    }
    throw new RepriseError(
      'transaction.not-found',
      `Cannot find transaction ${shownValue(txn)} on "${branch}": none is open`,
      {
        hint: 'It was committed, aborted, has expired, or was begun on a different branch.',
        details: { txn: shownValue(txn), branch },
      },
    );
  }

  async transaction<Result>(
    work: (tx: Transaction) => Result | Promise<Result>,
    options: RunOptions = {},
  ): Promise<Ran<Result>> {
    return await runTransaction((begin) => this.begin(begin), work, options);
  }

  async get(key: string, options: { readonly at?: PointInput } = {}): Promise<StateValue> {
    checkKeys(options, getKeys);
    return this.getAt(key, options);
  }

  async getAt(key: string, where: StateAt & { readonly version?: number }): Promise<StateValue> {
    checkKeys(where, getAtKeys);
    const of = { agent: this.agent, key: checkKey(key) };
    const quick = where.version === undefined ? viewPointOf(this.branch, where) : undefined;
    const value = quick === undefined ? undefined : await valueAt(this.#engine, this.#session, quick, of);
    if (value !== undefined) return value;
    const place = await this.#placeOf(where);
    if (where.version === undefined) return valueOf(stateView(this.#engine, place), of);
    if (!Number.isSafeInteger(where.version) || where.version < 0) refuseCount('version', where.version);
    return versionAt(this.#engine, place, of, where.version);
  }

  async *keys(options: StateListOptions = {}): AsyncGenerator<string, void, undefined> {
    for await (const { key } of this.scan('', options)) yield key;
  }

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

  replay(options: StateReplayOptions = {}): StateReplay {
    const found = replayState(
      this.#engine,
      { session: this.#session, branch: this.branch, agent: this.agent },
      options,
    );
    const { agent = this.agent } = options;
    if (this.#isBound && agent !== this.agent) refuseOther(this.agent, agent);
    return found;
  }

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

  async #lookAt(where: StateAt): Promise<StateView> {
    return stateView(this.#engine, await this.#placeOf(where));
  }

  #placeOf(where: StateAt): Promise<Place> {
    return findPlace(this.#engine, this.#session, statePoint(this.branch, where));
  }
}
