import fc from 'fast-check';
import { expect } from 'vitest';
import type { Reprise } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import type { EventStore, Platform } from '../../src/store.ts';
import { expectSameSessions, type StorePlace } from '../contract/same-history.ts';
import { type ForgetCommand, ForgettingRun } from './forgetting-run.ts';

const kind = fc.constantFrom<ForgetCommand[0][]>(
  'say',
  'say',
  'call',
  'call',
  'state',
  'describe',
  'quote',
  'fork',
  'fork',
  'replace',
  'insert',
  'revert',
  'rewind',
  'redo',
  'erase',
);
const command: fc.Arbitrary<ForgetCommand> = fc.tuple(kind, fc.nat(30), fc.nat(60), fc.nat(11));

/** The life of a session, and after how much of it the first copy is made. */
export const copiedHistories: fc.Arbitrary<readonly [readonly ForgetCommand[], number]> = fc.tuple(
  fc.array(command, { minLength: 5, maxLength: 40, size: 'max' }),
  fc.nat(40),
);

/**
 * Records a session, copies it from each store to the next, goes on, and copies again: each store goes on from what it
 * got the last time, also where something was erased since. Gives the texts that were erased.
 */
export async function runCopies(
  stores: readonly EventStore[],
  platform: Platform,
  [commands, cut]: readonly [readonly ForgetCommand[], number],
): Promise<ReadonlySet<string>> {
  const places = stores.map((store): StorePlace => ({ store, namespace: 'default' }));
  const opened: Reprise[] = [];
  for (const store of stores) opened.push(await openWith({ store, platform }, { snapshotEvents: 2 }));
  const [from, last] = [opened[0] as Reprise, opened.at(-1) as Reprise];
  const run = new ForgettingRun([await from.createSession('s'), await from.session('s')]);
  for (const part of [commands.slice(0, cut), commands.slice(cut)]) {
    for (const each of part) await run.run(each);
    for (const [index, next] of opened.slice(1).entries()) await (opened[index] as Reprise).copy(next);
    for (const place of places.slice(1)) await expectSameSessions(places[0] as StorePlace, place);
    expect((await from.copy(last)).sessions).toMatchObject([{ outcome: 'unchanged', written: 0 }]);
  }
  for (const one of opened) await one.close();
  return run.forgotten;
}
