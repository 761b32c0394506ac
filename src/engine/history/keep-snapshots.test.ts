import { expect, test } from 'vitest';
import { countingStore } from '../../../test/contract/counting-store.ts';
import type { EventDraft } from '../../core/event/event.ts';
import { limits } from '../../core/limits.ts';
import type { EventStore } from '../../core/store/event-store.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { conversation } from '../../projections/conversation.ts';
import { summary } from '../../projections/summary.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import type { Reprise } from '../reprise.ts';
import { createReprise } from '../reprise-parts.ts';
import { engineOf } from '../session.ts';
import { foldAt } from './fold.ts';
import { placeAtHead } from './place.ts';

const platform = createNodePlatform();
const key = { projection: 'summary', version: summary.version ?? '', upcasts: 0, erasures: 0 };

const notes = (count: number): EventDraft[] =>
  Array.from({ length: count }, (_, index) => ({ type: 'note.added', data: { text: `note ${index}` } }));

/** Opens an engine whose store stays open, so that what it kept can be looked at once it is closed. */
function open(store: EventStore): Reprise {
  return createReprise({ store: changed(store, { close: async () => undefined }), platform });
}

function changed(store: EventStore, methods: Partial<EventStore>): EventStore {
  return new Proxy(store, {
    get: (target, name) => {
      const own = Reflect.get(methods, name) as unknown;
      if (own !== undefined) return own;
      return (Reflect.get(target, name) as (...given: unknown[]) => unknown).bind(target);
    },
  });
}

async function keptAt(store: EventStore, branch: string): Promise<number[]> {
  const ref = { namespace: 'default', session: 'demo' };
  const { upcastsVersion } = await import('../../core/event/upcast.ts');
  const keys = [{ ...key, upcasts: upcastsVersion }];
  const found = await store.snapshots(ref, { keys, within: [{ branch, through: 1e9 as never }] });
  return found.map((held) => held.seq);
}

test('the summary is kept where a run ends, on each branch, and a listing then reads no event', async () => {
  const store = openMemoryStore({ platform });
  const reprise = open(store);
  const session = await reprise.createSession('demo');
  await session.append([{ type: 'run.started', run: 'r' }, ...notes(40)]);
  await session.append({ type: 'run.ended', run: 'r', data: { outcome: 'ok' } });
  const child = await session.fork('main@10', { name: 'child' });
  await child.append({ type: 'run.ended', run: 'r', data: { outcome: 'error' } });
  await reprise.close();
  expect([await keptAt(store, 'main'), await keptAt(store, 'child')]).toEqual([[42], [12]]);
  const counted = countingStore(store);
  const again = await open(counted.store).session('demo');
  expect(await again.fold(summary)).toMatchObject({ events: 42, outcome: 'ok' });
  expect(await again.at('child').fold(summary)).toMatchObject({ events: 11, outcome: 'error' });
  expect(counted.calls.read ?? 0).toBe(0);
});

test('a projection that folds nothing of a long history is kept as well, and the history is not passed over again', async () => {
  const store = openMemoryStore({ platform });
  const reprise = open(store);
  const session = await reprise.createSession('demo');
  await session.append(notes(limits.snapshotEventsMin));
  await session.fold(conversation);
  await session.append(notes(10));
  await reprise.close();
  const read: number[] = [];
  const watched = changed(store, {
    read: (ref, view, page) => {
      for (const { after, through } of view) read.push(through - after);
      return store.read(ref, view, page);
    },
  });
  const again = await open(watched).session('demo');
  expect(await again.fold(conversation)).toEqual(await again.fold(conversation, { snapshots: false }));
  // The fold reads the new events, and the comparison everything.
  expect(read).toEqual([10, limits.snapshotEventsMin + 10]);
});

test('the summary is kept whenever another thousand events are there, however they were appended', async () => {
  const store = openMemoryStore({ platform });
  const reprise = open(store);
  const session = await reprise.createSession('demo');
  await session.append(notes(limits.summaryEventsMax - 1));
  await reprise.close();
  expect(await keptAt(store, 'main')).toEqual([]);
  await session.append(notes(2));
  await reprise.close();
  expect(await keptAt(store, 'main')).toEqual([1001]);
  await session.append(notes(1500));
  await reprise.close();
  expect(await keptAt(store, 'main')).toEqual([2501, 1001]);
});

test('the summary goes on with what is appended, and is the one a fold gives whatever others did meanwhile', async () => {
  const store = openMemoryStore({ platform });
  const [one, two] = [open(store), open(store)];
  const session = await one.createSession('demo');
  const beside = await two.session('demo');
  const run = (name: string): EventDraft[] => [
    { type: 'run.started', run: name, data: { title: `run ${name}` } },
    { type: 'run.ended', run: name, data: { outcome: 'ok' } },
  ];
  const isRight = async (branch = 'main'): Promise<void> => {
    await one.close();
    await two.close();
    const kept = await session.at(branch).fold(summary);
    expect(kept).toEqual(await session.at(branch).fold(summary, { snapshots: false }));
  };
  await session.append([
    ...run('a'),
    { type: 'message.added', data: { message: { role: 'user', content: 'secret' } } },
  ]);
  await isRight();
  await beside.append(run('b'));
  await session.append(run('c'));
  await isRight();
  await session.rewind(2);
  await session.append(run('d'));
  await isRight();
  // An erasure on the parent leaves no marker on the child.
  const child = await session.fork('main', { name: 'child' });
  await child.append(run('e'));
  await isRight('child');
  await session.erase('main@1');
  await child.append(run('f'));
  await isRight('child');
});

test('the summary of a session that was made anew holds nothing of the one before it, though it is as long', async () => {
  const store = openMemoryStore({ platform });
  const [one, two] = [open(store), open(store)];
  const session = await one.createSession('demo');
  await session.append([{ type: 'run.started', run: 'a', data: { title: 'before' } }, ...notes(4)]);
  await (await two.session('demo')).delete({ confirm: 'demo' });
  await (await two.createSession('demo')).append(notes(5));
  await session.append({ type: 'run.ended', run: 'b', data: { outcome: 'ok' } });
  await one.close();
  expect(await session.fold(summary)).toMatchObject({ events: 6, title: null, outcome: 'ok' });
});

test('a process that appends to many branches remembers the summaries of the last thousand', async () => {
  const store = openMemoryStore({ platform });
  const reprise = open(store);
  for (let count = 0; count <= limits.summariesRunningMax; count++)
    await (await reprise.createSession(`s${count}`)).append(notes(1));
  const first = await reprise.session('s0');
  await first.append([...notes(1), { type: 'run.ended', data: { outcome: 'ok' } }]);
  await reprise.close();
  expect(await first.fold(summary)).toMatchObject({ events: 3, outcome: 'ok' });
});

test('the conversation is kept now and then, so that a first look deep in a history does not begin at zero', async () => {
  const store = openMemoryStore({ platform });
  const reprise = open(store);
  const session = await reprise.createSession('demo');
  const message = (index: number): EventDraft => ({
    type: 'message.added',
    agent: `a${index % 7}`,
    data: { message: { role: 'user', content: `question ${index}` } },
  });
  const answered = (index: number): EventDraft[] => [
    message(index),
    {
      type: 'call.started',
      agent: `a${index % 7}`,
      data: { call: `c${index}`, kind: 'model', name: 'm', request: { messages: [] } },
    },
    {
      type: 'call.ended',
      agent: `a${index % 7}`,
      data: { call: `c${index}`, kind: 'model', name: 'm', outcome: 'ok' },
    },
  ];
  const total = limits.conversationEventsMax + 400;
  for (let index = 0; index < total / 3; index += 100)
    await session.append(Array.from({ length: 100 }, (_, more) => answered(index + more)).flat());
  await reprise.close();
  let read = 0;
  const counting = changed(store, {
    read: async (...given) => {
      const page = await store.read(...given);
      read += page.events.length;
      return page;
    },
  });
  const seen = await (await open(counting).session('demo')).fold(conversation);
  expect(seen).toEqual(await session.fold(conversation, { snapshots: false }));
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(1_000);
});

test('an append goes on when its summary cannot be kept', async () => {
  const store = openMemoryStore({ platform });
  const putSnapshot = async (): Promise<void> => {
    throw new Error('the disk is full');
  };
  const reprise = open(changed(store, { putSnapshot }));
  const session = await reprise.createSession('demo');
  const [ended] = await session.append({ type: 'run.ended', data: { outcome: 'ok' } });
  expect(ended?.seq).toBe(1);
  await expect(reprise.close()).resolves.toBeUndefined();
});

test('the summary that is kept at the end of a resume is that of the log, and is read at once', async () => {
  const inner = openMemoryStore({ platform });
  const { store, calls } = countingStore(inner);
  const reprise = open(store);
  const session = await reprise.createSession('demo');
  await session.append([{ type: 'message.added', data: { message: { role: 'user', content: 'Hi.' } } }, ...notes(2)]);
  const branch = await session.fork('main', { name: 'x' });
  let asked = { ...calls };
  await branch.resume(async ({ recorder }) => {
    await branch.append(notes(1));
    asked = { ...calls };
    return recorder.call({ kind: 'model', name: 'small' }, () => 'Hello.');
  });
  await reprise.close();
  const head = (await inner.branch({ namespace: 'default', session: 'demo', branch: 'x' }))?.head ?? 0;
  expect(await keptAt(inner, 'x')).toEqual([head]);
  // It looks at the session, and at no branch but for the fingerprint of the run.
  expect((calls.branch ?? 0) - (asked.branch ?? 0)).toBe(1);
  const engine = engineOf(await open(inner).session('demo'));
  const place = await placeAtHead(engine, 'demo', 'x');
  expect(await foldAt(engine, place, summary)).toEqual(await foldAt(engine, place, summary, false));
});
