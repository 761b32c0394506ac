import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from '../../core/known-keys.ts';
import { pointText } from '../../core/ref.ts';
import type { ViewPoint } from '../../core/view/view.ts';
import type { OnBranch } from '../context/on-branch.ts';
import type { Where } from '../history/where.ts';
import { refuseFollow } from '../looking/refuse-follow.ts';
import type { StateValue, StateVersion } from './entry.ts';
import { type StateView, scanState, stateView, valueAt, valueOf, versionsOf } from './lookup.ts';
import { diffState, type StateChange } from './state-changes.ts';
import { replayState, type StateReplay, type StateReplayOptions } from './state-replay.ts';
import type { StateSource } from './state-source.ts';
import { refuseOther, Transaction } from './transaction.ts';
import {
  type DuringTurn,
  type TransactionOptions,
  TransactionWork,
  transactionOptionNames,
} from './transaction-work.ts';
import { versionAt } from './versions.ts';

const beginKeys: KnownKeys = optionKeys<TransactionOptions>('begin', transactionOptionNames, 'a transaction');

/** Whose state it is, and where. */
export interface StateOf {
  readonly where: Where;
  readonly agent: string;
  /** Whether it is handed to its agent: then it leads to the state of no other. */
  readonly isBound?: boolean;
  /** The branch that transactions write to; a look has none. */
  readonly on?: OnBranch;
  /** The turn that the agent is in. */
  readonly during?: DuringTurn | undefined;
}

/** The state of one agent as the store has it. */
export class StoredState implements StateSource {
  readonly agent: string;
  readonly #of: StateOf;

  constructor(of: StateOf) {
    this.#of = of;
    this.agent = of.agent;
  }

  get point(): string {
    const { branch, at } = this.#of.where;
    return pointText({ branch, at });
  }

  as(agent: string): StoredState {
    if (this.#of.isBound === true && agent !== this.agent) refuseOther(this.agent, agent);
    return new StoredState({ ...this.#of, agent });
  }

  async get(key: string, version: number | undefined): Promise<StateValue> {
    const { where, agent } = this.#of;
    const of = { agent, key };
    const quick = version === undefined ? quickPoint(where) : undefined;
    const value = quick === undefined ? undefined : await valueAt(where.engine, await where.session(), quick, of);
    if (value !== undefined) return value;
    const place = await where.place('read state');
    return version === undefined
      ? valueOf(stateView(where.engine, place), of)
      : versionAt(where.engine, place, of, version);
  }

  async *keys(prefix: string): AsyncGenerator<string, void, undefined> {
    for await (const { key } of this.scan(prefix)) yield key;
  }

  async *scan(prefix: string): AsyncGenerator<StateValue, void, undefined> {
    yield* scanState(await this.#view(), this.agent, prefix);
  }

  async *history(key: string): AsyncGenerator<StateVersion, void, undefined> {
    yield* versionsOf(await this.#view(), { agent: this.agent, key });
  }

  replay(options: StateReplayOptions): StateReplay {
    if (this.#of.where.isFixed) refuseFollow(options, 'state.replay');
    const found = replayState({ where: this.#of.where, agent: this.agent }, options);
    const { agent = this.agent } = options;
    if (this.#of.isBound === true && agent !== this.agent) refuseOther(this.agent, agent);
    return found;
  }

  async *diff(other: StateSource, prefix: string): AsyncGenerator<StateChange, void, undefined> {
    if (!(other instanceof StoredState)) refuseStore();
    yield* diffState(await this.#view(), await other.#view(), { agent: this.agent, prefix });
  }

  begin(options: TransactionOptions): Transaction {
    checkKeys(options, beginKeys);
    const { agent } = this;
    const { during, where, on } = this.#of;
    if (on === undefined) return refuseLook(this.point);
    during?.check?.();
    const scope = { engine: where.engine, ...on, agent, ...given({ during }) };
    const { turn = during?.turn, cause = during?.cause } = options;
    const about = { ...options, ...given({ turn, cause }) };
    return new Transaction(new TransactionWork(scope, about), agent, this.#refusal);
  }

  openTransaction(txn: string): Transaction {
    const { where, on, isBound } = this.#of;
    const { engine } = where;
    const work = engine.transactions.find(txn);
    if (on !== undefined && work instanceof TransactionWork) {
      const { scope } = work;
      const isHere = scope.engine.namespace === engine.namespace && scope.session === on.session;
      const isOwn = isBound !== true || scope.agent === this.agent;
      if (isHere && isOwn && scope.branch === on.branch) return new Transaction(work, this.agent, this.#refusal);
    }
    throw new RepriseError(
      'transaction.not-found',
      `Cannot find transaction ${shownValue(txn)} on "${where.branch}": none is open`,
      {
        hint: 'It was committed, aborted, has expired, or was begun on a different branch.',
        details: { txn: shownValue(txn), branch: where.branch },
      },
    );
  }

  get #refusal(): typeof refuseOther | undefined {
    return this.#of.isBound === true ? refuseOther : undefined;
  }

  async #view(): Promise<StateView> {
    const { where } = this.#of;
    return stateView(where.engine, await where.place('read state'));
  }
}

/** Returns the point for a store to look up itself, in one call; undefined if the place must be found first. */
function quickPoint({ branch, at, isFixed, isForeign }: Where): ViewPoint | undefined {
  if (isForeign) return undefined;
  if (at.kind === 'seq') return { branch, at: at.seq };
  return at.kind === 'head' && !isFixed ? { branch } : undefined;
}

function refuseLook(point: string): never {
  throw new RepriseError('edit.invalid', `Cannot write state at ${point}: a look writes nothing`, {
    hint: 'Use the state of a branch.',
  });
}

function refuseStore(): never {
  throw new RepriseError('option.invalid', 'Cannot compare state with that of a different kind of store', {
    hint: 'Take both looks from one store.',
  });
}
