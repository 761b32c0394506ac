import fc from 'fast-check';
import { it } from 'vitest';
import { newPlace } from '../postgres/place.ts';
import { runCount } from './run-count.ts';
import { histories, runAll } from './state-histories.ts';

it('I1 I6 any state, committed, forked, edited, rewound, reverted and redone in any order: fold(replay) == scan at every point on PostgreSQL', async () => {
  const runs = runCount(1 / 10);
  const place = newPlace();
  await fc.assert(
    fc.asyncProperty(histories, (commands) => runAll(place, commands)),
    { numRuns: runs },
  );
});
