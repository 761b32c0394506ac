import { expect, test } from 'vitest';
import { load, loadLines } from '../../bench/load.ts';

/** How long to go on; ten minutes unless told otherwise. */
const seconds = Number(process.env['REPRISE_SOAK_SECONDS'] ?? 600);

test('I2 acknowledged is forever: a server that is killed and cut off again and again loses and repeats nothing', async () => {
  const figures = await load({ writers: 8, followers: 4, seconds, kill: true, cut: true });
  for (const line of loadLines(figures)) console.log(line);
  expect([figures.lost, figures.repeated]).toEqual([0, 0]);
  expect([figures.kills, figures.cuts].every((count) => count > 0)).toBe(true);
});
