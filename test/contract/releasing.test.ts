import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  createNodePlatform,
  type Event,
  openMemoryStore,
  openReprise,
  openSqliteStore,
  type Reprise,
  type Session,
} from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-releasing-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const stores: Readonly<Record<string, () => Promise<EventStore>>> = {
  memory: async () => openMemoryStore({ platform }),
  sqlite: () => openSqliteStore({ path: join(directory, `${++files}.db`), platform, durability: 'process' }),
};

/** Reads, watches and listeners that a caller has asked for and not let go of. */
interface Held {
  reads: number;
  watches: number;
  /** Listeners on the signals that watches were given. */
  listeners: number;
}

/** A store that knows what it holds for its callers; everything is done by the one behind it. */
function watched(store: EventStore): { readonly store: EventStore; readonly held: Held } {
  const held: Held = { reads: 0, watches: 0, listeners: 0 };
  return {
    held,
    store: new Proxy(store, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...given: unknown[]) => unknown;
        if (name === 'watch')
          return (ref: never, after: never, signal: AbortSignal) =>
            counted(target.watch(ref, after, listening(signal, held)), held);
        return (...given: unknown[]): unknown => {
          if (name === 'read') held.reads++;
          return Reflect.apply(method, target, given);
        };
      },
    }),
  };
}

async function* counted<T>(items: AsyncIterable<T>, held: Held): AsyncGenerator<T> {
  held.watches++;
  try {
    yield* items;
  } finally {
    held.watches--;
  }
}

/** The same signal, with its listeners counted. */
function listening(signal: AbortSignal, held: Held): AbortSignal {
  const known = new Set<unknown>();
  const count = (change: () => void): void => {
    held.listeners -= known.size;
    change();
    held.listeners += known.size;
  };
  return new Proxy(signal, {
    get: (target, name) => {
      if (name === 'addEventListener')
        return (type: 'abort', listener: () => void) => {
          count(() => known.add(listener));
          target.addEventListener(type, listener);
        };
      if (name === 'removeEventListener')
        return (type: 'abort', listener: () => void) => {
          count(() => known.delete(listener));
          target.removeEventListener(type, listener);
        };
      return Reflect.get(target, name, target) as unknown;
    },
  });
}

interface World {
  readonly reprise: Reprise;
  readonly session: Session;
  readonly held: Held;
}

const note = (text: string) => ({ type: 'note.added', data: { text } });
const turn = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Collects garbage until at most one of the events is left, and returns how many are. The engine may hold an event that
 * nobody uses for a while, such as one that a compilation in the background has seen.
 */
async function leftOf(seen: readonly WeakRef<Event>[]): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let left = seen.length;
  for (let round = 0; round < 50 && left > 1; round++) {
    await turn(round);
    collect();
    left = seen.filter((ref) => ref.deref() !== undefined).length;
  }
  return left;
}

describe.each(Object.entries(stores))('a replay on %s that is left early', (_, open) => {
  const inWorld = (title: string, check: (world: World) => Promise<void>): void => {
    test(`${title}`, async () => {
      const { store, held } = watched(await open());
      await using reprise = await openReprise({ store, platform });
      const session = await reprise.createSession('demo');
      await session.append(Array.from({ length: 900 }, (__, index) => note(`note ${index}`)));
      held.reads = 0;
      await check({ reprise, session, held });
    });
  };

  for (const history of ['view', 'raw'] as const) {
    inWorld(`reads no page after the one it was left in (${history})`, async ({ session, held }) => {
      for await (const event of session.replay({ history })) if (event.seq === 3) break;
      const read = held.reads;
      await session.append(note('more'));
      await turn(60);
      expect([read, held.reads]).toEqual([1, 1]);
    });
  }

  inWorld('keeps nothing of its page, even for who keeps the iterator', async ({ session }) => {
    const replay = session.replay();
    const seen: WeakRef<Event>[] = [];
    for await (const event of replay) if (seen.push(new WeakRef(event)) === 40) break;
    expect(await leftOf(seen)).toBeLessThan(2);
    expect(await replay.next()).toEqual({ value: undefined, done: true });
  });

  for (const history of ['view', 'raw'] as const) {
    inWorld(`that follows lets go of its watch, its listeners and its timer (${history})`, async (world) => {
      const { session, held } = world;
      const started = vi.spyOn(globalThis, 'setInterval');
      const cleared = vi.spyOn(globalThis, 'clearInterval');
      const { signal } = new AbortController();
      const given: Held = { reads: 0, watches: 0, listeners: 0 };
      const options = { follow: true, history, after: 898, signal: listening(signal, given) } as const;
      let appended = false;
      for await (const event of session.replay(options)) {
        // The append finds it waiting: what it listens to and the timer it waits by are there.
        if (event.seq === 900 && !appended) {
          appended = true;
          setTimeout(() => void session.append(note('later')), 80);
        }
        if (event.seq === 901) break;
      }
      expect([held.watches, held.listeners, given.listeners]).toEqual([0, 0, 0]);
      const read = held.reads;
      await session.append(note('after'));
      await turn(120);
      const stopped = new Set(cleared.mock.calls.map(([timer]) => timer));
      expect(started.mock.results.filter(({ value }) => !stopped.has(value as NodeJS.Timeout))).toEqual([]);
      expect(held.reads - read).toBe(0);
      vi.restoreAllMocks();
    });
  }

  inWorld('that follows a view lets go while it starts again after a marker', async ({ session, held }) => {
    let marked = false;
    for await (const event of session.replay({ follow: true, after: 890 })) {
      if (event.seq === 900 && !marked) {
        marked = true;
        await session.revert(895);
      }
      if (marked && event.seq === 892) break;
    }
    expect([held.watches, held.listeners]).toEqual([0, 0]);
  });

  inWorld('that follows ends when it is returned while it waits', async ({ session, held }) => {
    const replay = session.replay({ follow: true, after: 900 });
    const waiting = replay.next();
    await expect.poll(() => held.watches).toBe(1);
    const end = { value: undefined, done: true };
    expect(await replay.return()).toEqual(end);
    expect(await waiting).toEqual(end);
    expect([held.watches, held.listeners]).toEqual([0, 0]);
  });

  inWorld('that follows lets go when whoever reads it throws', async ({ session, held }) => {
    const reading = async (): Promise<void> => {
      for await (const event of session.replay({ follow: true, after: 899 })) throw new Error(`at ${event.seq}`);
    };
    await expect(reading()).rejects.toThrow('at 900');
    expect([held.watches, held.listeners]).toEqual([0, 0]);
  });

  inWorld('of many sessions reads no more and keeps nothing', async ({ reprise, session, held }) => {
    await session.fork('main@10', { name: 'side' });
    const other = await reprise.createSession('other');
    await other.append(Array.from({ length: 600 }, (__, index) => note(`other ${index}`)));
    held.reads = 0;
    const replay = reprise.replay();
    const seen: WeakRef<Event>[] = [];
    for await (const event of replay) if (seen.push(new WeakRef(event)) === 40) break;
    const read = held.reads;
    await turn(20);
    expect(await leftOf(seen)).toBeLessThan(2);
    expect([read, held.reads]).toEqual([3, 3]);
    expect(await replay.next()).toEqual({ value: undefined, done: true });
  });

  inWorld('lets the store be closed', async ({ reprise, session }) => {
    for await (const event of session.replay({ follow: true })) if (event.seq === 5) break;
    expect(await reprise.close()).toBeUndefined();
  });
});
