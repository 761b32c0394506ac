import fc from 'fast-check';
import { describe, it } from 'vitest';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';
import { changed, forgotten, histories, runAll } from './state-histories.ts';

describe('any state, committed, forked, edited, rewound, reverted and redone in any order', () => {
  it('I1 I6 fold(replay) == scan at every point on the memory store', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (commands) => runAll('memory:', commands)),
      { numRuns: runCount() },
    );
  });

  it('a number is the last that history shows with it, also when reverts are taken back again and again', async () => {
    await fc.assert(
      fc.asyncProperty(changed, (commands) => runAll('memory:', commands)),
      { numRuns: runCount() },
    );
  });

  it('a number is the last that history shows with it, also where commits were erased', async () => {
    await fc.assert(
      fc.asyncProperty(forgotten, (commands) => runAll('memory:', commands)),
      { numRuns: runCount() },
    );
  });

  it('I1 I6 fold(replay) == scan at every point on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, (commands) => runAll(`sqlite:${freshPath()}`, commands)),
        { numRuns: runCount(1 / 3) },
      ),
    ));
});
