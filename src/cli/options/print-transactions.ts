import { refText } from '../../core/ref.ts';
import type { EventReading } from '../../reading/answers/event-reading.ts';
import { readTransactions, type TransactionsAnswer } from '../../reading/answers/transaction-reading.ts';
import type { OpenRef } from '../../reading/open-ref.ts';
import type { Context } from '../context.ts';
import { operationLines } from '../render/operation-line.ts';
import { JsonList } from '../terminal/json-list.ts';

/** Prints the state operations of a history for `reprise replay --ops`: one per line, or one transaction per JSON line. */
export async function printTransactions(
  context: Context,
  { session, ref }: OpenRef,
  reading: EventReading,
  isVerbose: boolean,
): Promise<void> {
  const { out } = context;
  const { currentNamespace: namespace } = await context.open();
  const list = new JsonList<TransactionsAnswer, 'transactions'>(out, { ref: refText(ref) }, 'transactions');
  let count = 0;
  for await (const transaction of readTransactions(session, reading)) {
    if (out.json === 'object') await list.add(transaction);
    else if (out.json !== undefined) await out.value(transaction);
    else await out.lines(operationLines(transaction, { namespace, isVerbose }));
    count += 1;
  }
  if (out.json === 'object') await list.end({});
  if (count === 0) out.say('No state was committed.');
}
