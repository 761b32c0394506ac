import { hash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openReprise, summary } from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import { recordStore } from '../seeds/recorded-store.ts';
import { all } from '../verbs/verb-case.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

// Rights do not hold root back, so root gets a file system that cannot be written, and everyone else gets rights.
const isRoot = process.getuid?.() === 0;
const disk = isRoot ? mountSmallDisk(8_000_000) : rightsOnly();
if (typeof disk === 'string') console.log(`skipped: files that cannot be written (${disk})`);

function rightsOnly(): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'reprise-rights-'));
  return {
    path,
    remount: (mode) => {
      for (const name of readdirSync(path)) chmodSync(join(path, name), mode === 'ro' ? 0o444 : 0o644);
      chmodSync(path, mode === 'ro' ? 0o555 : 0o755);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

describe.skipIf(typeof disk === 'string')('where nothing can be written', () => {
  const { path, remount } = disk as SmallDisk;
  const file = join(path, 'store.db');
  let before = '';
  beforeAll(async () => {
    await recordStore(file);
    await leaveLog(join(path, 'hot.db'));
    before = contents();
    remount('ro');
  });
  afterAll(() => {
    remount('rw');
    (disk as SmallDisk)[Symbol.dispose]();
  });

  /** A store as a killed process leaves it: its last commits are only in the log beside it. */
  async function leaveLog(target: string): Promise<void> {
    const source = join(path, 'source.db');
    await recordStore(source);
    await using reprise = await openReprise(`sqlite:${source}`);
    await (await reprise.session('demo')).append({ type: 'note.added', data: { text: 'only in the log' } });
    for (const suffix of ['', '-wal']) copyFileSync(source + suffix, target + suffix);
  }

  const contents = (): string =>
    readdirSync(path)
      .sort()
      .map((name) => `${name} ${hash('sha256', readFileSync(join(path, name)))}`)
      .join('\n');

  test('a store can be read and verified, and an append is store.read-only', async () => {
    await using reprise = await openReprise(`sqlite:${file}`);
    const session = await reprise.session('demo');
    expect((await all(session.replay())).length).toBeGreaterThan(0);
    expect(await session.verify()).toMatchObject({ ok: true, events: 12 });
    expect(await session.fold(summary)).toBeDefined();
    for (const change of [
      () => session.append({ type: 'note.added', data: { text: 'a' } }),
      () => session.fork('main@2', { name: 'new' }),
      () => session.rewind(2),
      () => session.erase('main@1'),
      () => reprise.createSession('other'),
      () => session.delete({ confirm: 'demo' }),
    ])
      await expect(change()).rejects.toMatchObject({ code: 'store.read-only', hint: expect.stringMatching(/rights/) });
    expect((await reprise.health()).durability).toBe('read-only');
  });

  test('a store whose last commits are only in the log is read with them, or refused', async () => {
    const found = await openReprise(`sqlite:${join(path, 'hot.db')}`)
      .then(async (reprise) => {
        await using held = reprise;
        return (await all((await held.session('demo')).replay())).at(-1)?.data;
      })
      .catch((error: unknown) => error);
    if (found instanceof Error)
      expect(found).toMatchObject({ code: 'store.read-only', hint: expect.stringMatching(/\w/) });
    else expect(found).toEqual({ text: 'only in the log' });
  });

  test('a new store is store.read-only, in a directory that is there and in one that is not', async () => {
    for (const name of ['new.db', join('deeper', 'new.db')])
      await expect(openReprise(`sqlite:${join(path, name)}`)).rejects.toMatchObject({
        code: 'store.read-only',
        hint: expect.stringMatching(/\w/),
      });
  });

  test('nothing was changed', () => {
    expect(contents()).toBe(before);
  });
});

describe('a store opened for reading only', () => {
  test('writes nothing, not even a snapshot', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reprise-reading-'));
    try {
      const held = join(directory, 'store.db');
      await recordStore(held);
      const digest = hash('sha256', readFileSync(held));
      await using reprise = await openWith({ store: `sqlite:${held}`, readOnly: true }, { snapshotEvents: 1 });
      const session = await reprise.session('demo');
      await session.fold(summary);
      await expect(session.setMetadata({ a: 1 })).rejects.toMatchObject({ code: 'store.read-only' });
      expect(hash('sha256', readFileSync(held))).toBe(digest);
      await expect(openReprise({ store: `sqlite:${held}.none`, readOnly: true })).rejects.toMatchObject({
        code: 'store.not-found',
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
