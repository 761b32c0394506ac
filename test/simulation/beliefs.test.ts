import fc from 'fast-check';
import { describe, it } from 'vitest';
import { beliefSessions, runBeliefs } from './belief-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

describe('any beliefs, committed, reverted, rewound, taken back, forked, edited and mutated in any order', () => {
  it('I3 I6 are what the slow model says at every turn and seq on the memory store', async () => {
    await fc.assert(
      fc.asyncProperty(beliefSessions, (made) => runBeliefs('memory:', made)),
      { numRuns: runCount() },
    );
  });

  it('I3 I6 are what the slow model says at every turn and seq on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(beliefSessions, (made) => runBeliefs(`sqlite:${freshPath()}`, made)),
        { numRuns: runCount(1 / 3) },
      ),
    ));
});
