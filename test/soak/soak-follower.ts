// Follows branches: node soak-follower.ts URL FILE PLACE…
// Every event it sees is a line of FILE; started again, it goes on after the last. Its standard input has heads as JSON on
// one line; it ends when it has seen them all.

import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { openReprise, type Reprise, RepriseError } from '../../src/index.ts';
import { readTold, writeError, writeTold } from './soak-report.ts';

const [url = '', file = '', ...places] = process.argv.slice(2);
const seen = new Map(places.map((place) => [place, 0]));
for (const { place, seq } of readTold(file).told) seen.set(place, seq);

const stop = new AbortController();
let heads: Readonly<Record<string, number>> | undefined;
const isDone = (): boolean =>
  heads !== undefined && Object.entries(heads).every(([place, head]) => (seen.get(place) ?? 0) >= head);
createInterface({ input: process.stdin }).on('line', (line) => {
  heads = JSON.parse(line) as Readonly<Record<string, number>>;
  if (isDone()) stop.abort();
});

async function follow(reprise: Reprise, place: string): Promise<void> {
  const [id = '', branch = ''] = place.split('/');
  const session = await reprise.session(id);
  const after = seen.get(place) ?? 0;
  for await (const event of session
    .branch(branch)
    .replay({ history: 'raw', after, follow: true, signal: stop.signal })) {
    writeTold(file, { place, seq: event.seq, id: event.id, digest: event.digest, at: Date.now(), ms: 0 });
    seen.set(place, event.seq);
    if (isDone()) stop.abort();
  }
}

/** Goes on after what ended because the store could not be reached for longer than the wait. */
async function going(work: () => Promise<void>): Promise<void> {
  while (!stop.signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof RepriseError) || !error.code.startsWith('store.')) throw error;
      writeError(file, error.code);
      await sleep(100);
    }
  }
}

await going(async () => {
  await using reprise = await openReprise(url);
  await Promise.all(places.map((place) => going(() => follow(reprise, place))));
});
process.stdin.destroy();
