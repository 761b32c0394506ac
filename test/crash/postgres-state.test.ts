import { expect, test } from 'vitest';
import { newPlace } from '../postgres/place.ts';
import { seedOfRun } from './random.ts';
import { stateRun } from './state-run.ts';

test('I2 B1 atomicity under a kill: transactions of several processes on one server, some of them killed, are whole, and as if they had run one after the other', async () => {
  const commits = await stateRun(newPlace(), { seed: seedOfRun(), writers: 3, rounds: 3 });
  expect(commits).toBeGreaterThan(10);
});
