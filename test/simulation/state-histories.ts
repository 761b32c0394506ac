import fc from 'fast-check';
import { openReprise } from '../../src/index.ts';
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
/** Random histories of state. */
export const histories: fc.Arbitrary<StateCommand[]> = fc.array(command, { minLength: 1, maxLength: 25, size: 'max' });

/** Does everything to a new session of a store, and checks every point of it. */
export async function runAll(store: string, commands: readonly StateCommand[]): Promise<void> {
  await using reprise = await openReprise({ store, durability: 'process', snapshotEvents: 2 });
  const run = new StateRun(await reprise.createSession());
  for (const one of commands) await run.run(one);
  await run.checkAll();
}
