import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNodePlatform, type EventStore, openMemoryStore, openReprise, openSqliteStore } from '../../src/index.ts';
import { expectSameSessions } from '../contract/same-history.ts';
import { type ForgetCommand, ForgettingRun } from './forgetting-run.ts';
import { onFreshFiles } from './scratch.ts';

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
const histories = fc.array(command, { minLength: 5, maxLength: 40, size: 'max' });

async function runAll(freshPath: () => string, commands: readonly ForgetCommand[], cut: number): Promise<void> {
  const platform = createNodePlatform();
  const path = freshPath();
  const openFile = (file: string): Promise<EventStore> =>
    openSqliteStore({ path: file, platform, durability: 'process' });
  const places = [await openFile(freshPath()), openMemoryStore({ platform }), await openFile(path)].map((store) => ({
    store,
    namespace: 'default',
  }));
  const opened = await Promise.all(
    places.map(({ store }) => openReprise({ store, platform, snapshotEvents: 2, namespace: 'default' })),
  );
  const [from, middle, to] = opened as [(typeof opened)[0], (typeof opened)[0], (typeof opened)[0]];
  const run = new ForgettingRun([await from.createSession('s'), await from.session('s')]);
  for (const part of [commands.slice(0, cut), commands.slice(cut)]) {
    for (const each of part) await run.run(each);
    // Each store goes on from what it got the last time, also where something was erased since.
    await from.copy(middle);
    await middle.copy(to);
    for (const place of places.slice(1)) await expectSameSessions(places[0] as (typeof places)[0], place);
    expect((await from.copy(to)).sessions.map(({ outcome, written }) => [outcome, written])).toEqual([
      ['unchanged', 0],
    ]);
  }
  for (const one of opened) await one.close();
  const bytes = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file, 'latin1'));
  for (const text of run.forgotten) expect(bytes.join('').includes(text), `${text} in the copy`).toBe(false);
}

describe('a session that is copied, goes on, and is copied again', () => {
  const numRuns = Math.ceil(Number(process.env['REPRISE_RUNS'] ?? 40) / 2);

  it('I8 is event for event what it was in every store, and what was erased is nowhere in the copy', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(histories, fc.nat(40), (commands, cut) => runAll(freshPath, commands, cut)),
        { numRuns },
      ),
    ));
});
