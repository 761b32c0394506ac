import type { Event } from '../core/event.ts';
import type { EventFilter } from '../core/filter.ts';
import { refText } from '../core/ref.ts';
import type { StateTransaction } from '../engine/state-replay.ts';
import { transactionOf } from '../engine/state-replay.ts';
import type { Context, Found } from './context.ts';
import { type EventReading, readEvents } from './event-reading.ts';
import { operationLines } from './render/operation-line.ts';

/** `reprise replay --ops`: the state operations of a history, a line each, or with `--json` one transaction a line. */
export async function printOperations(
  { out, namespace }: Context,
  found: Found,
  reading: EventReading,
  isVerbose: boolean,
): Promise<void> {
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

/** An agent is meant as whose state it is, which need not be who committed it. So the limits count what is left. */
async function* transactions(
  { session }: Found,
  { limit, tail, ...reading }: EventReading,
  agent: string | undefined,
): AsyncGenerator<StateTransaction> {
  const last: StateTransaction[] = [];
  let count = 0;
  for await (const event of readEvents(session, reading)) {
    if (limit !== undefined && count >= limit) return;
    const transaction = ownPart(event, agent);
    if (transaction === undefined) continue;
    count += 1;
    if (tail === undefined || reading.isReverse) yield transaction;
    else {
      last.push(transaction);
      if (last.length > tail) last.shift();
    }
    if (reading.isReverse && tail !== undefined && count >= tail) return;
  }
  yield* last;
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
