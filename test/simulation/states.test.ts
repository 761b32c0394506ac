import fc from 'fast-check';
import { describe, it } from 'vitest';
import { onFreshFiles } from './scratch.ts';
import { histories, runAll } from './state-histories.ts';

describe('any state, committed, forked, edited, rewound, reverted and redone in any order', () => {
  const runs = Number(process.env['REPRISE_RUNS'] ?? 30);

  it('I1 I6 fold(replay) == scan at every point on the memory store', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (commands) => runAll('memory:', commands)),
      { numRuns: runs },
    );
  });

  it('I1 I6 fold(replay) == scan at every point on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, (commands) => runAll(`sqlite:${freshPath()}`, commands)),
        { numRuns: Math.ceil(runs / 3) },
      ),
    ));
});
