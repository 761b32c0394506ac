import fc from 'fast-check';
import { describe, it } from 'vitest';
import { openWith } from '../../src/open-reprise.ts';
import { type CauseCommand, CauseRun } from './cause-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

const kind = fc.constantFrom<CauseCommand[0][]>(
  'note',
  'note',
  'call',
  'call',
  'belief',
  'supersede',
  'replace',
  'replace',
  'revert',
  'revert',
  'rewind',
  'fork',
);
const commandOf = (kinds: fc.Arbitrary<CauseCommand[0]>): fc.Arbitrary<CauseCommand> =>
  fc.tuple(kinds, fc.nat(20), fc.nat(60), fc.boolean());
const historiesOf = (kinds: fc.Arbitrary<CauseCommand[0]>): fc.Arbitrary<CauseCommand[]> =>
  fc.array(commandOf(kinds), { minLength: 1, maxLength: 40, size: 'max' });

async function runAll(store: string, commands: readonly CauseCommand[]): Promise<void> {
  await using reprise = await openWith({ store, durability: 'process' }, { snapshotEvents: 2 });
  const run = new CauseRun(await reprise.createSession());
  for (const one of commands) await run.run(one);
}

const withRedo = historiesOf(fc.oneof(kind, fc.constant<CauseCommand[0]>('redo')));
const withState = historiesOf(fc.oneof(kind, fc.constant<CauseCommand[0]>('state')));

describe('histories whose events lead to each other', () => {
  const inMemory = (histories: fc.Arbitrary<CauseCommand[]>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(histories, (commands) => runAll('memory:', commands)),
      { numRuns: runCount() },
    );
  const onSqlite = (histories: fc.Arbitrary<CauseCommand[]>): Promise<void> =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, (commands) => runAll(`sqlite:${freshPath()}`, commands)),
        { numRuns: runCount(1 / 4) },
      ),
    );

  it('lose with what is reverted or excluded just what belongs to it, and name what stays', () => inMemory(withRedo));

  it('number each state version after the last one in the view', () => inMemory(withState));

  it('lose just what belongs to it on SQLite too', () => onSqlite(withRedo));

  it('number each state version after the last one in the view on SQLite too', () => onSqlite(withState));
});
