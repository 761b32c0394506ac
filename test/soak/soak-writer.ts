// Appends until its standard input says stop: node soak-writer.ts URL NAME FILE PLACE…
// Every append that was acknowledged is a line of FILE.

import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventDraft, openReprise, type Reprise, RepriseError } from '../../src/index.ts';
import { writeError, writeTold } from './soak-report.ts';

const [url = '', name = '', file = '', ...places] = process.argv.slice(2);
let isStopping = false;
process.stdin.once('data', () => {
  isStopping = true;
  process.stdin.destroy();
});

/** Appends and, as long as the store cannot be reached, appends the same again: its ids make that safe. */
async function append(reprise: Reprise, place: string, drafts: readonly EventDraft[]): Promise<void> {
  const [id = '', branch = ''] = place.split('/');
  const began = performance.now();
  for (;;) {
    try {
      const session = await reprise.session(id);
      const events = await session.branch(branch).append(drafts);
      const ms = Math.round(performance.now() - began);
      for (const event of events)
        writeTold(file, { place, seq: event.seq, id: event.id, digest: event.digest, at: Date.now(), ms });
      return;
    } catch (error) {
      if (!(error instanceof RepriseError) || !error.code.startsWith('store.')) throw error;
      writeError(file, error.code);
      await sleep(100);
    }
  }
}

/** One after the other, each on a place of its own choice. */
async function lane(reprise: Reprise, number: number, pick: () => string): Promise<void> {
  for (let count = 0; !isStopping; count++) {
    const drafts = Array.from({ length: randomInt(1, 4) }, (_, index): EventDraft => {
      const id = `${name}.${number}.${count}.${index}`;
      return { type: 'note.added', id, data: { text: `${id} ${'x'.repeat(randomInt(0, 900))}` } };
    });
    await append(reprise, pick(), drafts);
    await sleep(randomInt(0, 20));
  }
}

async function opened(): Promise<Reprise> {
  for (;;) {
    try {
      return await openReprise(url);
    } catch (error) {
      if (!(error instanceof RepriseError) || !error.code.startsWith('store.')) throw error;
      writeError(file, error.code);
      await sleep(100);
    }
  }
}

await using reprise = await opened();
const [one = '', ...many] = places;
// Two lanes meet on one branch, two spread over many.
await Promise.all([
  ...[0, 1].map((number) => lane(reprise, number, () => one)),
  ...[2, 3].map((number) => lane(reprise, number, () => many[randomInt(0, many.length)] ?? one)),
]);
