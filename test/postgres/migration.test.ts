/** A schema is changed under a load, by several at once, and in spite of being killed in the middle. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { Migration } from '../../src/store/postgres/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { migrations } from '../../src/store/postgres/schema.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { breakingRelease, nextRelease } from './next-release.ts';
import { newPlace, tamper } from './place.ts';

const platform = createNodePlatform();
const filled = 15_000;
/** Generous: a busy machine may stop a writer for a while whatever the server does. */
const stallMsMax = 2_000;
const refOf = (writer: number) => ({ namespace: 'default', session: `s${writer}` });

function opened(url: string, held: readonly Migration[] = migrations, busyWaitMs = 60_000): Promise<EventStore> {
  return openPostgresStore({ url, platform, migrations: held, busyWaitMs });
}

/** A store of the present release with many events in it. */
async function filledPlace(events: number = filled): Promise<{ readonly place: string; readonly store: EventStore }> {
  const place = newPlace();
  const store = await opened(place);
  for (let writer = 0; writer < 3; writer++) await store.createSession(refOf(writer), { root: 'main', seed: 'x' });
  const text = 'filled '.repeat(20);
  for (let from = 0; from < events; from += 5_000)
    await store.append([
      request(
        refOf(0),
        Array.from({ length: Math.min(5_000, events - from) }, () => note(text)),
      ),
    ]);
  return { place, store };
}

/** Writers that append one event after the other until they are told to stop. */
function startWriters(store: EventStore): () => Promise<{ readonly appended: number; readonly longestMs: number }> {
  let isDone = false;
  let appended = 0;
  let longestMs = 0;
  const writing = Promise.all(
    [0, 1, 2].map(async (writer) => {
      while (!isDone) {
        const began = performance.now();
        const [outcome] = await store.append([request(refOf(writer), [note('while it is migrated')])]);
        if (outcome?.ok !== true) throw outcome?.error ?? new Error('It was not appended');
        longestMs = Math.max(longestMs, performance.now() - began);
        appended++;
      }
    }),
  );
  return async () => {
    isDone = true;
    await writing;
    return { appended, longestMs };
  };
}

const changesOf = (place: string) =>
  tamper<{ version: number; done: number; finished: boolean }>(
    place,
    'SELECT version, done, at IS NOT NULL AS finished FROM schema_changes ORDER BY version',
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

it('a large store is migrated while programs of the release before append: none fails, none waits for long', async () => {
  const { place, store } = await filledPlace();
  const stop = startWriters(store);
  const began = performance.now();
  const next = await opened(place, nextRelease);
  const took = performance.now() - began;
  const { appended, longestMs } = await stop();
  console.info(
    `Migrated ${filled} events in ${Math.round(took)} ms; ${appended} appends meanwhile, the longest ${Math.round(longestMs)} ms`,
  );
  await expectNextSchema(place);
  expect(appended).toBeGreaterThan(10);
  expect(longestMs).toBeLessThan(stallMsMax);
  const heads = await Promise.all(
    [0, 1, 2].map(async (writer) => (await next.branch({ ...refOf(writer), branch: 'main' }))?.head ?? 0),
  );
  expect(heads.reduce<number>((sum, head) => sum + head, 0)).toBe(filled + appended);
  // Programs of the release before may also be started anew, until the last machine is updated.
  const old = await opened(place);
  expect((await old.append([request(refOf(1), [note('after it')])]))[0]?.ok).toBe(true);
  for (const held of [store, next, old]) await held.close();
});

it('a change that needs a lock which somebody holds for long lets writers pass, and gives up with "store.busy"', async () => {
  const { place, store } = await filledPlace(10);
  const reading = tamper(place, 'BEGIN; SELECT count(*) FROM events; SELECT pg_sleep(4); COMMIT');
  await sleep(500);
  const stop = startWriters(store);
  await expect(opened(place, nextRelease, 1_500)).rejects.toMatchObject({ code: 'store.busy' });
  const { appended, longestMs } = await stop();
  console.info(`${appended} appends while a change did not get its lock, the longest ${Math.round(longestMs)} ms`);
  expect(appended).toBeGreaterThan(10);
  expect(longestMs).toBeLessThan(stallMsMax);
  expect(await changesOf(place)).toEqual(finished.slice(0, 1));
  await reading;
  const next = await opened(place, nextRelease);
  await expectNextSchema(place);
  for (const held of [store, next]) await held.close();
});

it('a migration that is killed in the middle, wherever that is, is gone on with by the next who opens the store', async () => {
  const { place, store } = await filledPlace();
  const stop = startWriters(store);
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
  const { longestMs } = await stop();
  console.info(`Killed after ${reached.join(', ')} of 5 changes; the longest append took ${Math.round(longestMs)} ms`);
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
  const { place, store } = await filledPlace(5_000);
  const all = Array.from({ length: 3 }, () => startMigrating(place).ended);
  expect(await Promise.all(all)).toEqual([0, 0, 0]);
  await expectNextSchema(place);
  await store.close();
});

it('whoever waits for a migration for too long is told so', async () => {
  const { place, store } = await filledPlace(0);
  const schema = new URL(place).searchParams.get('schema') ?? '';
  const holding = tamper(place, `SELECT pg_advisory_lock(1382051443, hashtext('${schema}')), pg_sleep(2)`);
  await sleep(500);
  const waiting = opened(place, nextRelease, 300);
  await expect(waiting).rejects.toMatchObject({ code: 'store.busy', message: expect.stringContaining('migrating') });
  await holding;
  await store.close();
});

it('a program of a release that a migration leaves behind is told so with "store.newer", also one that has the store open', async () => {
  const { place, store } = await filledPlace(10);
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
