import { canonicalForm } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { checkAgent, checkKey } from '../../core/event/state-key.ts';
import { checkId } from '../../core/id.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkKeys, shownValue } from '../../core/known-keys.ts';
import { type PointInput, parsePoint, refText } from '../../core/ref.ts';
import type { AgentArguments, AgentPort } from '../../core/store/agent-port.ts';
import type { Engine } from '../context/engine.ts';
import { checkReading } from '../looking/replay.ts';
import { CarriedTransaction } from './carried-transaction.ts';
import type { StateValue, StateVersion } from './entry.ts';
import { pointOn, type StateAt, statePoint } from './point.ts';
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
      { platform: this.#engine.platform, port: this.#port, place: this.#place({}), state: this },
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
    const input = {
      ...this.#place(statePoint(this.branch, where)),
      key: checkKey(key),
      ...given({ version: where.version }),
    };
    return (await this.#port.ask('state.get', input)) as StateValue;
  }

  async *keys(options: StateListOptions = {}): AsyncGenerator<string, void, undefined> {
    for await (const key of this.#port.list('state.keys', this.#listed(options))) yield String(key);
  }

  async *scan(prefix: string, options: StateListOptions = {}): AsyncGenerator<StateValue, void, undefined> {
    const input = { prefix: checkKey(prefix), ...this.#listed(options) };
    yield* this.#port.list('state.scan', input) as AsyncGenerator<StateValue, void, undefined>;
  }

  async *history(key: string, options: StateListOptions = {}): AsyncGenerator<StateVersion, void, undefined> {
    const input = { key: checkKey(key), ...this.#listed(options) };
    yield* this.#port.list('state.history', input) as AsyncGenerator<StateVersion, void, undefined>;
  }

  replay(options: StateReplayOptions = {}): StateReplay {
    checkReading(options, stateReplayKeys);
    const { signal, at = {}, ...rest } = options;
    // A generator does not return while it waits, and a follower may wait forever.
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
    const input = { ...carriedOptions(rest), ...this.#place(at) };
    const found = this.#port.list('state.replay', input, until) as AsyncGenerator<StateTransaction, void, undefined>;
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
    const input = { ...options, ...this.#place(left), other: this.#place(right).ref };
    yield* this.#port.list('state.diff', input) as AsyncGenerator<StateChange, void, undefined>;
  }

  #listed(options: StateListOptions): AgentArguments {
    checkKeys(options, listKeys);
    limitOf(options);
    const { at = {}, ...rest } = options;
    return { ...carriedOptions(rest), ...this.#place(at) };
  }

  #place(point: PointInput): AgentArguments {
    return carriedPlace(this.#engine, { session: this.#session, branch: this.branch }, point);
  }
}

/** Returns the arguments that say where a carried verb acts. */
export function carriedPlace(
  engine: Engine,
  { session, branch }: { readonly session: string; readonly branch: string },
  point: PointInput = {},
): AgentArguments {
  return { namespace: engine.namespace, ref: refText({ session, ...parsePoint(pointOn(branch, point)) }) };
}

/** Refuses an agent that the token is not bound to. */
export function checkBound({ agent: own }: AgentPort, agent: string): void {
  if (agent === own) return;
  throw new RepriseError('store.denied', `Cannot act as agent "${agent}": the token is bound to agent "${own}"`, {
    hint: `Use session.as(${JSON.stringify(own)}).`,
    details: { agent: own },
  });
}

/** Returns options that were checked as the wire carries them. An infinite limit is left out. */
export function carriedOptions(options: object & { readonly limit?: number | undefined }): JsonObject {
  const { limit, ...rest } = options;
  return canonicalForm(limit === Number.POSITIVE_INFINITY ? rest : { ...rest, limit }).copy as JsonObject;
}
