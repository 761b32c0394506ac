import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import { checkKeys, shownValue } from '../../core/known-keys.ts';
import { type PointInput, parsePoint, pointText } from '../../core/ref.ts';
import type { AgentPort } from '../../core/store/agent-port.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { checkReading } from '../looking/replay.ts';
import { CarriedTransaction } from './carried-transaction.ts';
import type { StateValue, StateVersion } from './entry.ts';
import { pointOn, type StateAt } from './point.ts';
import { runTransaction } from './run-transaction.ts';
import type { StateChange } from './state-changes.ts';
import { diffKeys, getAtKeys, getKeys, limitOf, listKeys } from './state-options.ts';
import { type StateReplay, type StateReplayOptions, type StateTransaction, stateReplayKeys } from './state-replay.ts';
import type { Ran, RunOptions, StateListOptions, StateVerbs } from './state-verbs.ts';
import type { TransactionOptions } from './transaction-work.ts';

/** The state of one agent behind a port: the server reads it, as a token of that agent alone may. */
export class CarriedState implements StateVerbs {
  readonly branch: string;
  readonly agent: string;
  readonly #engine: Engine;
  readonly #port: AgentPort;
  readonly #session: string;

  constructor(engine: Engine, port: AgentPort, of: { readonly session: string; readonly branch: string }) {
    this.#engine = engine;
    this.#port = port;
    this.#session = of.session;
    this.branch = of.branch;
    this.agent = port.agent;
  }

  as(agent: string): CarriedState {
    checkBound(this.#port, checkAgent(agent));
    return this;
  }

  on(branch: string): CarriedState {
    return new CarriedState(this.#engine, this.#port, { session: this.#session, branch: checkId('branch', branch) });
  }

  begin(options: TransactionOptions = {}): CarriedTransaction {
    return new CarriedTransaction(
      { platform: this.#engine.platform, port: this.#port, place: this.#place, state: this },
      options,
    );
  }

  openTransaction(txn: string): never {
    throw new RepriseError('transaction.not-found', `Cannot find transaction ${shownValue(txn)}: none is open`, {
      hint: 'With a token of one agent, a transaction lives in the handle that began it.',
      details: { txn: shownValue(txn), branch: this.branch },
    });
  }

  async transaction<Result>(
    work: (tx: CarriedTransaction) => Result | Promise<Result>,
    options: RunOptions = {},
  ): Promise<Ran<Result>> {
    return await runTransaction((begin) => this.begin(begin), work, options);
  }

  async get(key: string, options: { readonly at?: PointInput } = {}): Promise<StateValue> {
    checkKeys(options, getKeys);
    return await this.getAt(key, options);
  }

  async getAt(key: string, where: StateAt & { readonly version?: number }): Promise<StateValue> {
    checkKeys(where, getAtKeys);
    const found = await this.#port.ask('getState', this.#place, { key: checkKey(key), where: carriedOptions(where) });
    return found as StateValue;
  }

  async *keys(options: StateListOptions = {}): AsyncGenerator<string, void, undefined> {
    for await (const key of this.#port.list('listKeys', this.#place, { options: listOptions(options) }))
      yield String(key);
  }

  async *scan(prefix: string, options: StateListOptions = {}): AsyncGenerator<StateValue, void, undefined> {
    yield* this.#listed('scanState', { prefix: checkKey(prefix), options: listOptions(options) });
  }

  async *history(key: string, options: StateListOptions = {}): AsyncGenerator<StateVersion, void, undefined> {
    yield* this.#listed('getHistory', { key: checkKey(key), options: listOptions(options) });
  }

  replay(options: StateReplayOptions = {}): StateReplay {
    checkReading(options, stateReplayKeys);
    const { signal, ...rest } = options;
    // A generator does not return while it waits, and a follower may wait forever.
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
    const found = this.#listed<StateTransaction>('replayState', { options: carriedOptions(rest) }, until);
    return {
      next: () => found.next(),
      return: async () => {
        stop.abort();
        return await found.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async *diff(
    left: PointInput,
    right: PointInput = {},
    options: { readonly prefix?: string } = {},
  ): AsyncGenerator<StateChange, void, undefined> {
    checkKeys(options, diffKeys);
    const text = (point: PointInput): string => pointText(parsePoint(pointOn(this.branch, point)));
    yield* this.#listed('diffState', { left: text(left), right: text(right), options: carriedOptions(options) });
  }

  #listed<Item>(
    call: 'scanState' | 'getHistory' | 'replayState' | 'diffState',
    fields: Readonly<Record<string, string>>,
    signal?: StateReplayOptions['signal'],
  ): AsyncGenerator<Item, void, undefined> {
    return this.#port.list(call, this.#place, fields, signal) as AsyncGenerator<Item, void, undefined>;
  }

  get #place() {
    return { ...sessionRef(this.#engine, this.#session), branch: this.branch };
  }
}

/** Refuses an agent that the token is not bound to. */
export function checkBound({ agent: own }: AgentPort, agent: string): void {
  if (agent === own) return;
  throw new RepriseError('store.denied', `Cannot act as agent "${agent}": the token is bound to agent "${own}"`, {
    hint: `Use session.as(${JSON.stringify(own)}).`,
    details: { agent: own },
  });
}

/** Writes options that were checked as the wire carries them. An infinite limit is left out. */
export function carriedOptions(options: object & { readonly limit?: number | undefined }): string {
  const { limit, ...rest } = options;
  const text = canonicalJson(limit === Number.POSITIVE_INFINITY ? rest : { ...rest, limit });
  return text === '{}' ? '' : text;
}

function listOptions(options: StateListOptions): string {
  checkKeys(options, listKeys);
  limitOf(options);
  return carriedOptions(options);
}
