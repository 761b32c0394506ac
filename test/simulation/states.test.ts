import fc from 'fast-check';
import { describe, it } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { onFreshFiles } from './scratch.ts';
import { type StateCommand, StateRun } from './state-run.ts';

const kind = fc.constantFrom<StateCommand[0][]>(
  'commit',
  'commit',
  'commit',
  'commit',
  'commit',
  'replace',
  'revert',
  'rewind',
  'rewindToTurn',
  'redo',
  'fork',
);
const command: fc.Arbitrary<StateCommand> = fc.tuple(kind, fc.nat(20), fc.nat(60), fc.nat(210));
const histories = fc.array(command, { minLength: 1, maxLength: 25, size: 'max' });

async function runAll(store: string, commands: readonly StateCommand[]): Promise<void> {
  await using reprise = await openReprise({ store, durability: 'process', snapshotEvents: 2 });
  const run = new StateRun(await reprise.createSession());
  for (const one of commands) await run.run(one);
  await run.checkAll();
}

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
