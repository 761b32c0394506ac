import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createNodePlatform,
  openMemoryStore,
  openReprise,
  openSqliteStore,
  type Reprise,
  type RepriseError,
} from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { copyPairs } from './copy-pairs.ts';
import { type Calls, countingStore } from './counting-store.ts';
import { expectSameSessions } from './same-history.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-copying-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

copyPairs(
  [
    ['memory', 'memory'],
    ['memory', 'sqlite'],
    ['sqlite', 'memory'],
    ['sqlite', 'sqlite'],
  ],
  {
    memory: async () => openMemoryStore({ platform }),
    sqlite: () => openSqliteStore({ path: join(directory, `${files++}.db`), platform, durability: 'process' }),
  },
);

/** A store one of whose methods does something else first, or instead. */
function changed<Name extends keyof EventStore>(
  store: EventStore,
  name: Name,
  instead: (next: EventStore[Name]) => EventStore[Name],
): EventStore {
  return new Proxy(store, {
    get: (target, asked) => {
      const method = Reflect.get(target, asked) as (...values: unknown[]) => unknown;
      const bound = method.bind(target);
      return asked === name ? instead(bound as EventStore[Name]) : bound;
    },
  });
}

const note = (text: string) => ({ type: 'note.added', data: { text } });
const open = (store: EventStore): Promise<Reprise> => openReprise({ store, platform });
const failure = (copying: Promise<unknown>): Promise<RepriseError> =>
  copying.then(
    () => {
      throw new Error('It was copied');
    },
    (error: unknown) => error as RepriseError,
  );

async function idsIn(reprise: Reprise): Promise<string[]> {
  const ids: string[] = [];
  for await (const { session } of reprise.sessions()) ids.push(session);
  return ids;
}

describe('a copy', () => {
  it('only reads the source', async () => {
    const { store, calls } = countingStore(openMemoryStore({ platform }));
    await using from = await open(store);
    await using to = await openReprise('memory:');
    const session = await from.createSession('s');
    await session.append(Array.from({ length: 600 }, (_, index) => note(`${index}`)));
    await from.copy(to);
    for (const name of Object.keys(calls)) delete calls[name as keyof Calls];
    await session.fork('main@3', { name: 'x' }).catch(() => undefined);
    for (const name of Object.keys(calls)) delete calls[name as keyof Calls];
    await from.copy(to);
    const writing = [
      'append',
      'restore',
      'erase',
      'putSnapshot',
      'putReceipt',
      'createSession',
      'renameSession',
      'deleteSession',
      'reindex',
    ];
    expect(Object.keys(calls).filter((name) => writing.includes(name))).toEqual([]);
  });

  it('that comes out other than the source is an error, and gets no name', async () => {
    const store = changed(openMemoryStore({ platform }), 'restore', (next) => (request) => {
      const events = request.events.map((event) =>
        event.seq === 2 ? { ...event, keys: [], causeSeq: 1 as never } : event,
      );
      return next({ ...request, events });
    });
    await using from = await openReprise('memory:');
    await using to = await open(store);
    await (await from.createSession('s')).append([note('a'), note('b')]);
    const error = await failure(from.copy(to));
    expect(error).toMatchObject({ code: 'copy.not-verified', details: { session: 's', branch: 'main', seq: 2 } });
    expect(await idsIn(to)).toEqual([]);
  });

  it('that lost something on the way is an error, and gets no name', async () => {
    const lossy = changed(
      openMemoryStore({ platform }),
      'restore',
      (next) => async (request) =>
        request.events.length === 0 ? await next(request) : await next({ ...request, parts: [] }),
    );
    await using from = await openReprise('memory:');
    await using to = await open(lossy);
    await (await from.createSession('s')).append({
      type: 'message.added',
      data: { message: { role: 'user', content: 'x'.repeat(900) } },
    });
    expect(await failure(from.copy(to))).toMatchObject({ code: 'copy.not-verified' });
    expect(await idsIn(to)).toEqual([]);
  });

  it('is begun again when something is erased at the source meanwhile, and does not bring it', async () => {
    let isErased = false;
    const inner = openMemoryStore({ platform });
    await using from = await openReprise('memory:');
    const session = await from.createSession('s');
    await session.append([note('kept'), note('a word to be forgotten'), note('last')]);
    const target = changed(inner, 'restore', (next) => async (request) => {
      const outcome = await next(request);
      if (!isErased) await session.erase('main@2');
      isErased = true;
      return outcome;
    });
    await using to = await open(target);
    const { sessions } = await from.copy(to);
    expect(sessions).toMatchObject([{ outcome: 'copied' }]);
    const [, gone] = await Array.fromAsync((await to.session('s')).replay());
    expect([gone?.erased, JSON.stringify(gone).includes('forgotten')]).toEqual([true, false]);
    expect(await idsIn(to)).toEqual(['s']);
  });

  it('is begun again when something is erased at the source while the copy is proved', async () => {
    for (const at of [1, 2, 3]) {
      await using from = await openReprise('memory:');
      const session = await from.createSession('s');
      await session.append([note('kept'), note('a word to be forgotten'), note('last')]);
      let reads = 0;
      // The reads of the target are those of the proof.
      const target = changed(openMemoryStore({ platform }), 'read', (next) => async (ref, view, page) => {
        if (++reads === at) await session.erase('main@2');
        return await next(ref, view, page);
      });
      await using to = await open(target);
      const { sessions } = await from.copy(to);
      expect([at, sessions]).toMatchObject([at, [{ outcome: expect.toBeOneOf(['copied', 'replaced']) as string }]]);
      await from.copy(to);
      // A proof that takes fewer reads has nothing to erase between them.
      expect([at, reads >= Math.min(at, 2)]).toEqual([at, true]);
      if (reads < at) continue;
      const [, gone] = await Array.fromAsync((await to.session('s')).replay());
      expect([gone?.erased, JSON.stringify(gone).includes('forgotten')]).toEqual([true, false]);
    }
  });

  it('of a source that grows meanwhile is an earlier state of it, and the next one brings the rest', async () => {
    await using from = await openReprise('memory:');
    const session = await from.createSession('s');
    await session.append(note('first'));
    let left = 3;
    const inner = openMemoryStore({ platform });
    const target = changed(inner, 'restore', (next) => async (request) => {
      if (left-- > 0)
        await session.append([
          note('more'),
          { type: 'message.added', data: { message: { role: 'user', content: `${left}`.repeat(700) } } },
        ]);
      return await next(request);
    });
    await using to = await open(target);
    await from.copy(to);
    expect((await (await to.session('s')).verify()).ok).toBe(true);
    left = 0;
    await from.copy(to);
    expect(await Array.fromAsync((await to.session('s')).replay())).toEqual(await Array.fromAsync(session.replay()));
  });

  it('that others make at the same time is made once', async () => {
    await using from = await openReprise('memory:');
    const path = join(directory, `${files++}.db`);
    const targets = await Promise.all(
      [1, 2, 3].map(() => openReprise({ store: `sqlite:${path}`, durability: 'process' })),
    );
    const session = await from.createSession('s');
    for (let index = 0; index < 5; index++) await session.append(Array.from({ length: 700 }, () => note(`${index}`)));
    const copied = await Promise.all(targets.map((to) => from.copy(to)));
    expect(copied.reduce((sum, { sessions }) => sum + (sessions[0]?.written ?? 0), 0)).toBeGreaterThanOrEqual(3_500);
    const [to] = targets as [Reprise];
    expect(await idsIn(to)).toEqual(['s']);
    expect((await (await to.session('s')).verify()).events).toBe(3_500);
    for (const one of targets) await one.close();
  });

  it('that finds another writer in its unfinished session says so, and what to do', async () => {
    await using from = await openReprise('memory:');
    await using to = await openReprise('memory:');
    const session = await from.createSession('s');
    await session.append(Array.from({ length: 1_500 }, () => note('a')));
    const stop = new AbortController();
    await failure(from.copy(to, { signal: stop.signal, onProgress: () => stop.abort() }));
    const [id] = await idsIn(to);
    await (await to.session(id ?? '')).append(note('not ours'));
    const error = await failure(from.copy(to));
    expect(error).toMatchObject({ code: 'copy.diverged', hint: `Delete "${id}" at the target, and copy again.` });
    await (await to.session(id ?? '')).delete({ confirm: id ?? '' });
    expect((await from.copy(to)).sessions).toMatchObject([{ outcome: 'copied', written: 1_500 }]);
  });

  it('of an event that needs more than fits into a batch brings its parts ahead, deepest first, also when stopped', async () => {
    const [left, right] = [openMemoryStore({ platform }), openMemoryStore({ platform })];
    await using from = await open(left);
    const session = await from.createSession('s');
    await session.append(note('first'));
    const messages = Array.from({ length: 13 }, (_, index) => ({
      role: 'user',
      content: `${index} ${'long '.repeat(200_000)}`,
    }));
    for (const count of [12, 13]) {
      const request = { messages: messages.slice(0, count) };
      await session.append({
        type: 'call.started',
        run: 'r',
        agent: 'a',
        data: { call: `c${count}`, kind: 'model', name: 'm', request },
      });
    }
    const batches: { readonly events: number; readonly text: number }[] = [];
    const stop = new AbortController();
    const target = changed(right, 'restore', (next) => async (request) => {
      const text = request.parts.reduce((sum, part) => sum + part.text.length, 0);
      batches.push({ events: request.events.length, text });
      const kinds = new Set(request.parts.map(({ kind }) => kind));
      if (request.events.length === 0 && !kinds.has('list')) stop.abort();
      return await next(request);
    });
    await using to = await open(target);
    expect(await failure(from.copy(to, { signal: stop.signal }))).toMatchObject({ code: 'copy.aborted' });
    const before = batches.length;
    await from.copy(to);
    expect(Math.max(...batches.map(({ text }) => text))).toBeLessThan(8_400_000);
    expect(batches.slice(0, before).at(-1)).toMatchObject({ events: 0 });
    // Parts that went ahead are not sent again.
    expect(batches.reduce((sum, { text }) => sum + text, 0)).toBeLessThan(14_000_000);
    await expectSameSessions({ store: left, namespace: 'default' }, { store: right, namespace: 'default' });
  });
});
