import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { checkAgent, stateKey } from '../../core/event/state-key.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import type { Replay, ReplayOptions } from '../../core/session/session-log.ts';
import { segmentAt } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { checkReading, replay } from '../looking/replay.ts';
import { operationsOf, type StateOperation } from './entry.ts';
import { statePoint } from './point.ts';

/** Which transactions to read again. */
export interface StateReplayOptions
  extends Pick<ReplayOptions, 'at' | 'after' | 'through' | 'since' | 'until' | 'follow' | 'signal' | 'limit'> {
  /** Whose operations: the agent of the handle if left out, those of every agent if null. */
  readonly agent?: string | null;
}

const replayKeys: KnownKeys = optionKeys<StateReplayOptions>('replay', {
  agent: true,
  at: true,
  after: true,
  through: true,
  since: true,
  until: true,
  follow: true,
  signal: true,
  limit: true,
});

/** One transaction, with the operations that were asked for. */
export interface StateTransaction {
  /** The transaction: the id of its event. */
  readonly txn: string;
  /** Its place in the order of commits. */
  readonly seq: Seq;
  /** The wall clock. */
  readonly time: string;
  readonly operations: readonly StateOperation[];
  /** Present when the payload was erased: what it wrote is not known any more. */
  readonly erased?: true;
  /**
   * Only when following: the type of the marker that changed the view. There are no operations; what comes next is the
   * history as it is now, from its beginning.
   */
  readonly restarted?: string;
}

/** Where, and for whom if nobody is named. */
interface StateOf {
  readonly session: string;
  readonly branch: string;
  readonly agent: string;
}

/** Transactions being read: an async iterator that holds one page. Leaving the loop releases everything. */
export interface StateReplay extends AsyncIterableIterator<StateTransaction, void, undefined> {
  return(): Promise<IteratorResult<StateTransaction, void>>;
}

/** The transactions of an agent in the order of their commits, a page of events at a time. */
export function replayState(engine: Engine, of: StateOf, options: StateReplayOptions = {}): StateReplay {
  return new TransactionReplay(engine, of, options);
}

/** Not a generator: that hears of its return only when it is not waiting, and a follower may wait for ever. */
class TransactionReplay implements StateReplay {
  readonly #engine: Engine;
  readonly #of: StateOf;
  readonly #options: StateReplayOptions;
  #events: Replay | undefined;
  /** Whoever asks while another answer is on its way gets the one after it. */
  #last: Promise<unknown> = Promise.resolve();
  #left: number;

  constructor(engine: Engine, of: StateOf, options: StateReplayOptions) {
    this.#engine = engine;
    this.#of = of;
    this.#options = options;
    this.#left = options.limit ?? Number.POSITIVE_INFINITY;
  }

  #open(): Replay {
    const { session, branch } = this.#of;
    const { agent: _, limit: __, at, ...range } = this.#options;
    const point = statePoint(branch, at === undefined ? {} : { point: at });
    return replay(this.#engine, session, { ...range, at: point, filter: { types: ['state.committed'] } });
  }

  next(): Promise<IteratorResult<StateTransaction, void>> {
    const next = this.#last.then(() => this.#next());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #next(): Promise<IteratorResult<StateTransaction, void>> {
    checkReading(this.#options, replayKeys);
    const { agent: asked = this.#of.agent } = this.#options;
    const agent = asked === null ? null : checkAgent(asked);
    while (this.#left > 0) {
      this.#events ??= this.#open();
      const { value: event } = await this.#events.next();
      if (event === undefined) break;
      const item = await this.#itemOf(event, agent);
      if (item === undefined) continue;
      this.#left -= 1;
      return { value: item, done: false };
    }
    return this.return();
  }

  /** What an erased transaction did is not known any more, but whose keys it was about is: they are in the index. */
  async #itemOf(event: Event, agent: string | null): Promise<StateTransaction | undefined> {
    if (event.erased !== true || agent === null) return transactionOf(event, agent);
    const select = { prefix: stateKey(agent, '') };
    const ref = sessionRef(this.#engine, this.#of.session);
    const { entries } = await this.#engine.store.latest(ref, [segmentAt(event)], select, {
      limit: 1,
      select: 'header',
    });
    return entries.length === 0 ? undefined : transactionOf(event, null);
  }

  async return(): Promise<IteratorResult<StateTransaction, void>> {
    this.#left = 0;
    await this.#events?.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** A transaction without what other agents did in it; undefined if there is nothing left. */
export function transactionOf(event: Event, agent: string | null): StateTransaction | undefined {
  const { id: txn, seq, time, type } = event;
  if (isStructural(type)) return { txn, seq, time, operations: [], restarted: type };
  if (event.erased === true) return agent === null ? { txn, seq, time, operations: [], erased: true } : undefined;
  const operations = operationsOf(event).filter((operation) => agent === null || operation.agent === agent);
  return operations.length === 0 ? undefined : { txn, seq, time, operations };
}
