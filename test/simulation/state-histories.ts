import fc from 'fast-check';
import { openWith } from '../../src/open-reprise.ts';
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
/** Random histories of state. */
export const histories: fc.Arbitrary<StateCommand[]> = fc.array(command, { minLength: 1, maxLength: 25, size: 'max' });

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
/** Histories of few keys in which reverts are taken back again and again. */
export const changed: fc.Arbitrary<StateCommand[]> = fc.array(crowded, { minLength: 8, maxLength: 30, size: 'max' });

const erasing = fc.constantFrom<StateCommand[0][]>('commit', 'commit', 'commit', 'commit', 'revert', 'insert', 'erase');
const forgetful = fc.tuple(erasing, fc.constant(0), fc.nat(60), oneKey);
/** Histories of few keys in which commits are erased. */
export const forgotten: fc.Arbitrary<StateCommand[]> = fc.array(forgetful, {
  minLength: 8,
  maxLength: 30,
  size: 'max',
});

/** Does everything to a new session of a store, and checks every point of it. */
export async function runAll(store: string, commands: readonly StateCommand[]): Promise<void> {
  await using reprise = await openWith({ store, durability: 'process' }, { snapshotEvents: 2 });
  const run = new StateRun(await reprise.createSession());
  for (const one of commands) await run.run(one);
  await run.checkAll();
}
