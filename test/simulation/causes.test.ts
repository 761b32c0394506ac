import fc from 'fast-check';
import { describe, it } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { type CauseCommand, CauseRun } from './cause-run.ts';

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

async function runAll(commands: readonly CauseCommand[]): Promise<void> {
  await using reprise = await openReprise({ store: 'memory:', snapshotEvents: 2 });
  const run = new CauseRun(await reprise.createSession());
  for (const one of commands) await run.run(one);
}

describe('histories whose events lead to each other', () => {
  const numRuns = Number(process.env['REPRISE_RUNS'] ?? 40);

  it('lose with what is reverted or excluded just what belongs to it, and name what stays', () =>
    fc.assert(fc.asyncProperty(historiesOf(fc.oneof(kind, fc.constant<CauseCommand[0]>('redo'))), runAll), {
      numRuns,
    }));

  it('number each state version after the last one in the view', () =>
    fc.assert(fc.asyncProperty(historiesOf(fc.oneof(kind, fc.constant<CauseCommand[0]>('state'))), runAll), {
      numRuns,
    }));
});
