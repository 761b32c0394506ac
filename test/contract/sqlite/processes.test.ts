import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { limits } from '../../../src/core/limits.ts';
import { type Digest, seq } from '../../../src/core/point.ts';
import {
  append,
  input,
  note,
  readAll,
  refused,
  segment,
  seqsOf,
  textsOf,
} from '../../../src/testing/contract/contract-case.ts';
import { freshPaths, open, openNew, ref, startWorker } from './place.ts';

const freshPath = freshPaths();

describe('several processes on one SQLite file', () => {
  it('write one order without gaps, and a third that follows sees the last head', async () => {
    const path = freshPath();
    const world = await openNew(path);
    const tail = startWorker('tail', path, '120');
    const [a, b] = [startWorker('append', path, '50', 'a'), startWorker('append', path, '50', 'b')];
    for (let index = 0; index < 20; index++) await append(world, [note(`c${index}`)]);
    const seqs = [...(await a.ended), ...(await b.ended)].map(Number);
    expect(new Set(seqs).size).toBe(100);
    const events = await readAll(world, [segment('main', 0, 999)]);
    expect(seqsOf(events)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    const own = (name: string) => textsOf(events).filter((text) => String(text).startsWith(name));
    expect(own('a')).toEqual(Array.from({ length: 50 }, (_, index) => `a${index}`));
    expect(own('b')).toEqual(Array.from({ length: 50 }, (_, index) => `b${index}`));
    expect((await tail.ended).at(-1)).toBe('120');
    await world.store.close();
  });

  it('see what another one has committed with their next question, asked in the same turn of the event loop', async () => {
    const path = freshPath();
    const [world, other] = [await openNew(path), await open(path)];
    const lastOf = async (key: string): Promise<unknown> => {
      const page = await world.store.latest(ref, { branch: 'main' }, { keys: [key] }, { limit: 1, select: 'full' });
      return [page.head, page.entries[0]?.event.seq];
    };
    await append(world, [note('own', { keys: ['k'] })]);
    expect(await lastOf('k')).toEqual([1, 1]);
    await append({ store: other, ref }, [note('other', { keys: ['k'] })]);
    expect(await lastOf('k')).toEqual([2, 2]);
    await append({ store: other, ref }, [input('branch.rewound', { to: 1 })], {
      condition: { kind: 'head', seq: seq(2) },
    });
    expect(await lastOf('k')).toEqual([3, 1]);
    await other.deleteSession(ref);
    expect(await lastOf('k')).toEqual([undefined, undefined]);
    await other.createSession(ref, { root: 'main', seed: 'another' });
    await append({ store: other, ref }, [note('anew', { keys: ['k'] })]);
    expect(await lastOf('k')).toEqual([1, 1]);
    await Promise.all([world.store.close(), other.close()]);
  });

  it('lose no write and accept no stale one when all of them append at the head they saw', async () => {
    const path = freshPath();
    const world = await openNew(path);
    const workers = ['a', 'b', 'c'].map((name) => startWorker('race', path, '30', name));
    await Promise.all(workers.map((worker) => worker.ended));
    const events = await readAll(world, [segment('main', 0, 999)]);
    expect(textsOf(events)).toEqual(events.map((event) => `after ${event.seq - 1}`));
    expect(events.length).toBe(90);
    await world.store.close();
  });

  it('wait for each other without freezing the event loop, and go on when the lock is free', async () => {
    const path = freshPath();
    const world = await openNew(path);
    const holder = startWorker('hold', path);
    await holder.printed(1);
    let isAppended = false;
    const appended = append(world, [note('waited')]).then((outcome) => {
      isAppended = true;
      return outcome;
    });
    for (let count = 0; count < 100; count++) await turn();
    expect(isAppended).toBe(false);
    // Only this event loop lets the other process go: had it stood still, the append would have waited in vain.
    holder.letGo();
    await holder.ended;
    expect((await appended).events[0]?.seq).toBe(1);
    await world.store.close();
  });

  it('give up with "store.busy" when the wait runs out, having written nothing, and reads go on meanwhile', async () => {
    const path = freshPath();
    const world = await openNew(path, { busyWaitMs: 200 });
    await append(world, [note('a')]);
    const holder = startWorker('hold', path);
    await holder.printed(1);
    const error = await refused(world, 'store.busy', [note('b')]);
    expect(error.hint).toBeTruthy();
    expect(textsOf(await readAll(world, [segment('main', 0, 9)]))).toEqual(['a']);
    holder.letGo();
    await holder.ended;
    await append(world, [note('c')]);
    expect(textsOf(await readAll(world, [segment('main', 0, 9)]))).toEqual(['a', 'c']);
    await world.store.close();
  });

  it('I2: keep every acknowledged event when one of them is killed in the middle of writing', async () => {
    const path = freshPath();
    await (await openNew(path)).store.close();
    const writer = startWorker('append', path, '100000', 'a');
    await writer.printed(100);
    writer.kill();
    const acknowledged = (await writer.ended).map(Number);
    const world = { store: await open(path), ref };
    const events = await readAll(world, [segment('main', 0, 999_999)]);
    expect(events.length).toBeGreaterThanOrEqual(acknowledged.length);
    expect(seqsOf(events)).toEqual(events.map((_, index) => index + 1));
    expect((await world.store.health()).problems).toEqual([]);
    await append(world, [note('after')]);
    await world.store.close();
  });

  it('no snapshot waits for the lock for longer than snapshotWaitMsMax', async () => {
    const path = freshPath();
    const world = await openNew(path, { busyWaitMs: 60_000 });
    const { events } = await append(world, [note('a')]);
    const holder = startWorker('hold', path);
    await holder.printed(1);
    // The clock of the wait stands still except where it is moved.
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      let isOver = false;
      const at = { branch: 'main', seq: seq(1), digest: events[0]?.digest as Digest, value: '{}' };
      const keeping = world.store
        .putSnapshot(ref, { projection: 'conversation', version: '1', upcasts: 0, erasures: 0, ...at })
        .finally(() => {
          isOver = true;
        });
      const refusal = expect(keeping).rejects.toMatchObject({ code: 'store.busy' });
      await vi.advanceTimersByTimeAsync(limits.snapshotWaitMsMax / 2);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(limits.snapshotWaitMsMax);
      await refusal;
    } finally {
      vi.useRealTimers();
    }
    holder.letGo();
    await holder.ended;
    await world.store.close();
  });

  it('are seen by a watch of another connection after they commit', async () => {
    const path = freshPath();
    const world = await openNew(path);
    const controller = new AbortController();
    const watching = world.store
      .watch({ ...ref, branch: 'main' }, 0 as never, controller.signal)
      [Symbol.asyncIterator]();
    const first = watching.next();
    const other = await open(path);
    await append({ store: other, ref }, [note('a')]);
    expect(await first).toEqual({ done: false, value: 1 });
    controller.abort();
    await other.close();
    await world.store.close();
  });
});
