import type { Event } from '../core/event.ts';
import { type KnownKeys, optionKeys } from '../core/known-keys.ts';
import type { Seq } from '../core/point.ts';
import { isStructural } from '../core/structural-types.ts';
import type { Engine } from './engine.ts';
import { checkReading, type ReplayOptions, replay } from './replay.ts';
import { operationsOf, type StateOperation } from './state-entry.ts';
import { checkAgent } from './state-key.ts';
import { pointOf } from './state-point.ts';

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

/** The transactions of an agent in the order of their commits, a page of events at a time. */
export async function* replayState(
  engine: Engine,
  { session, branch, agent: own }: StateOf,
  options: StateReplayOptions = {},
): AsyncGenerator<StateTransaction, void, undefined> {
  checkReading(options, replayKeys);
  const { agent: asked = own, at, limit = Number.POSITIVE_INFINITY, ...range } = options;
  const agent = asked === null ? null : checkAgent(asked);
  const events = replay(engine, session, {
    ...range,
    at: pointOf(branch, at === undefined ? {} : { point: at }),
    filter: { types: ['state.committed'] },
  });
  let left = limit;
  if (left <= 0) return;
  for await (const event of events) {
    const item = transactionOf(event, agent);
    if (item === undefined) continue;
    yield item;
    if (--left <= 0) return;
  }
}

/** A transaction without what other agents did in it; undefined if there is nothing left. */
export function transactionOf(event: Event, agent: string | null): StateTransaction | undefined {
  const { id: txn, seq, time, type } = event;
  if (isStructural(type)) return { txn, seq, time, operations: [], restarted: type };
  if (event.erased === true)
    return agent === null || event.agent === agent ? { txn, seq, time, operations: [], erased: true } : undefined;
  const operations = operationsOf(event).filter((operation) => agent === null || operation.agent === agent);
  return operations.length === 0 ? undefined : { txn, seq, time, operations };
}
