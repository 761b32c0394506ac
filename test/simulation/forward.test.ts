import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentTurn } from '../../src/fleet.ts';
import { openReprise } from '../../src/index.ts';
import { PortedModel } from './forward-model.ts';
import { holdAgainst, modelFleets } from './forward-model-run.ts';
import { forwardFleets, runFleets } from './forward-run.ts';
import { type ModelFleet, modelForward } from './grouped-model.ts';
import { hasReference, loadReference } from './reference-model.ts';
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
      { numRuns: runCount(1 / 3) },
    );
    expect(totals.live).toBeGreaterThan(0);
    expect(totals.reused).toBeGreaterThan(0);
  });

  it('and on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(forwardFleets, async (made) => void (await runFleets(`sqlite:${freshPath()}`, made))),
        { numRuns: runCount(1 / 15) },
      ),
    ));
});

describe('runs forward are what a slow program says: which turns run, because of what, and what stands', () => {
  it('as it is ported here', async () => {
    const totals = { live: 0, reused: 0 };
    await fc.assert(
      fc.asyncProperty(modelFleets, async (made) => {
        const { live, reused } = await holdAgainst(new PortedModel(), made);
        totals.live += live.length;
        totals.reused += reused.length;
      }),
      { numRuns: runCount(1 / 3) },
    );
    expect(totals.live).toBeGreaterThan(0);
    expect(totals.reused).toBeGreaterThan(0);
  });

  it('as the program itself has it', async (context) => {
    if (!hasReference) context.skip('the program is not beside this checkout');
    const createModel = await loadReference();
    await fc.assert(
      fc.asyncProperty(modelFleets, async (made) => void (await holdAgainst(createModel(), made))),
      { numRuns: runCount(1 / 10) },
    );
  });
});

/** Twenty agents in five groups: each sees the topics of its group, and says a digest of what it is given. */
const groupsOf = (says: ModelFleet['says']): ModelFleet => ({
  agents: Array.from({ length: 20 }, (_, index) => ({
    name: `agent-${index}`,
    topic: `t${index}`,
    scope: [0, 1, 2, 3].map((row) => `t${row * 5 + (index % 5)}`),
  })),
  says,
});

/** A digest of texts that often is the same for different ones, so that a change dies out on its way. */
const digest =
  (values: number): ModelFleet['says'] =>
  (turn, seen) => {
    let sum = turn % 3;
    for (const character of seen.join('|')) sum = (sum * 31 + character.charCodeAt(0)) % 1_009;
    return `says ${sum % values}`;
  };

/** Runs a fleet on the engine as the model does, and returns the turns that ran on a branch with a mutation. */
async function engineForward(
  { agents, says }: ModelFleet,
  untilTurn: number,
): Promise<ReturnType<typeof modelForward> & { readonly reused: number }> {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('forward');
  const onTurn: Record<string, (turn: AgentTurn) => Promise<void>> = {};
  for (const { name, topic, scope } of agents) {
    await session.spawn(name, { scope });
    onTurn[name] = async ({ self, turn }) => {
      const seen = (await self.beliefs.list()).map(({ agent, claim }) => `${agent}: ${claim}`).sort();
      await self.beliefs.commit({ topic, claim: says(turn, seen) });
    };
  }
  await session.runForward({ untilTurn, onTurn });
  const branch = await session.at({ story: 1 }).fork({ name: 'what-if' });
  await branch.mutate({ agent: 'agent-0', topic: 't0', claim: 'what if' });
  const { live, reused, stoppedBy } = await branch.runForward({ untilTurn, onTurn, reuseUnchanged: true });
  expect(stoppedBy).toBeUndefined();
  return {
    live: live.map(({ turn, agent }) => `${turn} ${agent}`),
    standing: (await branch.beliefs.list()).map(({ agent, claim }) => `${agent}: ${claim}`).sort(),
    reused: reused.length,
  };
}

describe('fifty turns of twenty agents in five groups, one belief mutated', () => {
  const mutation = { forkTurn: 1, agent: 'agent-0', topic: 't0', claim: 'what if' };

  it.each([
    ['every change is seen', digest(1_009)],
    ['most changes die out', digest(2)],
  ])('exactly the turns that the model runs, where %s', async (_, says) => {
    const fleet = groupsOf(says);
    const { reused, ...ran } = await engineForward(fleet, 50);
    const expected = modelForward(fleet, 50, mutation);
    expect(ran).toEqual(expected);
    expect(ran.live.length + reused).toBe(49 * 20);
    expect(ran.live.length, 'at most a fifth of all').toBeLessThanOrEqual((49 * 20) / 5);
    expect(ran.live.length).toBeGreaterThan(0);
  });
});
