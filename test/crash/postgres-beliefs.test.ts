import { expect, test } from 'vitest';
import { newPlace } from '../postgres/place.ts';
import { beliefRun } from './belief-run.ts';

test('I2 B5 processes that commit beliefs to PostgreSQL are killed, and one side stands everywhere', async () => {
  expect(await beliefRun(newPlace())).toBeGreaterThanOrEqual(24);
});
