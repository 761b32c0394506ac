// Pays bills, each on its own branch of one session, when told to: node payer-child.ts PATH NAME BILLS

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type AgentFunction, openReprise, RepriseError } from '../../src/index.ts';

const [path = '', name = '', bills = '0'] = process.argv.slice(2);
await using reprise = await openReprise(`sqlite:${path}`);
const session = await reprise.session('demo');

/** Tries to pay a bill, and says whether it did. */
async function pay(bill: number): Promise<string> {
  let made = 0;
  const agent: AgentFunction<number> = ({ recorder }) =>
    recorder.call({ kind: 'tool', name: 'pay', effect: 'irreversible', input: { bill } }, async () => ++made);
  try {
    await session.branch(`${name}-${bill}`).resume(agent, { effects: 'once' });
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'effect.refused') throw error;
  }
  return made === 1 ? 'paid' : 'refused';
}

writeSync(1, 'ready\n');
let bill = 0;
for await (const _go of createInterface({ input: process.stdin })) {
  writeSync(1, `${await pay(bill++)}\n`);
  if (bill === Number(bills)) break;
}
