import childProcess from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { keptName } from '../../src/core/event/kept-name.ts';
import { upcastsVersion } from '../../src/core/event/upcast.ts';
import { beginning } from '../../src/core/point.ts';
import { sealValue } from '../../src/core/store/snapshot-seal.ts';
import type { AnyProjection } from '../../src/engine/proving/verify-snapshots.ts';
import {
  conversation,
  createNodePlatform,
  type EventDraft,
  openReprise,
  openSqliteStore,
  ownedKey,
  runs,
  type Session,
  summary,
} from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { innerProjections, shippedProjections } from '../../src/reading/shipped-projections.ts';
import type { EventStore } from '../../src/store.ts';
import { all } from '../verbs/verb-case.ts';
import { countingStore } from './counting-store.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-invariants-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const newPath = (): string => join(directory, `${files++}.db`);
const openStore = (path: string): Promise<EventStore> => openSqliteStore({ path, platform, durability: 'process' });
const ref = { namespace: 'default', session: 'demo' };
const note = (text: string): EventDraft => ({ type: 'note.added', data: { text } });
const write = (key: string, value: string): EventDraft => ({
  type: 'state.committed',
  data: { operations: [{ agent: 'default', key, op: 'write', value, version: 1 }] },
});

const setBack = '2001-01-01T00:00:00.000Z';

/** A history with state, calls, edits, a rewind, forks and an erasure. */
async function live(session: Session): Promise<void> {
  await session.setMetadata({ owner: 'ann' });
  for (let index = 0; index < 30; index++) {
    await session.append([
      write(`key ${index % 5}`, `value number ${index} of this history`),
      { type: 'call.started', data: { call: `c${index}`, kind: 'tool', name: 'look', input: { index } } },
      { type: 'belief.committed', data: { claim: `claim ${index}`, topic: `topic ${index % 3}` } },
    ]);
  }
  const branch = await session.fork('main@40', {
    name: 'x',
    metadata: { why: 'test' },
    edits: [
      { kind: 'replace', seq: 2, event: write('key 0', 'replaced on the branch x') },
      { kind: 'insert', after: 5, event: write('inserted', 'by an edit of the branch') },
    ],
  });
  await branch.append(write('key 1', 'written on the branch x'));
  await session.rewind(60);
  await session.append(write('key 2', 'written after the rewind'));
  await session.append(Array.from({ length: 120 }, () => ({ ...note('by a clock that was set back'), time: setBack })));
  await session.erase('main@20');
  await session.erase('x@44');
}

/** Everything that indexes, snapshots and heads answer. */
async function answersOf(store: EventStore, session: Session): Promise<unknown> {
  const answers: unknown[] = [await session.tree(), (await store.session(ref))?.erasures];
  for (const { branch, parent, head } of await store.branches(ref)) {
    const at = { branch };
    const own = { branch, after: parent?.seq ?? beginning, through: head, except: [], carried: false };
    const found = await store.latest(ref, [own], { prefix: '' }, { limit: 1_000, select: 'full' });
    answers.push(found.entries.map(({ key, event }) => [key, event.seq, event.erased, event.data]));
    answers.push(await session.at(at).metadata(), await session.at(at).fingerprint(), await session.at(at).verify());
    for (const projection of [summary, runs, conversation])
      answers.push(await session.at(at).fold(projection as typeof summary));
    answers.push(await all(session.at(at).replay()));
    answers.push(await session.at({ branch, time: setBack }).locate(), await session.at({ branch, turn: 0 }).locate());
    const key = ownedKey('state', 'default', 'key 1');
    answers.push(
      await session
        .branch(branch)
        .append(note('never written'), { unchanged: { since: 1, keys: [key] } })
        .then(
          () => 'written',
          (error: { readonly code: string; readonly details: unknown }) => [error.code, error.details],
        ),
    );
  }
  return answers;
}

describe('I1 the log is the truth', () => {
  test('with the key index, snapshots and receipts gone, building anew gives the same answers', async () => {
    const path = newPath();
    let before: unknown;
    {
      const store = await openStore(path);
      await using reprise = await openWith({ store, platform }, { snapshotEvents: 8 });
      const session = await reprise.createSession('demo');
      await live(session);
      before = await answersOf(store, session);
    }
    const database = new DatabaseSync(path);
    const held = database
      .prepare(`SELECT (SELECT count(*) FROM event_keys) AS keys, (SELECT count(*) FROM snapshots) AS kept,
          (SELECT count(*) FROM clocks) AS clocks`)
      .get();
    expect(held).toMatchObject({ keys: expect.any(Number), kept: expect.any(Number), clocks: expect.any(Number) });
    expect(Math.min(...Object.values(held as Record<string, number>))).toBeGreaterThan(0);
    database.exec(`DELETE FROM event_keys; DELETE FROM snapshots; DELETE FROM receipts; DELETE FROM clocks;
      INSERT INTO event_keys VALUES (1, 'state' || char(1) || 'default' || char(1) || 'key 1', 3)`);
    database.close();
    const store = await openStore(path);
    await using reprise = await openWith({ store, platform }, { snapshotEvents: 8 });
    const session = await reprise.session('demo');
    expect(await answersOf(store, session)).not.toEqual(before);
    await store.reindex(ref);
    expect(await answersOf(store, session)).toEqual(before);
  });
});

describe('I3 looking is pure', () => {
  test('a snapshot that was kept under other upcasts is not read', async () => {
    const store = await openStore(newPath());
    await using reprise = await openWith({ store, platform }, { snapshotEvents: 2 });
    const session = await reprise.createSession('demo');
    await session.append(note('a'));
    const { seq, digest } = await session.locate();
    for (const { name, version = '' } of [runs, summary]) {
      const key = { projection: name, version, upcasts: upcastsVersion + 1, erasures: 0 };
      const place = { ...key, branch: 'main', seq, digest };
      await store.putSnapshot(ref, { ...place, value: sealValue(platform.sha256, place, '{"notes":7}') });
    }
    for (const projection of [runs, summary])
      expect(await session.fold(projection as AnyProjection)).toEqual(
        await session.fold(projection as AnyProjection, { snapshots: false }),
      );
  });

  test('every shipped projection is kept under its own name, and a copy of it is not', () => {
    const shipped = [...shippedProjections(platform.sha256).map(({ projection }) => projection), ...innerProjections];
    for (const projection of shipped) {
      expect(keptName(projection)).toBe(projection.name);
      expect(keptName({ ...projection })).toBe(`own:${projection.name}`);
    }
  });
});

describe('I4 a fork copies nothing', () => {
  /** Counts what a fork in the middle of a history writes: rows, pages, and calls of the store. */
  async function costOf(events: number): Promise<{
    readonly rows: Record<string, number>;
    readonly bytes: number;
    readonly calls: Record<string, number>;
  }> {
    const path = newPath();
    await recordWrites(path, events);
    const { store, calls } = countingStore(await openStore(path));
    await using reprise = await openReprise({ store, platform });
    const session = await reprise.session('demo');
    const before = { rows: rowsOf(path), calls: { ...calls }, bytes: bytesOf(path) };
    await session.at({ seq: events / 2 }).fork({ name: 'x', edits: [{ kind: 'append', event: note('z') }] });
    const after = rowsOf(path);
    const rows = Object.fromEntries(
      Object.entries(after).map(([table, count]) => [table, count - (before.rows[table] ?? 0)]),
    );
    const counted = Object.fromEntries(
      Object.entries(calls).map(([name, count]) => [name, count - (before.calls[name as keyof typeof calls] ?? 0)]),
    );
    return { rows, bytes: bytesOf(path) - before.bytes, calls: counted };
  }

  /** Closed when it is done, so that what is kept of it is kept before anything is counted. */
  async function recordWrites(path: string, events: number): Promise<void> {
    await using reprise = await openReprise({ store: await openStore(path), platform });
    const session = await reprise.createSession('demo');
    for (let from = 0; from < events; from += 500)
      await session.append(
        Array.from({ length: 500 }, (_, index) =>
          index % 2 === 0 ? write(`k${index}`, 'x'.repeat(100)) : note('y'.repeat(600)),
        ),
      );
  }

  function rowsOf(path: string): Record<string, number> {
    const database = new DatabaseSync(path, { readOnly: true });
    const tables = ['branches', 'events', 'event_keys', 'parts', 'part_holders', 'snapshots'];
    const counts = tables.map(
      (table) =>
        [table, (database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { readonly n: number }).n] as const,
    );
    database.close();
    return Object.fromEntries(counts);
  }

  /** The pages the database has, wherever they are. */
  function bytesOf(path: string): number {
    expect(statSync(path).isFile()).toBe(true);
    const database = new DatabaseSync(path, { readOnly: true });
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { readonly page_count: number };
    database.close();
    return pages * 8_192;
  }

  test('its rows, bytes and calls of the store do not grow with history', async () => {
    const short = await costOf(500);
    const long = await costOf(20_000);
    // The one key is that of the appended event: `redo` finds it by that.
    expect(long.rows).toEqual({ branches: 1, events: 2, event_keys: 1, parts: 0, part_holders: 0, snapshots: 0 });
    expect(short.rows).toEqual(long.rows);
    expect(long.calls).toEqual(short.calls);
    expect(Math.max(long.bytes, short.bytes)).toBeLessThanOrEqual(3 * 8_192);
  });
});

describe('I5 nothing goes live silently', () => {
  test('looking at recorded calls, as they were or as they might have been, runs nothing and writes nothing', async () => {
    const connect = vi.spyOn(Socket.prototype, 'connect').mockImplementation(() => {
      throw new Error('a look went out');
    });
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(() => {
      throw new Error('a look went out');
    });
    const spawned = vi.spyOn(childProcess, 'spawn').mockImplementation(() => {
      throw new Error('a look started a program');
    });
    try {
      const { store, calls } = countingStore(await openStore(newPath()));
      await using reprise = await openReprise({ store, platform });
      const session = await reprise.createSession('demo');
      const call = { call: 'c1', kind: 'tool', name: 'refund' };
      await session.append([
        { type: 'message.added', data: { message: { role: 'user', content: 'Refund order 7' } } },
        { type: 'call.started', data: { ...call, effect: 'irreversible', input: { order: 7, amount: 500 } } },
        { type: 'call.ended', data: { ...call, outcome: 'ok', output: { refunded: true } } },
        {
          type: 'call.started',
          data: { call: 'c2', kind: 'http', name: 'POST https://example.com/pay', effect: 'unknown' },
        },
      ]);
      const before = { ...calls };
      const head = (await session.locate()).digest;
      const edits = [{ kind: 'toolInput' as const, call: 'c1', input: { order: 7, amount: 1 } }];
      for (const projection of [conversation, runs, summary]) {
        await session.fold(projection as typeof summary);
        await session.fold(projection as typeof summary, { edits });
        await session.counterfactual(projection as typeof summary, { exclude: [2] });
      }
      await all(session.replay());
      await all(reprise.replay());
      await reprise.diff('demo@2', 'demo');
      await session.fingerprint();
      await session.toJSON();
      await session.verify();
      for (const method of ['append', 'erase', 'createSession', 'deleteSession', 'putReceipt', 'reindex'] as const)
        expect(calls[method] ?? 0, method).toBe(before[method] ?? 0);
      expect((await session.locate()).digest).toBe(head);
      for (const door of [connect, fetched, spawned]) expect(door).not.toHaveBeenCalled();
      // A call that never ended stays open: nobody makes an answer up for it.
      expect(JSON.stringify(await session.fold(runs))).toContain('c2');
      expect(await session.find({ types: ['call.ended'], fields: [{ key: 'call', pattern: '^c2$' }] })).toBeUndefined();
    } finally {
      vi.restoreAllMocks();
    }
  });
});
