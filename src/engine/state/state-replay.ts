import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { checkAgent, stateKey } from '../../core/event/state-key.ts';
import { checkWhole, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { type Seq, seq } from '../../core/point.ts';
import type { FollowOptions, Replay } from '../../core/session/session-log.ts';
import { segmentAt } from '../../core/view/segment.ts';
import { sessionRef } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import type { Where } from '../history/where.ts';
import { checkReading, replay } from '../looking/replay.ts';
import { operationsOf, type StateOperation } from './entry.ts';

/**
 * Which transactions to read again. A range that ends (`through`) is read as it was at its end, so it gives the same
 * transactions forever: a later rewind or edit does not change it.
 */
export interface StateReplayOptions
  extends Pick<FollowOptions, 'after' | 'through' | 'since' | 'until' | 'follow' | 'signal' | 'limit'> {
  /** The agent whose operations to read: that of the handle if left out, every agent if null. */
  readonly agent?: string | null;
}

/** The options of a replay of state. */
export const stateReplayKeys: KnownKeys = optionKeys<StateReplayOptions>('replay', {
  agent: true,
  after: 'number',
  through: 'number',
  since: 'text',
  until: 'text',
  follow: 'flag',
  signal: 'signal',
  limit: 'number',
});

/** One transaction, with the operations that were asked for. */
export interface StateTransaction {
  /** The transaction: the id of its event. */
  readonly txn: string;
  /** Its seq, by which commits are ordered. */
  readonly seq: Seq;
  /** The wall clock. */
  readonly time: string;
  readonly operations: readonly StateOperation[];
  /** Present if the payload was erased: its operations are lost. */
  readonly erased?: true;
  /**
   * Only when following: the type of the marker that changed the view. It has no operations; the new history follows,
   * from its beginning.
   */
  readonly restarted?: string;
}

/** Where to read, and the agent if the options name none. */
interface ReplayedState {
  readonly where: Where;
  readonly agent: string;
}

/** Transactions being read: an async iterator that keeps one page in memory. Leaving the loop releases everything. */
export interface StateReplay extends AsyncIterableIterator<StateTransaction, void, undefined> {
  return(): Promise<IteratorResult<StateTransaction, void>>;
}

/** Reads the transactions of an agent in the order of their commits, a page of events at a time. */
export function replayState(of: ReplayedState, options: StateReplayOptions = {}): StateReplay {
  return new TransactionReplay(of, options);
}

/** A class instead of a generator, which does not return while it waits: a follower may wait forever. */
class TransactionReplay implements StateReplay {
  readonly #of: ReplayedState;
  readonly #options: StateReplayOptions;
  #events: Replay | undefined;
  /** Calls made while a read is under way are answered in order. */
  #last: Promise<unknown> = Promise.resolve();
  #left: number;

  constructor(of: ReplayedState, options: StateReplayOptions) {
    this.#of = of;
    this.#options = options;
    checkWhole(options, stateReplayKeys);
    this.#left = options.limit ?? Number.POSITIVE_INFINITY;
  }

  #open(): Replay {
    const { where } = this.#of;
    const { agent: _, limit: __, ...range } = this.#options;
    const { through, follow } = range;
    const place = async (): Promise<Place> => {
      const found = await where.place('replay state');
      const isEnding = !where.isFixed && through !== undefined && follow !== true;
      return isEnding && through < found.seq ? { ...found, seq: seq(through) } : found;
    };
    return replay(where.engine, place, { ...range, filter: { types: ['state.committed'] } });
  }

  next(): Promise<IteratorResult<StateTransaction, void>> {
    const next = this.#last.then(() => this.#next());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #next(): Promise<IteratorResult<StateTransaction, void>> {
    checkReading(this.#options, stateReplayKeys);
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

  /**
   * Turns an event into a transaction. An erased one has lost its operations, but the key index still knows its agents.
   */
  async #itemOf(event: Event, agent: string | null): Promise<StateTransaction | undefined> {
    if (event.erased !== true || agent === null) return transactionOf(event, agent);
    const select = { prefix: stateKey(agent, '') };
    const { engine } = this.#of.where;
    const ref = sessionRef(engine, event.session);
    const { entries } = await engine.store.latest(ref, [segmentAt(event)], select, {
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

/** Returns a transaction with the operations of one agent; undefined if it has none. */
export function transactionOf(event: Event, agent: string | null): StateTransaction | undefined {
  const { id: txn, seq, time, type } = event;
  if (isStructural(type)) return { txn, seq, time, operations: [], restarted: type };
  if (event.erased === true) return agent === null ? { txn, seq, time, operations: [], erased: true } : undefined;
  const operations = operationsOf(event).filter((operation) => agent === null || operation.agent === agent);
  return operations.length === 0 ? undefined : { txn, seq, time, operations };
}
