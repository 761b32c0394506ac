import { statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { openReprise } from '../../../src/index.ts';
import { freshPaths } from './place.ts';

const newPath = freshPaths();

test('a long history is read in many turns of the event loop, so that timers and signals are heard', async () => {
  await using reprise = await openReprise({ store: `sqlite:${newPath()}`, durability: 'process' });
  const session = await reprise.createSession('long');
  for (let batch = 0; batch < 20; batch++) {
    await session.append(
      Array.from({ length: 1_000 }, (_, index) => ({ type: 'note.added', data: { text: `${index} `.repeat(50) } })),
    );
  }
  let turns = 0;
  let isReading = true;
  const turn = (): void => {
    turns += 1;
    if (isReading) setImmediate(turn);
  };
  setImmediate(turn);
  let events = 0;
  for await (const _ of session.replay()) events += 1;
  isReading = false;
  expect(events).toBe(20_000);
  expect(turns).toBeGreaterThan(4);
});

/** Bytes of the heap that something still holds. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('a replay holds no more at the end of a long history than at its beginning', async () => {
  await using reprise = await openReprise({ store: `sqlite:${newPath()}`, durability: 'process' });
  const session = await reprise.createSession('long');
  for (let batch = 0; batch < 40; batch++) {
    await session.append(
      Array.from({ length: 1_000 }, (_, at) => ({ type: 'note.added', data: { text: `${batch}-${at} `.repeat(80) } })),
    );
  }
  let events = 0;
  let atBeginning = 0;
  for await (const _ of session.replay()) if (++events === 4_000) atBeginning = heldBytes();
  expect(events).toBe(40_000);
  // All payloads together are 20 MB.
  expect(heldBytes() - atBeginning).toBeLessThan(5_000_000);
});

test('appends of one turn of the event loop share a transaction', async () => {
  const written = async (isTogether: boolean): Promise<number> => {
    const path = newPath();
    await using reprise = await openReprise({ store: `sqlite:${path}` });
    const session = await reprise.createSession('busy');
    const before = statSync(`${path}-wal`).size;
    const appends: Promise<unknown>[] = [];
    for (let count = 0; count < 64; count++) {
      const append = session.append({ type: 'note.added', data: { text: `${count}` } });
      appends.push(append);
      if (!isTogether) await append;
    }
    await Promise.all(appends);
    return statSync(`${path}-wal`).size - before;
  };
  // A transaction writes each page it changed once.
  expect(await written(true)).toBeLessThan((await written(false)) / 4);
});
