import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Seq } from '../../src/core/point.ts';
import type { EventStore, StoredEvent } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { until } from '../until.ts';
import { type Server, startServer } from './server.ts';

const platform = createNodePlatform();
const writers = 8;
const kills = 3;
const pauseMs = 700;
let server: Server;

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await server.stop();
});

const refOf = (writer: number) => ({ namespace: 'default', session: `s${writer % 4}` });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function allOf(store: EventStore, session: string): Promise<StoredEvent[]> {
  const ref = { namespace: 'default', session };
  const head = (await store.branch({ ...ref, branch: 'main' }))?.head ?? (0 as Seq);
  const view = [{ branch: 'main', after: 0 as Seq, through: head, except: [], carried: false }];
  const events: StoredEvent[] = [];
  let page = await store.read(ref, view, { limit: 1_000, select: 'header', direction: 'forward' });
  for (;;) {
    events.push(...page.events);
    if (page.next === undefined) return events;
    page = await store.read(ref, view, { limit: 1_000, select: 'header', direction: 'forward', cursor: page.next });
  }
}

it('I2: a server that is killed under load and started again has lost nothing acknowledged and doubled nothing', async () => {
  const open = (): Promise<EventStore> => openPostgresStore({ url: server.url(), platform, busyWaitMs: 60_000 });
  // Two stores are two processes as far as the server can tell.
  const stores = [await open(), await open()];
  for (let session = 0; session < 4; session++)
    await (stores[0] as EventStore).createSession(refOf(session), { root: 'main', seed: String(session) });

  const told = new Map<string, { readonly session: string; readonly seq: number; readonly digest: string }>();
  let isDone = false;
  let asked = 0;
  const seen: number[] = [];
  const stopped = new AbortController();
  const following = (async () => {
    const ref = { ...refOf(0), branch: 'main' };
    for await (const head of (stores[1] as EventStore).watch(ref, 0 as Seq, stopped.signal)) seen.push(head);
  })();
  const writing = Array.from({ length: writers }, async (_, writer) => {
    const ref = refOf(writer);
    for (let count = 0; !isDone; count++) {
      const event = note(`${writer}-${count}`, { id: `${writer}-${count}` });
      asked++;
      const [outcome] = await (stores[writer % 2] as EventStore).append([request(ref, [event])]);
      if (outcome?.ok !== true) throw outcome?.error;
      const [written] = outcome.events;
      told.set(event.id, { session: ref.session, seq: written?.seq ?? 0, digest: written?.digest ?? '' });
    }
  });
  const work = Promise.all(writing);
  for (let kill = 0; kill < kills; kill++) {
    const before = told.size;
    await sleep(pauseMs);
    await until(() => told.size > before + writers);
    await server.kill();
    await sleep(200);
    await server.restart();
  }
  await sleep(pauseMs);
  isDone = true;
  await work;

  expect(told.size).toBe(asked);
  expect(told.size).toBeGreaterThan(writers * kills);
  const reader = await open();
  let stored = 0;
  for (let session = 0; session < 4; session++) {
    const events = await allOf(reader, `s${session}`);
    stored += events.length;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ id }) => told.get(id))).toEqual(
      events.map(({ seq, digest }) => ({ session: `s${session}`, seq, digest })),
    );
  }
  expect(stored).toBe(told.size);
  const last = (await reader.branch({ ...refOf(0), branch: 'main' }))?.head ?? 0;
  await until(() => seen.at(-1) === last);
  stopped.abort();
  await following;
  expect(seen.at(-1)).toBe(last);
  expect(seen).toEqual([...seen].sort((left, right) => left - right));
  for (const store of [...stores, reader]) await store.close();
});
