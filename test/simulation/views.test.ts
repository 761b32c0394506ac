import fc from 'fast-check';
import { describe, it } from 'vitest';
import { openWith } from '../../src/open-reprise.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';
import { type Command, SessionRun } from './session-run.ts';

const kind = fc.constantFrom<Command[0][]>(
  'add',
  'add',
  'add',
  'add',
  'add',
  'replace',
  'insert',
  'revert',
  'rewind',
  'rewindToTurn',
  'redo',
  'redo',
  'fork',
  'erase',
  'append',
  'several',
);
const command: fc.Arbitrary<Command> = fc.tuple(kind, fc.nat(20), fc.nat(60), fc.nat(5));

const histories = fc.array(command, { minLength: 1, maxLength: 40, size: 'max' });

async function runAll(store: string, commands: readonly Command[]): Promise<void> {
  await using reprise = await openWith({ store, durability: 'process' }, { snapshotEvents: 2 });
  const run = new SessionRun(reprise, await reprise.createSession());
  for (const one of commands) await run.run(one);
  await run.checkAll();
}

describe('any history, forked, edited, rewound, reverted, redone and erased in any order', () => {
  it('I3 I4 I6 reads the same as the slow, obvious model on the memory store', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (commands) => runAll('memory:', commands)),
      { numRuns: runCount() },
    );
  });

  it('I3 I4 I6 reads the same as the slow, obvious model on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, (commands) => runAll(`sqlite:${freshPath()}`, commands)),
        { numRuns: runCount(1 / 2) },
      ),
    ));
});
