import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Digest } from '../../../src/core/point.ts';
import { seq } from '../../../src/core/point.ts';
import type { EventStore, Platform } from '../../../src/core/store/event-store.ts';
import { openReprise } from '../../../src/index.ts';
import { createNodePlatform } from '../../../src/node/platform.ts';
import { openMemoryStore } from '../../../src/store/memory/memory-store.ts';
import { markersSql } from '../../../src/store/sqlite/catalogue.ts';
import { Database } from '../../../src/store/sqlite/database.ts';
import {
  append,
  fork,
  input,
  note,
  point,
  readAll,
  request,
  segment,
  seqsOf,
  valuePart,
} from '../../../src/testing/contract/contract-case.ts';
import { SqliteReads } from '../../sqlite-reads.ts';
import { until } from '../../until.ts';
import { freshPaths, open, openNew, ref } from './place.ts';

const freshPath = freshPaths();

function seededPlatform(): Platform {
  const machine = createNodePlatform();
  let count = 0;
  return {
    ...machine,
    now: () => '2026-11-15T10:00:00.000Z',
    newId: () => `id-${++count}`,
    newSalt: () => `salt-${++count}`,
  };
}

async function digests(store: EventStore, session: string): Promise<readonly Digest[]> {
  const world = { store, ref: { namespace: session, session } };
  await store.createSession(world.ref, { root: session, seed: 'the same seed' });
  const named = (text: string, id: string) => note(text, { id });
  await append(world, [named('a', '1'), named('b', '2')], { branch: session });
  await append(world, [{ ...input('branch.forked', { parent: { seq: 1 } }), id: '3' }, named('c', '4')], {
    target: { kind: 'fork', branch: `${session}-child`, parent: { branch: session, seq: seq(1) } },
  });
  const events = await readAll(world, [segment(session, 0, 9), segment(`${session}-child`, 0, 9)]);
  return events.map((event) => event.digest);
}

describe('what a SQLite store keeps', () => {
  it('has the same digests whatever the names of session and branch are, and in every kind of store', async () => {
    const path = freshPath();
    const one = await open(path, { platform: seededPlatform() });
    const two = await open(path, { platform: seededPlatform() });
    const memory = openMemoryStore({ platform: seededPlatform() });
    const [a, b, c] = [await digests(one, 'one'), await digests(two, 'another name'), await digests(memory, 'third')];
    expect(a.length).toBe(4);
    expect(b).toEqual(a);
    expect(c).toEqual(a);
    await Promise.all([one.close(), two.close()]);
  });

  it('holds no copy of an erased text, in the file or beside it', async () => {
    const path = freshPath();
    const world = await openNew(path);
    const secret = 'TOP-SECRET-TEXT';
    const part = await valuePart(JSON.stringify({ content: `${secret} in a part ${'x'.repeat(9_000)}` }));
    for (let round = 0; round < 30; round++)
      await append(
        world,
        Array.from({ length: 10 }, (_, index) => note(`filler ${round} ${index}`.repeat(20), { keys: [`k${index}`] })),
      );
    await append(world, [note(`${secret} inline`), note(`${secret} large ${'y'.repeat(30_000)}`)], { parts: [part] });
    await append(world, [
      input(
        'state.committed',
        { operations: [{ agent: 'a', key: secret, op: 'write', value: 1, version: 1 }] },
        { keys: [`state\u0001a\u0001${secret}`] },
      ),
    ]);
    for (let at = 1; at <= 40; at++) {
      await world.store.putSnapshot(ref, {
        projection: `p${at % 7}`,
        version: '1',
        upcasts: 0,
        erasures: 0,
        branch: 'main',
        seq: seq(at),
        digest: '' as Digest,
        value: `${secret} ${'z'.repeat(at * 50)}`,
      });
    }
    const found = () =>
      [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file) && readFileSync(file).includes(secret));
    expect(found()).not.toEqual([]);
    const marker = input('payload.erased', { seqs: [301, 302, 303], parts: [part.digest], keys: {} });
    const events = [301, 302, 303].map((at) => ({ branch: 'main', seq: seq(at), dataDigest: part.digest }));
    await world.store.erase({ ...ref, events, parts: [part.digest], rewrites: [], appends: [request(ref, [marker])] });
    expect(found()).toEqual([]);
    await world.store.close();
    expect(found()).toEqual([]);
  });

  it('holds no copy of a deleted session, in the file or beside it', async () => {
    const path = freshPath();
    const world = await openNew(path);
    const secret = 'TOP-SECRET-TEXT';
    await append(world, [note(`${secret} inline`), note(`${secret} large ${'y'.repeat(30_000)}`)]);
    const found = () =>
      [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file) && readFileSync(file).includes(secret));
    expect(found()).not.toEqual([]);
    await world.store.deleteSession(ref);
    expect(found()).toEqual([]);
    await world.store.close();
  });

  it('says that a reader holds the log with an erased text, and empties it when the reader is done', async () => {
    const path = freshPath();
    await using reprise = await openReprise({ store: `sqlite:${path}`, busyWaitMs: 0 });
    const session = await reprise.createSession('demo');
    const secret = 'TOP-SECRET-TEXT of a person';
    await session.append({ type: 'note.added', data: { text: secret } });
    const reader = new Database({ location: path, readOnly: true });
    reader.exec('BEGIN');
    reader.get('SELECT count(*) FROM events');
    const { remains } = await session.erase('main@1');
    expect(remains).toEqual([`the log "${path}-wal", which a reader holds`]);
    expect(readFileSync(`${path}-wal`).includes(secret)).toBe(true);
    reader.exec('COMMIT');
    reader.close();
    await until(() => !readFileSync(`${path}-wal`).includes(secret) && !readFileSync(path).includes(secret));
  });

  it('clears away what a deleted session left, also when the process ended in between', async () => {
    const path = freshPath();
    const world = await openNew(path);
    for (let batch = 0; batch < 20; batch++)
      await append(
        world,
        Array.from({ length: 500 }, (_, index) => note('x'.repeat(100), { keys: [`${batch}-${index}`] })),
      );
    const deleting = world.store.deleteSession(ref);
    await new Promise((resolve) => setImmediate(resolve));
    await world.store.close();
    await deleting.catch(() => undefined);
    const store = await open(path);
    expect(await store.session(ref)).toBeUndefined();
    await store.createSession(ref, { root: 'main', seed: 'new' });
    expect(seqsOf(await readAll({ store, ref }, [segment('main', 0, 99)]))).toEqual([]);
    const database = new Database({ location: path, readOnly: true });
    const left = () =>
      ['events', 'event_keys', 'branches', 'sessions'].map(
        (table) => database.get(`SELECT count(*) FROM ${table}`)?.[0],
      );
    // Nobody waits for the clearing but this test; it is done in the background, a little at a time.
    await expect.poll(left, { timeout: 20_000 }).toEqual([0, 0, 1, 1]);
    await store.close();
    database.close();
  });

  it('gives headers without reading large payloads', async () => {
    const { store } = await openNew(freshPath(), { durability: 'process' });
    const world = { store, ref };
    const large = 'x'.repeat(12_000_000);
    for (let index = 0; index < 4; index++) await append(world, [note(large)]);
    using reads = new SqliteReads();
    await readAll(world, [segment('main', 0, 4)], { select: 'header' });
    expect(reads.size).toBeLessThan(10_000);
    await readAll(world, [segment('main', 0, 4)], { select: 'full' });
    expect(reads.size, 'what is read is counted').toBeGreaterThan(4 * large.length);
    await store.close();
  });

  it('opens a branch of 50,000 events, forks it and looks up a key by reading what it needs, found by an index', async () => {
    const path = freshPath();
    const world = await openNew(path, { durability: 'process' });
    for (let batch = 0; batch < 50; batch++)
      await append(
        world,
        Array.from({ length: 1_000 }, () => note('x'.repeat(50), { keys: ['same'] })),
      );
    await world.store.close();
    const database = new Database({ location: path, readOnly: true });
    expect(JSON.stringify(database.all(`EXPLAIN QUERY PLAN ${markersSql}`, 1, 9))).toContain('events_markers');
    const view = [segment('main', 0, 50_000)];
    const page = { limit: 9, select: 'header' } as const;
    const works: ((store: EventStore) => Promise<unknown>)[] = [
      (store) => store.branch({ ...ref, branch: 'main' }),
      (store) => fork({ store, ref }, 'child', point('main', 25_000)),
      (store) => store.latest(ref, view, { keys: ['same'] }, page),
      (store) => store.latest(ref, view, { prefix: '' }, page),
    ];
    for (const work of works) {
      // Opened anew each time, so that nothing is remembered.
      const store = await open(path, { durability: 'process' });
      using reads = new SqliteReads();
      await work(store);
      expect(reads.rows).toBeLessThan(100);
      const plans = [...reads.statements]
        .filter((sql) => /^(SELECT|WITH)/i.test(sql))
        .map((sql) => JSON.stringify(database.all(`EXPLAIN QUERY PLAN ${sql}`)));
      expect(plans.filter((plan) => /SCAN (events|event_keys|parts)/.test(plan))).toEqual([]);
      await store.close();
    }
    database.close();
  });
});
