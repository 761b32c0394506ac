/** A schema is changed under a load, by several at once, and in spite of being killed in the middle. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { until } from '../until.ts';
import { filled, filledPlace, opened, refOf, startWriters } from './migrating.ts';
import { breakingRelease, nextRelease } from './next-release.ts';
import { hold, newPlace, tamper } from './place.ts';

const changesOf = (place: string) =>
  tamper<{ version: number; done: number; finished: boolean }>(
    place,
    'SELECT version, done, at IS NOT NULL AS finished FROM schema_versions ORDER BY version',
  );
const finished = [
  { version: 1, done: 1, finished: true },
  { version: 2, done: 5, finished: true },
];

/** Whether everything that the invented release makes is there, whole. */
async function expectNextSchema(place: string): Promise<void> {
  expect(await changesOf(place)).toEqual(finished);
  const [index] = await tamper(
    place,
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'events_bytes'::regclass`,
  );
  const [constraint] = await tamper(
    place,
    `SELECT convalidated AS valid FROM pg_constraint WHERE conname = 'events_bytes_positive' AND conrelid = 'events'::regclass`,
  );
  expect([index, constraint]).toEqual([{ valid: true }, { valid: true }]);
  const [wrong] = await tamper(
    place,
    `SELECT count(*)::int AS count FROM events WHERE data_bytes <> octet_length(data)`,
  );
  expect(wrong).toEqual({ count: 0 });
}

function startMigrating(place: string): { readonly child: ChildProcess; readonly ended: Promise<number | null> } {
  const program = join(import.meta.dirname, 'migrate-child.ts');
  const child = spawn(process.execPath, [program, place], { stdio: ['ignore', 'ignore', 'inherit'] });
  return { child, ended: new Promise((resolve) => child.once('close', resolve)) };
}

// How long an append waits meanwhile is measured in test/soak/migration.test.ts.
it('a large store is migrated while programs of the release before append, and none fails', async () => {
  const { place, store } = await filledPlace(newPlace());
  const writers = startWriters(store);
  const next = await opened(place, nextRelease);
  const { appended } = await writers.stop();
  await expectNextSchema(place);
  expect(appended).toBeGreaterThan(10);
  const heads = await Promise.all(
    [0, 1, 2].map(async (writer) => (await next.branch({ ...refOf(writer), branch: 'main' }))?.head ?? 0),
  );
  expect(heads.reduce<number>((sum, head) => sum + head, 0)).toBe(filled + appended);
  // Programs of the release before may also be started anew, until the last machine is updated.
  const old = await opened(place);
  expect((await old.append([request(refOf(1), [note('after it')])]))[0]?.ok).toBe(true);
  for (const held of [store, next, old]) await held.close();
});

it('a change that needs a lock which somebody holds lets writers pass, gives up with "store.busy", and is made later', async () => {
  const { place, store } = await filledPlace(newPlace(), 10);
  const letGo = await hold(place, 'SELECT count(*) FROM events');
  const writers = startWriters(store);
  const migrating = opened(place, nextRelease);
  const before = writers.appended();
  // The change wants its lock all the while.
  await until(() => writers.appended() > before + 10);
  await expect(opened(place, nextRelease, 500)).rejects.toMatchObject({ code: 'store.busy' });
  expect(await changesOf(place)).toEqual(finished.slice(0, 1));
  await letGo();
  const next = await migrating;
  await writers.stop();
  await expectNextSchema(place);
  for (const held of [store, next]) await held.close();
});

it('a migration that is killed in the middle, wherever that is, is gone on with by the next who opens the store', async () => {
  const { place, store } = await filledPlace(newPlace());
  const writers = startWriters(store);
  const reached: number[] = [];
  // Kills once in each change that takes long enough to be met.
  for (let kills = 0; kills < 6; kills++) {
    const { child, ended } = startMigrating(place);
    await untilChanging(place, reached.at(-1) ?? -1);
    child.kill('SIGKILL');
    await ended;
    const [, migration] = await changesOf(place);
    if (migration?.finished === true) break;
    reached.push(migration?.done ?? 0);
  }
  expect(reached.length).toBeGreaterThan(0);
  const next = await opened(place, nextRelease);
  await writers.stop();
  await expectNextSchema(place);
  for (const held of [store, next]) await held.close();
});

/** Waits until a migration has come further than it was, and then a little. */
async function untilChanging(place: string, before: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const [, migration] = await changesOf(place);
    if (migration !== undefined && (migration.finished || migration.done > before)) break;
    await sleep(20);
  }
  await sleep(Math.random() * 60);
}

it('several processes that migrate at once do it once', async () => {
  const { place, store } = await filledPlace(newPlace(), 5_000);
  const all = Array.from({ length: 3 }, () => startMigrating(place).ended);
  expect(await Promise.all(all)).toEqual([0, 0, 0]);
  await expectNextSchema(place);
  await store.close();
});

it('a program that waits for a migration for too long gets "store.busy"', async () => {
  const { place, store } = await filledPlace(newPlace(), 0);
  const schema = new URL(place).searchParams.get('schema') ?? '';
  const letGo = await hold(place, `SELECT pg_advisory_xact_lock(1382051443, hashtext('${schema}'))`);
  const waiting = opened(place, nextRelease, 300);
  await expect(waiting).rejects.toMatchObject({ code: 'store.busy', message: expect.stringContaining('migrating') });
  await letGo();
  await store.close();
});

it('a program of a release that a migration leaves behind is told so with "store.newer", also one that has the store open', async () => {
  const { place, store } = await filledPlace(newPlace(), 10);
  const next = await opened(place, breakingRelease);
  await expect(opened(place)).rejects.toMatchObject({
    code: 'store.newer',
    message: expect.stringMatching(
      /^Cannot open the store at .*: its schema is version 2, this release knows up to 1$/,
    ),
    hint: expect.stringContaining('newer release'),
  });
  const [outcome] = await store.append([request(refOf(0), [note('too late')])]);
  expect(outcome?.ok === false && outcome.error.code).toBe('store.newer');
  await expect(store.branch({ ...refOf(0), branch: 'main' })).rejects.toMatchObject({ code: 'store.newer' });
  expect((await next.append([request(refOf(0), [note('in time')])]))[0]?.ok).toBe(true);
  for (const held of [store, next]) await held.close();
});
