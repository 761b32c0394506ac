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
