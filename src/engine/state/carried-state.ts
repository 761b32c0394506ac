import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import { checkAgent } from '../../core/event/state-key.ts';
import { given } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import { pointText } from '../../core/ref.ts';
import type { AgentPort } from '../../core/store/agent-port.ts';
import type { BranchRef } from '../../core/store/session-ref.ts';
import { sessionRef } from '../context/engine.ts';
import type { Where } from '../history/where.ts';
import { checkReading } from '../looking/replay.ts';
import { CarriedWork } from './carried-work.ts';
import type { StateValue, StateVersion } from './entry.ts';
import type { StateChange } from './state-changes.ts';
import { type StateReplay, type StateReplayOptions, type StateTransaction, stateReplayKeys } from './state-replay.ts';
import type { StateSource } from './state-source.ts';
import { Transaction } from './transaction.ts';
import type { TransactionOptions } from './transaction-work.ts';

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
    const work = new CarriedWork(
      { platform: engine.platform, port: this.#port, place: () => this.#place(), state: this },
      options,
    );
    return new Transaction(work, this.agent, (_own, asked) => checkBound(this.#port, asked));
  }

  openTransaction(txn: string): never {
    throw new RepriseError('transaction.not-found', `Cannot find transaction ${shownValue(txn)}: none is open`, {
      hint: 'With a token of one agent, a transaction lives in the handle that began it.',
      details: { txn: shownValue(txn), branch: this.#where.branch },
    });
  }

  async get(key: string, version?: number): Promise<StateValue> {
    const where = carriedOptions(given({ version }), this.#at());
    return (await this.#port.ask('getState', await this.#place(), { key, where })) as StateValue;
  }

  async *keys(prefix: string, limit: number): AsyncGenerator<string, void, undefined> {
    if (prefix === '') {
      const options = carriedOptions({ limit }, this.#at());
      for await (const key of this.#port.list('listKeys', await this.#place(), { options })) yield String(key);
      return;
    }
    for await (const { key } of this.scan(prefix, limit)) yield key;
  }

  async *scan(prefix: string, limit: number = Number.POSITIVE_INFINITY): AsyncGenerator<StateValue, void, undefined> {
    yield* this.#listed<StateValue>('scanState', { prefix, options: carriedOptions({ limit }, this.#at()) });
  }

  async *history(key: string, limit: number): AsyncGenerator<StateVersion, void, undefined> {
    yield* this.#listed<StateVersion>('getHistory', { key, options: carriedOptions({ limit }, this.#at()) });
  }

  replay(options: StateReplayOptions): StateReplay {
    checkReading(options, stateReplayKeys);
    const { signal, ...rest } = options;
    // A generator does not return while it waits, and a follower may wait forever.
    const stop = new AbortController();
    const until = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
    const asked = { options: carriedOptions(rest, this.#at()) };
    const found = this.#listed<StateTransaction>('replayState', asked, until);
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
    const options = carriedOptions({}, prefix === '' ? {} : { prefix });
    yield* this.#listed<StateChange>('diffState', { left: this.point, right: other.point, options });
  }

  async *#listed<Item>(
    call: 'scanState' | 'getHistory' | 'replayState' | 'diffState',
    fields: Readonly<Record<string, string>>,
    signal?: StateReplayOptions['signal'],
  ): AsyncGenerator<Item, void, undefined> {
    yield* this.#port.list(call, await this.#place(), fields, signal) as AsyncGenerator<Item, void, undefined>;
  }

  /** The point for the server; it looks at the head if there is none. */
  #at(): { readonly at?: string } {
    return this.#where.at.kind === 'head' ? {} : { at: this.point };
  }

  async #place(): Promise<BranchRef> {
    const { engine, branch } = this.#where;
    return { ...sessionRef(engine, await this.#where.session()), branch };
  }
}

/** Refuses an agent that the token is not bound to. */
export function checkBound({ agent: own }: AgentPort, agent: string): void {
  if (checkAgent(agent) === own) return;
  throw new RepriseError('store.denied', `Cannot act as agent "${agent}": the token is bound to agent "${own}"`, {
    hint: `Use session.as(${JSON.stringify(own)}).`,
    details: { agent: own },
  });
}

/** Writes options that were checked, and the place, as the wire carries them. An infinite limit is left out. */
export function carriedOptions(options: object & { readonly limit?: number | undefined }, place: object): string {
  const { limit, ...rest } = { ...options, ...place };
  const text = canonicalJson(limit === Number.POSITIVE_INFINITY ? rest : { ...rest, limit });
  return text === '{}' ? '' : text;
}
