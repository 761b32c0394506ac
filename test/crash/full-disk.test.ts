import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Event, openReprise, RepriseError, type Session, summary } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';
import { type SeenConnections, watchConnections } from './connections.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

const disk = mountSmallDisk(3_000_000);
if (typeof disk === 'string') console.log(`skipped: a really full disk (${disk})`);

let directory = '';
let seen: SeenConnections | undefined;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-full-'));
});
afterEach(() => seen?.stop());
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  if (typeof disk !== 'string') disk[Symbol.dispose]();
});

const drafts = (name: string) =>
  Array.from({ length: 3 }, (_, index) => ({
    type: 'message.added',
    data: { message: { role: 'user', content: `${name}.${index} `.repeat(2_000) }, batch: name },
  }));

/** Appends until there is no room left; gives what was acknowledged. */
async function fill(session: Session): Promise<Event[]> {
  const kept: Event[] = [];
  for (let count = 0; count < 1_000; count++) {
    try {
      kept.push(...(await session.append(drafts(String(count)))));
    } catch (error) {
      expect(error).toBeInstanceOf(RepriseError);
      expect(error).toMatchObject({ code: 'store.full', hint: expect.stringMatching(/room/) });
      return kept;
    }
  }
  throw new Error('The disk was never full');
}

/** Checks that the store holds what was acknowledged and nothing else, readable and verified. */
async function checkKept(session: Session, kept: readonly Event[]): Promise<void> {
  const events = await all(session.replay());
  expect(events.map(({ seq, id, digest }) => ({ seq, id, digest }))).toEqual(
    kept.map(({ seq, id, digest }) => ({ seq, id, digest })),
  );
  expect(await session.verify()).toMatchObject({ ok: true, events: kept.length });
  expect(await session.fold(summary)).toEqual(await session.fold(summary, { snapshots: false }));
}

describe('a store that may not grow any more', () => {
  test('is store.full, keeps what was acknowledged, and goes on when it may grow again', async () => {
    seen = watchConnections();
    const path = join(directory, 'pages.db');
    const kept: Event[] = [];
    {
      await using reprise = await openReprise(`sqlite:${path}`);
      const session = await reprise.createSession('demo');
      const [connection] = seen.open();
      connection?.exec('PRAGMA max_page_count = 200');
      kept.push(...(await fill(session)));
      expect(kept.length).toBeGreaterThan(0);
      await checkKept(session, kept);
      await expect(session.fork('main@1', { name: 'x', prompt: 'y'.repeat(2_000_000) })).rejects.toMatchObject({
        code: 'store.full',
      });
      expect((await session.tree()).children).toEqual([]);
      connection?.exec('PRAGMA max_page_count = 100000');
      kept.push(...(await session.append(drafts('again'))));
      await checkKept(session, kept);
    }
    await using reprise = await openReprise(`sqlite:${path}`);
    await checkKept(await reprise.session('demo'), kept);
  });
});

describe.skipIf(typeof disk === 'string')('a disk without room', () => {
  const { path } = disk as SmallDisk;

  test('is store.full, keeps what was acknowledged through a reopening, and goes on when there is room again', async () => {
    writeFileSync(join(path, 'ballast'), Buffer.alloc(1_000_000));
    const store = `sqlite:${join(path, 'full.db')}`;
    const kept: Event[] = [];
    {
      await using reprise = await openReprise(store);
      const session = await reprise.createSession('demo');
      kept.push(...(await fill(session)));
      expect(kept.length).toBeGreaterThan(0);
      await checkKept(session, kept);
    }
    {
      await using reprise = await openReprise(store);
      const session = await reprise.session('demo');
      await checkKept(session, kept);
      rmSync(join(path, 'ballast'));
      kept.push(...(await session.append(drafts('again'))));
      await checkKept(session, kept);
    }
    await using reprise = await openReprise(store);
    await checkKept(await reprise.session('demo'), kept);
  });

  test('is store.full also for a new store', async () => {
    for (let count = 0; ; count++) {
      try {
        writeFileSync(join(path, `ballast-${count}`), Buffer.alloc(count < 100 ? 100_000 : 1_000));
      } catch {
        break;
      }
    }
    const error = await openReprise(`sqlite:${join(path, 'new', 'store.db')}`).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store.full', hint: expect.stringMatching(/\w/) });
  });
});
