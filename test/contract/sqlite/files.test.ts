import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RepriseError } from '../../../src/core/error.ts';
import { Database } from '../../../src/store/sqlite/database.ts';
import type { Migration } from '../../../src/store/sqlite/migrate.ts';
import { migrations } from '../../../src/store/sqlite/schema.ts';
import {
  append,
  note,
  readAll,
  refused,
  rejects,
  request,
  segment,
  textsOf,
} from '../../../src/testing/contract/contract-case.ts';
import { freshPaths, open, openNew, ref, startReader } from './place.ts';

const freshPath = freshPaths();
const [first] = migrations as [Migration];
const second: Migration = {
  release: '0.2.0',
  version: 2,
  up: (database) => database.exec('ALTER TABLE sessions ADD COLUMN colour TEXT'),
};

describe('the file of a SQLite store', () => {
  it('is made with its directory, and not when that is not wanted', async () => {
    const path = freshPath();
    await rejects(open(path, { create: false }), 'store.not-found');
    await rejects(open(path, { readOnly: true }), 'store.not-found');
    expect(existsSync(dirname(path))).toBe(false);
    await (await open(path)).close();
    await (await open(path, { create: false })).close();
  });

  it.each([
    ['removed', (path: string) => rmSync(path)],
    ['moved', (path: string) => renameSync(path, `${path}.away`)],
    ['replaced', (path: string) => (renameSync(path, `${path}.away`), writeFileSync(path, ''))],
  ])('I2 acknowledges nothing after it was %s while it was open', async (_, change) => {
    const path = freshPath();
    const world = await openNew(path);
    await append(world, [note('before')]);
    change(path);
    for (let count = 0; count < 20; count++) await refused(world, 'store.moved', [note(`lost ${count}`)]);
    const three = await world.store.append([1, 2, 3].map((at) => request(ref, [note(`together ${at}`)])));
    expect(three.map((outcome) => outcome.ok)).toEqual([false, false, false]);
    await rejects(world.store.deleteSession(ref), 'store.moved');
    await world.store.close();
  });

  it('is followed by a reader without rights to its directory while a writer has it open', async () => {
    const path = freshPath();
    const world = await openNew(path);
    await append(world, [note('a')]);
    await using reader = startReader(path);
    expect(await reader.look()).toBe('1');
    await append(world, [note('b')]);
    expect(await reader.look()).toBe('2');
    await world.store.close();
  });

  it('is not called damaged by a reader without rights to its directory that came before the writer', async () => {
    const path = freshPath();
    const first = await openNew(path);
    await append(first, [note('a')]);
    await first.store.close();
    await using reader = startReader(path);
    expect(await reader.look()).toBe('1');
    const store = await open(path);
    for (let count = 0; count < 50; count++) await append({ store, ref }, [note(`b ${count}`.repeat(2_000))]);
    expect(await reader.look()).toBe('store.moved');
    await store.close();
    expect(await reader.look()).toBe('store.moved');
    await using next = startReader(path);
    expect(await next.look()).toBe('51');
  });

  it('is synced to disk before an append is acknowledged, unless the caller said "process"', async () => {
    for (const [durability, expected] of [
      [undefined, 'disk'],
      ['disk', 'disk'],
      ['process', 'process'],
    ] as const) {
      const { store } = await openNew(freshPath(), durability === undefined ? {} : { durability });
      expect((await store.health()).durability).toBe(expected);
      await store.close();
    }
  });

  it('of a newer release is refused and left byte for byte as it is', async () => {
    const path = freshPath();
    const world = await openNew(path, { migrations: [first, second] });
    await append(world, [note('a')]);
    await world.store.close();
    const before = readFileSync(path);
    await rejects(open(path), 'store.newer');
    await rejects(open(path, { readOnly: true }), 'store.newer');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('that was written before the first release is refused by name and left byte for byte as it is', async () => {
    const path = freshPath();
    await (await openNew(path, {})).store.close();
    const database = new Database({ location: path, readOnly: false });
    database.exec(`PRAGMA application_id = ${0x52707273}`);
    database.close();
    const before = readFileSync(path);
    for (const options of [{}, { readOnly: true }])
      await expect(open(path, options)).rejects.toMatchObject({
        code: 'store.unsupported',
        message: expect.stringContaining('before the first release'),
        hint: expect.stringContaining('nothing was changed'),
      });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('of an older release is migrated once, with everything in it', async () => {
    const path = freshPath();
    let runs = 0;
    const counted: Migration = {
      ...second,
      up: (database) => {
        runs++;
        second.up(database);
      },
    };
    const before = await openNew(path, { migrations: [first] });
    await append(before, [note('a')]);
    await before.store.close();
    for (let times = 0; times < 2; times++) {
      const store = await open(path, { migrations: [first, counted] });
      expect(textsOf(await readAll({ store, ref }, [segment('main', 0, 9)]))).toEqual(['a']);
      expect((await store.health()).schema).toBe('2');
      await store.close();
    }
    expect(runs).toBe(1);
  });

  it('of an older release stays as it was when its migration fails', async () => {
    const path = freshPath();
    await (await openNew(path, { migrations: [first] })).store.close();
    const broken: Migration = {
      ...second,
      up: (database) => {
        second.up(database);
        throw new Error('planted');
      },
    };
    await expect(open(path, { migrations: [first, broken] })).rejects.toThrow('planted');
    const store = await open(path, { migrations: [first] });
    expect((await store.health()).schema).toBe('1');
    await store.close();
  });

  it('that another process migrates is refused from then on by a process of the older release', async () => {
    const path = freshPath();
    const world = await openNew(path, { migrations: [first] });
    await append(world, [note('a')]);
    await (await open(path, { migrations: [first, second] })).close();
    await refused(world, 'store.newer', [note('b')]);
    await rejects(world.store.branch({ ...ref, branch: 'main' }), 'store.newer');
    await world.store.close();
    const store = await open(path, { migrations: [first, second] });
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(1);
    await store.close();
  });

  it('of a different program, or of no program, is refused and not touched', async () => {
    const foreign = freshPath();
    mkdirSync(dirname(foreign), { recursive: true });
    const database = new Database({ location: foreign, readOnly: false });
    database.exec('CREATE TABLE theirs (x)');
    database.close();
    const garbage = freshPath();
    mkdirSync(dirname(garbage), { recursive: true });
    writeFileSync(garbage, 'This is not a database. '.repeat(400));
    for (const path of [foreign, garbage]) {
      const before = readFileSync(path);
      await rejects(open(path), 'store.damaged');
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  it('that is damaged says so instead of giving wrong events, and never hangs', async () => {
    const path = freshPath();
    const world = await openNew(path);
    for (let batch = 0; batch < 10; batch++)
      await append(
        world,
        Array.from({ length: 100 }, (_, index) => note(`${batch}-${index}`.padEnd(500, 'x'))),
      );
    await world.store.close();
    const whole = readFileSync(path);
    const attempt = async (): Promise<string> => {
      try {
        const store = await open(path);
        try {
          const health = await store.health();
          await readAll({ store, ref }, [segment('main', 0, 1_000)]);
          await store.append([request(ref, [note('more')])]);
          return health.problems.length > 0 ? 'reported' : 'sound';
        } finally {
          await store.close();
        }
      } catch (error) {
        return error instanceof RepriseError ? error.code : String(error);
      }
    };
    truncateSync(path, Math.floor(statSync(path).size / 2 / 4_096) * 4_096);
    expect(await attempt()).toBe('store.damaged');
    for (const at of [16, 100, 4_096 * 5, 4_096 * 9 + 1, 4_096 * 40 + 2]) {
      const bent = Buffer.from(whole);
      bent.fill(0xff, at, at + 8);
      writeFileSync(path, bent);
      expect(['store.damaged', 'reported', 'sound'], `bytes at ${at}`).toContain(await attempt());
    }
  });

  it('open for reading only reads everything and refuses every write', async () => {
    const path = freshPath();
    const writing = await openNew(path);
    await append(writing, [note('a')]);
    const store = await open(path, { readOnly: true });
    const world = { store, ref };
    expect(textsOf(await readAll(world, [segment('main', 0, 9)]))).toEqual(['a']);
    await append(writing, [note('b')]);
    expect(textsOf(await readAll(world, [segment('main', 0, 9)])), 'it follows what others write').toEqual(['a', 'b']);
    await refused(world, 'store.read-only', [note('c')]);
    await rejects(store.createSession({ ...ref, session: 'new' }, { root: 'main', seed: '' }), 'store.read-only');
    await rejects(store.deleteSession(ref), 'store.read-only');
    await store.putSnapshot(ref, {
      projection: 'p',
      version: '1',
      upcasts: 0,
      erasures: 0,
      branch: 'main',
      seq: 1 as never,
      digest: '' as never,
      value: '',
    });
    await writing.store.close();
    await store.close();
  });

  it('that cannot grow refuses the append with "store.full", loses nothing, and takes what still fits', async () => {
    const path = freshPath();
    const small: Migration = {
      ...first,
      up: (database) => {
        first.up(database);
        database.exec('PRAGMA max_page_count = 80');
      },
    };
    const world = await openNew(path, { migrations: [small] });
    await append(world, [note('kept')]);
    const error = await refused(world, 'store.full', [note('x'.repeat(400_000))]);
    expect(error.hint).toBeTruthy();
    const outcomes = await world.store.append([
      request(ref, [note('fits')]),
      request(ref, [note('y'.repeat(400_000))]),
      request(ref, [note('fits too')]),
    ]);
    expect(outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.code))).toEqual(['ok', 'store.full', 'ok']);
    expect(textsOf(await readAll(world, [segment('main', 0, 9)]))).toEqual(['kept', 'fits', 'fits too']);
    expect((await world.store.health()).problems).toEqual([]);
    await world.store.close();
  });
});
