import { canonicalForm } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { checkAgent } from '../../core/event/state-key.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import { pointText, refText } from '../../core/ref.ts';
import type { AgentArguments, AgentPort } from '../../core/store/agent-port.ts';
import type { Where } from '../history/where.ts';
import { checkReading } from '../looking/replay.ts';
import { CarriedWork } from './carried-work.ts';
import type { StateValue, StateVersion } from './entry.ts';
import type { StateChange } from './state-changes.ts';
import { type StateReplay, type StateReplayOptions, type StateTransaction, stateReplayKeys } from './state-replay.ts';
import type { StateSource } from './state-source.ts';
import { Transaction } from './transaction.ts';
import type { TransactionOptions } from './transaction-work.ts';

/** Options of a list, and what it is of. */
interface Listed {
  readonly key?: string;
  readonly prefix?: string | undefined;
  readonly limit?: number | undefined;
}

/** The state of one agent behind a port: the server reads it, as a token of that agent alone may. */
export class CarriedState implements StateSource {
  readonly agent: string;
  readonly #port: AgentPort;
  readonly #where: Where;

  constructor(port: AgentPort, where: Where) {
    this.#port = port;
    this.#where = where;
    this.agent = port.agent;
  }

  get point(): string {
    const { branch, at } = this.#where;
    return pointText({ branch, at });
  }

  as(agent: string): CarriedState {
    checkBound(this.#port, agent);
    return this;
  }

  begin(options: TransactionOptions): Transaction {
    const { engine } = this.#where;
    const place = (): Promise<AgentArguments> => carriedPlace(this.#where);
    const work = new CarriedWork({ platform: engine.platform, port: this.#port, place, state: this }, options);
    return new Transaction(work, this.agent, (_own, asked) => checkBound(this.#port, asked));
  }

  openTransaction(txn: string): never {
    throw new RepriseError('transaction.not-found', `Cannot find transaction ${shownValue(txn)}: none is open`, {
      hint: 'With a token of one agent, a transaction lives in the handle that began it.',
      details: { txn: shownValue(txn), branch: this.#where.branch },
    });
  }

  async get(key: string, version?: number): Promise<StateValue> {
    const input = { key, ...given({ version }), ...(await carriedPlace(this.#where)) };
    return (await this.#port.ask('state.get', input)) as StateValue;
  }

  async *keys(prefix: string, limit: number): AsyncGenerator<string, void, undefined> {
    for await (const key of this.#listed('state.keys', {
      ...given({ prefix: prefix === '' ? undefined : prefix }),
      limit,
    }))
      yield String(key);
  }

  async *scan(prefix: string, limit: number = Number.POSITIVE_INFINITY): AsyncGenerator<StateValue, void, undefined> {
    yield* this.#listed<StateValue>('state.scan', { prefix, limit });
  }

  async *history(key: string, limit: number): AsyncGenerator<StateVersion, void, undefined> {
    yield* this.#listed<StateVersion>('state.history', { key, limit });
  }

  replay(options: StateReplayOptions): StateReplay {
    checkReading(options, stateReplayKeys);
    const { signal, ...rest } = options;
    // A generator does not return while it waits, and a follower may wait forever.
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
    const found = this.#listed<StateTransaction>('state.replay', rest, until);
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

  async *diff(other: StateSource, prefix: string): AsyncGenerator<StateChange, void, undefined> {
    if (!(other instanceof CarriedState)) refuseStore();
    const options = {
      ...given({ prefix: prefix === '' ? undefined : prefix }),
      other: (await carriedPlace(other.#where)).ref,
    };
    yield* this.#listed<StateChange>('state.diff', options);
  }

  async *#listed<Item>(
    verb: 'state.keys' | 'state.scan' | 'state.history' | 'state.replay' | 'state.diff',
    options: Listed,
    signal?: StateReplayOptions['signal'],
  ): AsyncGenerator<Item, void, undefined> {
    const input = { ...carriedOptions(options), ...(await carriedPlace(this.#where)) };
    yield* this.#port.list(verb, input, signal) as AsyncGenerator<Item, void, undefined>;
  }
}

/** Returns the arguments that say where a carried verb acts. In story time, that is the place up to which it was recorded. */
export async function carriedPlace(where: Where): Promise<AgentArguments> {
  const { engine, branch, at } = where;
  const told = at.kind === 'story' ? (at.told ?? { kind: 'head' as const }) : at;
  return { namespace: engine.namespace, ref: refText({ session: await where.session(), branch, at: told }) };
}

/** Refuses an agent that the token is not bound to. */
export function checkBound({ agent: own }: AgentPort, agent: string): void {
  if (checkAgent(agent) === own) return;
  throw new RepriseError('store.denied', `Cannot act as agent "${agent}": the token is bound to agent "${own}"`, {
    hint: `Use session.as(${JSON.stringify(own)}).`,
    details: { agent: own },
  });
}

/** Refuses a comparison with the state of a different store. */
function refuseStore(): never {
  throw new RepriseError('option.invalid', 'Cannot compare state with that of a different kind of store', {
    hint: 'Take both looks from one store.',
  });
}

/** Returns options that were checked as the wire carries them. An infinite limit is left out. */
export function carriedOptions(options: object & { readonly limit?: number | undefined }): JsonObject {
  const { limit, ...rest } = options;
  return canonicalForm(limit === Number.POSITIVE_INFINITY ? rest : { ...rest, limit }).copy as JsonObject;
}
