import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import type { PageRequest } from '../../src/core/store/event-store.ts';
import {
  conversation,
  createNodePlatform,
  defineProjection,
  type Event,
  type EventDraft,
  eventTypes,
  openReprise,
  openSqliteStore,
  project,
  runs,
  summary,
} from '../../src/index.ts';
import { openWith } from '../../src/open-reprise.ts';
import type { EventStore, Platform } from '../../src/store.ts';
import { SqliteReads } from '../sqlite-reads.ts';
import { all } from '../verbs/verb-case.ts';
import { type Calls, countingStore } from './counting-store.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-traps-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const newPath = (): string => join(directory, `${files++}.db`);
const openStore = (path: string): Promise<EventStore> => openSqliteStore({ path, platform, durability: 'process' });
const note = (text: string): EventDraft => ({ type: 'note.added', data: { text } });

/** A run with a model call and a tool call. */
function talk(name: string): EventDraft[] {
  const messages = [{ role: 'user', content: `${name}? `.repeat(200) }];
  const message = {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: `t${name}`, toolName: 'look', input: {} }],
  };
  return [
    { type: 'run.started', run: name, data: { title: name } },
    {
      type: 'call.started',
      run: name,
      data: { call: `m${name}`, kind: 'model', name: 'large', request: { messages } },
    },
    { type: 'call.ended', run: name, data: { call: `m${name}`, kind: 'model', name: 'large', outcome: 'ok', message } },
    { type: 'call.started', run: name, data: { call: `t${name}`, kind: 'tool', name: 'look', input: {} } },
    {
      type: 'call.ended',
      run: name,
      data: { call: `t${name}`, kind: 'tool', name: 'look', outcome: 'ok', output: name },
    },
    { type: 'run.ended', run: name, data: { outcome: 'ok' } },
  ];
}

describe('T6 a fold mints no ids', () => {
  const shipped = { conversation, runs, summary };
  /** A machine without clock and randomness: reading must not need them. */
  const still: Platform = {
    ...platform,
    now: () => {
      throw new Error('a look asked for the time');
    },
    newId: () => {
      throw new Error('a look asked for an id');
    },
    newSalt: () => {
      throw new Error('a look asked for chance');
    },
  };

  test.each(Object.keys(shipped) as (keyof typeof shipped)[])(
    '%s gives the same bytes twice, after a restart, and folded by hand',
    async (name) => {
      const projection = shipped[name] as typeof summary;
      const path = newPath();
      {
        await using reprise = await openReprise({ store: await openStore(path), platform });
        const session = await reprise.createSession('demo');
        for (const run of ['a', 'b', 'c']) await session.append(talk(run));
        await session.edit({
          kind: 'replace',
          seq: 5,
          event: { data: { call: 'ta', kind: 'tool', name: 'look', outcome: 'ok', output: 'edited' } },
        });
        await session.revert(6);
      }
      const values = new Set<string>();
      for (let restart = 0; restart < 2; restart++) {
        await using reprise = await openWith({ store: await openStore(path), platform: still }, { snapshotEvents: 2 });
        const session = await reprise.session('demo');
        for (const snapshots of [true, true, false])
          values.add(JSON.stringify(await session.fold(projection, { snapshots })));
        values.add(JSON.stringify(project(projection, await all(session.replay()))));
      }
      expect([...values]).toHaveLength(1);
    },
  );
});

describe('T12 the noise of streaming does not fill the log', () => {
  test('a call is two events however many chunks its answer came in, and the chunks are data of its end', async () => {
    const path = newPath();
    const chunks = Array.from({ length: 1_000 }, (_, index) => `data: {"delta":"token ${index}"}\n\n`);
    {
      await using reprise = await openReprise({ store: await openStore(path), platform });
      const session = await reprise.createSession('demo');
      const call = { call: 'c', kind: 'model', name: 'large' };
      await session.append({ type: 'call.started', data: { ...call, request: { messages: [] } } });
      const response = { body: chunks.join('') };
      await session.append({
        type: 'call.ended',
        data: { ...call, outcome: 'ok', response, firstTokenMs: 80, latencyMs: 9_000 },
      });
      const events = await all(session.replay());
      expect(events.map((event) => event.type)).toEqual(['call.started', 'call.ended']);
      expect(events[1]?.data['response']).toEqual(response);
    }
    const database = new DatabaseSync(path);
    const bytes = database.prepare('SELECT sum(octet_length(data)) AS held FROM events').get() as {
      readonly held: number;
    };
    const parts = database.prepare('SELECT sum(octet_length(text)) AS held FROM parts').get() as {
      readonly held: number;
    };
    database.close();
    expect(bytes.held + parts.held).toBeLessThan(chunks.join('').length * 1.2);
  });

  test('the catalogue has no type for progress', () => {
    expect(Object.keys(eventTypes).filter((type) => /progress|chunk|delta|token|stream/.test(type))).toEqual([]);
  });
});

describe('T13 opening and listing read no payload', () => {
  /** A store that remembers how it was read. */
  function watched(store: EventStore): { readonly store: EventStore; readonly pages: PageRequest[] } {
    const pages: PageRequest[] = [];
    const read: EventStore['read'] = (ref, view, page) => {
      pages.push(page);
      return store.read(ref, view, page);
    };
    const held = new Proxy(store, {
      get: (target, name) => (name === 'read' ? read : (Reflect.get(target, name) as () => void).bind(target)),
    });
    return { store: held, pages };
  }

  test('a payload of 12 MB is not read by opening, listing, locating or reading headers', async () => {
    const path = newPath();
    {
      await using reprise = await openReprise({ store: await openStore(path), platform });
      const session = await reprise.createSession('demo');
      for (let turn = 1; turn <= 6; turn++) await session.append({ ...note('x'.repeat(12_000_000)), turn });
    }
    using reads = new SqliteReads();
    const opened = watched(await openStore(path));
    await using reprise = await openReprise({ store: opened.store, platform });
    expect(await all(reprise.sessions())).toHaveLength(1);
    const session = await reprise.session('latest');
    expect((await session.tree()).head).toBe(6);
    expect((await session.at('@turn:3').locate()).seq).toBe(3);
    expect((await session.at('@5').locate()).seq).toBe(5);
    expect(opened.pages.filter((page) => page.select !== 'header')).toEqual([]);
    expect(reads.size).toBeLessThan(100_000);
    expect(await all(session.replay())).toHaveLength(6);
    expect(reads.size, 'what is read is counted').toBeGreaterThan(6 * 12_000_000);
  });

  test('the first events of a long history come with a small first page', async () => {
    const path = newPath();
    {
      await using recorder = await openReprise({ store: await openStore(path), platform });
      const recorded = await recorder.createSession('demo');
      for (let batch = 0; batch < 5; batch++)
        await recorded.append(Array.from({ length: 4_000 }, (_, index) => note(String(index))));
    }
    const opened = watched(await openStore(path));
    await using reprise = await openReprise({ store: opened.store, platform });
    const session = await reprise.session('demo');
    for await (const event of session.replay()) {
      expect(event.seq).toBe(1);
      break;
    }
    for await (const event of session.replay({ direction: 'backward' })) {
      expect(event.seq).toBe(20_000);
      break;
    }
    expect(opened.pages).toHaveLength(2);
    for (const page of opened.pages) expect(page.limit).toBeLessThanOrEqual(64);
  });
});

describe('T14 snapshots are taken when they are due, and read once', () => {
  const count = defineProjection({
    name: 'count',
    version: '1',
    history: 'view',
    initial: () => 0,
    apply: (value: number) => value + 1,
  });
  const unversioned = defineProjection({
    name: 'count',
    history: 'view',
    initial: () => 0,
    apply: (value: number) => value + 1,
  });

  async function counted(events: number): Promise<{
    readonly calls: Calls;
    readonly look: (projection: typeof count) => Promise<number>;
    readonly read: () => number;
    readonly append: () => Promise<unknown>;
  }> {
    const path = newPath();
    const recorder = await openReprise({ store: await openStore(path), platform });
    await (await recorder.createSession('demo')).append(Array.from({ length: events }, () => note('n'.repeat(50))));
    await recorder.close();
    const { store, calls } = countingStore(await openStore(path));
    let rows = 0;
    const read: EventStore['read'] = async (ref, view, page) => {
      const found = await store.read(ref, view, page);
      if (page.select === 'full') rows += found.events.length;
      return found;
    };
    const held = new Proxy(store, { get: (target, name) => (name === 'read' ? read : Reflect.get(target, name)) });
    const reprise = await openReprise({ store: held, platform });
    const session = await reprise.session('demo');
    return {
      calls,
      look: (projection) => session.fold(projection),
      append: () => session.append(note('more')),
      read: () => {
        const now = rows;
        rows = 0;
        return now;
      },
    };
  }

  test('none before snapshotEventsMin events, and none for a projection without a version', async () => {
    const few = await counted(limits.snapshotEventsMin - 1);
    expect(await few.look(count)).toBe(limits.snapshotEventsMin - 1);
    expect(few.calls.putSnapshot ?? 0).toBe(0);
    const many = await counted(3_000);
    expect(await many.look(unversioned)).toBe(3_000);
    expect([many.calls.putSnapshot ?? 0, many.calls.snapshots ?? 0]).toEqual([0, 0]);
  });

  test('one every snapshotEventsMin events, and the next look reads only what came after the last', async () => {
    const { calls, look, read, append } = await counted(3_000);
    expect(await look(count)).toBe(3_000);
    expect(calls.putSnapshot).toBe(Math.floor(3_000 / limits.snapshotEventsMin));
    expect(read()).toBe(3_000);
    for (let round = 0; round < 10; round++) {
      await append();
      const before = { ...calls };
      expect(await look(count)).toBe(3_001 + round);
      expect(read()).toBeLessThan(2 * limits.snapshotEventsMin);
      expect([calls.snapshots - before.snapshots, calls.snapshot ?? 0]).toEqual([1, 0]);
    }
  });

  test('a state as large as the log is kept so rarely that its snapshots stay under what snapshotBytesFactor allows', async () => {
    const path = newPath();
    const everything = defineProjection({
      name: 'everything',
      version: '1',
      history: 'view',
      initial: (): string[] => [],
      apply: (value: string[], event: Event) => [...value, String(event.data['text'])],
    });
    {
      await using reprise = await openReprise({ store: await openStore(path), platform });
      const session = await reprise.createSession('demo');
      await session.append(Array.from({ length: 4_000 }, (_, index) => note(`${index} `.repeat(20))));
      expect(await session.fold(everything)).toHaveLength(4_000);
    }
    const database = new DatabaseSync(path);
    const log = database.prepare('SELECT sum(octet_length(data)) AS held FROM events').get() as {
      readonly held: number;
    };
    const kept = database.prepare('SELECT total(octet_length(value)) AS held FROM snapshots').get() as {
      readonly held: number;
    };
    database.close();
    expect(kept.held).toBeLessThanOrEqual(log.held / limits.snapshotBytesFactor);
  });
});

describe('T18 what is not there any more is refused or said, never guessed', () => {
  const write = (value: string, version: number): EventDraft => ({
    type: 'state.committed',
    data: { operations: [{ agent: 'default', key: 'card', op: 'write', value, version }] },
  });

  test('an erased payload says so at every point, also through edits and forks, and no older value comes back', async () => {
    const store = await openStore(newPath());
    await using reprise = await openReprise({ store, platform });
    const session = await reprise.createSession('demo');
    await session.append([write('the first value of all', 1), write('a secret that must go', 2)]);
    const texts = defineProjection({
      name: 'texts',
      version: '1',
      history: 'view',
      initial: (): unknown[] => [],
      apply: (value: unknown[], event: Event) => [...value, event.erased === true ? 'erased' : 'there'],
    });
    await session.fold(texts);
    await session.fork('main@2', { name: 'x' });
    await session.erase('main@2');
    for (const at of ['main@2', 'main', 'x']) expect(await session.at(at).fold(texts)).toEqual(['there', 'erased']);
    const edited = await session.at('x').fold(texts, { edits: [{ kind: 'append', event: note('z') }] });
    expect(edited).toEqual(['there', 'erased', 'there']);
    const segment = { branch: 'main', after: 0, through: 2, except: [], carried: false } as never;
    const ref = { namespace: 'default', session: 'demo' };
    const page = await store.latest(ref, [segment], { prefix: 'state' }, { limit: 9, select: 'full' });
    expect(page.entries.map(({ event }) => [event.seq, event.erased, event.data])).toEqual([[2, true, null]]);
  });

  test('dropped snapshots change no answer, and a point that never was is refused', async () => {
    await using reprise = await openWith({ store: await openStore(newPath()), platform }, { snapshotEvents: 4 });
    const session = await reprise.createSession('demo');
    await session.append(Array.from({ length: 50 }, (_, index) => note(String(index))));
    const before = await session.at('main@33').fold(summary);
    await session.dropSnapshots();
    expect(await session.at('main@33').fold(summary)).toEqual(before);
    await expect(session.at('main@51').fold(summary)).rejects.toMatchObject({ code: 'point.out-of-range' });
    await expect(session.at('main@run:none').fold(summary)).rejects.toMatchObject({ code: 'point.out-of-range' });
  });

  test('a part that is gone without an erasure is refused, with what to do', async () => {
    const path = newPath();
    const content = 'a long message '.repeat(100);
    {
      await using reprise = await openReprise({ store: await openStore(path), platform });
      await (await reprise.createSession('demo')).append({
        type: 'message.added',
        data: { message: { role: 'user', content } },
      });
    }
    const database = new DatabaseSync(path);
    database.exec('DELETE FROM parts');
    database.close();
    await using reprise = await openReprise({ store: await openStore(path), platform });
    const session = await reprise.session('demo');
    await expect(session.fold(conversation)).rejects.toMatchObject({
      code: 'part.missing',
      hint: expect.stringMatching(/verify/),
    });
  });

  test('an event of a newer release is shown, and not folded', async () => {
    await using reprise = await openReprise({ store: await openStore(newPath()), platform });
    const session = await reprise.createSession('demo');
    await session.append({ ...note('from the future'), version: 99 });
    expect(await all(session.replay())).toHaveLength(1);
    await expect(session.fold(summary)).rejects.toMatchObject({ code: 'event.newer-version' });
  });
});
