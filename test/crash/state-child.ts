// Runs transactions until it is killed or told to end: node state-child.ts STORE NAME SEED
// Each transaction is announced before it begins and acknowledged when it is committed, a line of JSON each.

import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { openReprise, RepriseError, type Transaction } from '../../src/index.ts';
import { Random } from './random.ts';

const [store = '', name = '', seed = '0'] = process.argv.slice(2);
const random = new Random(Number(seed));
const say = (line: object): number => writeSync(1, `${JSON.stringify(line)}\n`);
// One clock for all processes of a machine.
const now = (): string => process.hrtime.bigint().toString();

const codeOf = (error: unknown): string => (error instanceof RepriseError ? error.code : '');
const isWorld = (error: unknown): boolean => codeOf(error).startsWith('store.');

/** A store that has gone away comes back. */
async function again<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isWorld(error)) throw error;
      await wait(50);
    }
  }
}

await using reprise = await again(() => openReprise({ store, busyWaitMs: 30_000 }));
const { state } = await again(() => reprise.session('demo'));
let ended = false;
process.stdin.on('end', () => {
  ended = true;
});
process.stdin.resume();
say({ kind: 'opened' });

/** Reads some keys and writes some, and writes down what it read and how many operations belong together. */
async function work(tx: Transaction): Promise<void> {
  const saw: Record<string, number> = {};
  const keys = random.below(4) === 0 ? [] : [`k${random.below(4)}`, `k${random.below(4)}`];
  for (const key of keys) saw[key] = (await tx.get(key)).version;
  let scanned: number | undefined;
  if (random.below(5) === 0) {
    scanned = 0;
    for await (const { version } of tx.scan('k')) scanned += version;
  }
  const written = [...new Set([`k${random.below(4)}`, `k${random.below(4)}`, `blind/${random.below(2)}`])];
  const counts =
    random.below(3) === 0 ? [((await tx.get('count')).value as { readonly n: number } | null)?.n ?? 0] : [];
  const size = written.length + counts.length + 1;
  // Others write meanwhile, so that a commit on an old value must be refused.
  await wait(random.below(20));
  for (const key of written)
    if (random.below(6) === 0) tx.delete(key);
    else tx.write(key, { by: name, text: 'x'.repeat(random.below(3_000)) });
  for (const count of counts) tx.write('count', { n: count + 1 });
  tx.write(`log/${name}`, { saw, size, ...(scanned === undefined ? {} : { scanned }) });
}

while (!ended) {
  const began = now();
  const tx = state.begin({ timeoutMs: 120_000 });
  try {
    await work(tx);
    say({ kind: 'began', txn: tx.txn });
    // Whether a store that has gone away has stored the transaction is found out by committing again.
    const { seq } = await again(() => tx.commit());
    say({ kind: 'committed', txn: tx.txn, seq, began, ended: now() });
  } catch (error) {
    tx.abort();
    // A transaction that could not read has written nothing either.
    if (isWorld(error)) continue;
    if (codeOf(error) !== 'state.conflict') throw error;
    say({ kind: 'conflict', txn: tx.txn });
  }
}
