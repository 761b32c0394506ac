import type { Event } from '../../core/event/event.ts';
import { agentHolds } from '../../core/event/filter.ts';
import { given } from '../../core/json.ts';
import { seq } from '../../core/point.ts';
import { parsePoint, pointText } from '../../core/ref.ts';
import type { Session } from '../../engine/session.ts';
import { type StateTransaction, transactionOf } from '../../engine/state/state-replay.ts';
import { type EventReading, readEvents } from './event-reading.ts';

/** The state transactions of a history as one object, as `reprise replay --ops --json=object` prints them. */
export interface TransactionsAnswer {
  readonly ref: string;
  readonly transactions: readonly StateTransaction[];
}

/**
 * Reads state transactions in the order in which they are shown. The agent of the filter is the owner of the state, who
 * need not be the one that committed it, so `limit` and `tail` count transactions after their operations are chosen.
 */
export async function* readTransactions(session: Session, asked: EventReading): AsyncGenerator<StateTransaction> {
  const { agent, ...filter } = asked.filter;
  const point = await stablePoint(session, asked);
  const reading: EventReading = { ...asked, point, filter: { ...filter, types: ['state.committed'] } };
  const { limit, tail, ...every } = reading;
  if (agent === undefined) yield* operationsOf(readEvents(session, reading), agent);
  else if (tail === undefined) yield* first(operationsOf(readEvents(session, every), agent), limit);
  else {
    // Decide first where following begins. Otherwise a commit made while the tail is read comes twice, or never.
    const { seq: at } = await session.at(reading.point).locate();
    const upTo = { ...every.filter, ...given({ through: reading.follows ? at : undefined }) };
    const last: StateTransaction[] = [];
    const backward = readEvents(session, { ...every, filter: upTo, isReverse: true, follows: false });
    for await (const transaction of first(operationsOf(backward, agent), tail)) last.push(transaction);
    yield* reading.isReverse ? last : last.reverse();
    const after = Math.max(at, every.filter.after ?? 0);
    if (reading.follows)
      yield* operationsOf(readEvents(session, { ...every, filter: { ...every.filter, after } }), agent);
  }
}

/** Returns the end of a range that ends, so that a later rewind does not change it; else the point that was asked for. */
async function stablePoint(session: Session, { point, filter, follows, history }: EventReading): Promise<string> {
  const { branch, at } = parsePoint(point);
  if (filter.through === undefined || follows || history === 'raw' || at.kind !== 'head') return point;
  const { head } = await session.branch(branch).locate();
  return pointText({ branch, at: { kind: 'seq', seq: seq(Math.min(filter.through, head)) } });
}

async function* first<Item>(items: AsyncIterable<Item>, limit: number | undefined): AsyncGenerator<Item> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}

async function* operationsOf(
  events: AsyncIterable<Event>,
  agent: string | undefined,
): AsyncGenerator<StateTransaction> {
  for await (const event of events) {
    const transaction = transactionFor(event, agent);
    if (transaction !== undefined) yield transaction;
  }
}

/** Reads the operations of one agent; undefined if there are none. */
function transactionFor(event: Event, agent: string | undefined): StateTransaction | undefined {
  const whole = transactionOf(event, null);
  if (agent === undefined || whole === undefined) return whole;
  const operations = whole.operations.filter((operation) => agentHolds(agent, operation.agent));
  return operations.length === 0 ? undefined : { ...whole, operations };
}
