import { expect, test } from 'vitest';
import { countingStore } from '../../test/contract/counting-store.ts';
import type { EventDraft } from '../core/event.ts';
import { limits } from '../core/limits.ts';
import type { EventStore } from '../core/ports.ts';
import { createNodePlatform } from '../node/platform.ts';
import { conversation } from '../projections/conversation.ts';
import { summary } from '../projections/summary.ts';
import { openMemoryStore } from '../store/memory/memory-store.ts';
import { createReprise, type Reprise } from './reprise.ts';

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
  const ref = { namespace: 'default', session: 'demo', branch };
  const { upcastsVersion } = await import('../core/upcast.ts');
  return (await store.snapshots(ref, { ...key, upcasts: upcastsVersion }, 1e9 as never)).map((held) => held.seq);
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
  expect(await again.stateAt('main', summary)).toMatchObject({ events: 42, outcome: 'ok' });
  expect(await again.stateAt('child', summary)).toMatchObject({ events: 11, outcome: 'error' });
  expect(counted.calls.read ?? 0).toBe(0);
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
  const seen = await (await open(counting).session('demo')).stateAt('main', conversation);
  expect(seen).toEqual(await session.stateAt('main', conversation, { snapshots: false }));
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
