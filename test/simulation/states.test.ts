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
  'insert',
  'revert',
  'rewind',
  'rewindToTurn',
  'redo',
  'fork',
);
const command: fc.Arbitrary<StateCommand> = fc.tuple(kind, fc.nat(20), fc.nat(60), fc.nat(210));
const histories = fc.array(command, { minLength: 1, maxLength: 25, size: 'max' });

const changing = fc.constantFrom<StateCommand[0][]>(
  'commit',
  'commit',
  'commit',
  'revertRecent',
  'revertRecent',
  'revertRecent',
  'redo',
);
const oneKey = fc.constantFrom(1, 13, 25, 49);
const crowded = fc.tuple(changing, fc.constant(0), fc.nat(60), oneKey);
const changed = fc.array(crowded, { minLength: 8, maxLength: 30, size: 'max' });
const erasing = fc.constantFrom<StateCommand[0][]>('commit', 'commit', 'commit', 'commit', 'revert', 'insert', 'erase');
const forgetful = fc.tuple(erasing, fc.constant(0), fc.nat(60), oneKey);
const forgotten = fc.array(forgetful, { minLength: 8, maxLength: 30, size: 'max' });

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

  it('a number is the last that history shows with it, also when reverts are taken back again and again', async () => {
    await fc.assert(
      fc.asyncProperty(changed, (commands) => runAll('memory:', commands)),
      { numRuns: runs },
    );
  });

  it('a number is the last that history shows with it, also where commits were erased', async () => {
    await fc.assert(
      fc.asyncProperty(forgotten, (commands) => runAll('memory:', commands)),
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
