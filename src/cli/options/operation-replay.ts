import type { Event } from '../../core/event/event.ts';
import type { EventFilter } from '../../core/event/filter.ts';
import { refText } from '../../core/ref.ts';
import type { StateTransaction } from '../../engine/state/state-replay.ts';
import { transactionOf } from '../../engine/state/state-replay.ts';
import { type EventReading, readEvents } from '../answering/event-reading.ts';
import type { Context, Found } from '../context.ts';
import { operationLines } from '../render/operation-line.ts';

/** `reprise replay --ops`: the state operations of a history, a line each, or with `--json` one transaction a line. */
export async function printOperations(
  context: Context,
  found: Found,
  reading: EventReading,
  isVerbose: boolean,
): Promise<void> {
  const { out } = context;
  const { currentNamespace: namespace } = await context.open();
  const { agent, ...filter } = reading.filter;
  const wanted: EventFilter = { ...filter, types: ['state.committed'] };
  const isObject = out.json === 'object';
  let count = 0;
  if (isObject) await out.write(`${JSON.stringify({ ref: refText(found.ref) }).slice(0, -1)},"transactions":[`);
  for await (const transaction of transactions(found, { ...reading, filter: wanted }, agent)) {
    if (isObject) await out.write(`${count === 0 ? '' : ','}${JSON.stringify(transaction)}`);
    else if (out.json !== undefined) await out.value(transaction);
    else await out.lines(operationLines(transaction, { namespace, isVerbose }));
    count += 1;
  }
  if (isObject) await out.line(']}');
  if (count === 0) out.say('No state was committed.');
}

/** An agent is meant as whose state it is, which need not be who committed it: what is left is counted, not what is read. */
async function* transactions(
  { session }: Found,
  reading: EventReading,
  agent: string | undefined,
): AsyncGenerator<StateTransaction> {
  const { limit, tail, ...every } = reading;
  if (agent === undefined) yield* ownParts(readEvents(session, reading), agent);
  else if (tail === undefined) yield* first(ownParts(readEvents(session, every), agent), limit);
  else {
    // Where following begins is decided first: what is committed while the tail is read would be shown twice, or never.
    const { seq } = await session.locate(reading.point);
    const upTo = { ...every.filter, ...(reading.follows ? { through: seq } : {}) };
    const last: StateTransaction[] = [];
    const backward = readEvents(session, { ...every, filter: upTo, isReverse: true, follows: false });
    for await (const transaction of first(ownParts(backward, agent), tail)) last.push(transaction);
    yield* reading.isReverse ? last : last.reverse();
    const after = Math.max(seq, every.filter.after ?? 0);
    if (reading.follows) yield* ownParts(readEvents(session, { ...every, filter: { ...every.filter, after } }), agent);
  }
}

async function* first<Item>(items: AsyncIterable<Item>, limit: number | undefined): AsyncGenerator<Item> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}

async function* ownParts(events: AsyncIterable<Event>, agent: string | undefined): AsyncGenerator<StateTransaction> {
  for await (const event of events) {
    const transaction = ownPart(event, agent);
    if (transaction !== undefined) yield transaction;
  }
}

function ownPart(event: Event, agent: string | undefined): StateTransaction | undefined {
  const whole = transactionOf(event, null);
  if (agent === undefined || whole === undefined) return whole;
  const operations = whole.operations.filter((operation) => isAgent(agent, operation.agent));
  return operations.length === 0 ? undefined : { ...whole, operations };
}

function isAgent(wanted: string, id: string): boolean {
  return wanted.startsWith('~') ? id.toLowerCase().includes(wanted.slice(1).toLowerCase()) : id === wanted;
}
