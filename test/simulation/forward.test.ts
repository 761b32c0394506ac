import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forwardFleets, runFleets } from './forward-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

describe('fleets whose agents are functions of their surface, run forward with anything changed', () => {
  it('repeating what did not change gives what running everything gives', async () => {
    const totals = { live: 0, reused: 0 };
    await fc.assert(
      fc.asyncProperty(forwardFleets, async (made) => {
        const { live, reused } = await runFleets('memory:', made);
        totals.live += live;
        totals.reused += reused;
      }),
      { numRuns: runCount() },
    );
    expect(totals.live).toBeGreaterThan(0);
    expect(totals.reused).toBeGreaterThan(0);
  });

  it('and on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(forwardFleets, async (made) => void (await runFleets(`sqlite:${freshPath()}`, made))),
        { numRuns: runCount(1 / 5) },
      ),
    ));
});
