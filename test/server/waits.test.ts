/** How often a verb waits for its store one time after the other: on a distant server, each wait is a round trip. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import { createReprise } from '../../src/engine/reprise-parts.ts';
import { createNodePlatform, openMemoryStore, type Reprise, type Session } from '../../src/index.ts';
import { listBranches } from '../../src/reading/answers/list-branches.ts';
import { serving } from './running-server.ts';
import { type Waits, waitingStore } from './waiting-store.ts';

const platform = createNodePlatform();
const running: (() => Promise<void>)[] = [];
let reprise: Reprise;
let waits: Waits;

beforeEach(async () => {
  const server = await serving(openMemoryStore({ platform }));
  const remote = await openRemoteStore({ url: server.url, platform, release: 'test' });
  const counted = waitingStore(remote);
  waits = counted.waits;
  reprise = createReprise({ store: counted.store, platform });
  running.push(async () => {
    await reprise.close();
    await server.close();
  });
});
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

/** Returns the waits of a verb, up to the first of a kind if one is named. */
async function waited(work: () => Promise<unknown>, until?: string): Promise<number> {
  // Summaries that the writes before this keep in the background are not part of the verb.
  await waits.quiet();
  waits.calls.length = 0;
  await work();
  const end = until === undefined ? -1 : waits.calls.findIndex((calls) => calls.split('+').includes(until));
  return end === -1 ? waits.calls.length : end;
}

const question = (order: number) =>
  ({ role: 'user', content: `Refund order ${order}. ${'Please. '.repeat(100)}` }) as const;

/** Records a run of two turns, each with a model call and a tool call. */
async function recordRun(session: Session): Promise<void> {
  await using recorder = await session.record({ agent: 'support' });
  await recorder.run({ title: 'Refund' }, async () => {
    for (const order of [7, 8]) {
      recorder.message(question(order));
      const input = { messages: [question(order)] };
      await recorder.call({ kind: 'model', name: 'scripted', input }, async () => ({ text: 'ok' }));
      await recorder.call({ kind: 'tool', name: 'refund', input: { order } }, async () => ({ refunded: order }));
    }
  });
}

test('record() waits at most 4 times', async () => {
  const session = await reprise.createSession('demo');
  expect(await waited(() => session.record({ agent: 'support' }))).toBeLessThanOrEqual(4);
  await recordRun(session);
  expect(await waited(() => session.record({ agent: 'support' }))).toBeLessThanOrEqual(4);
});

test('fork() with a prompt waits at most 8 times', async () => {
  const session = await reprise.createSession('demo');
  await recordRun(session);
  expect(await waited(() => session.fork('main', { name: 'a' }))).toBeLessThanOrEqual(8);
  expect(await waited(() => session.fork('main', { name: 'b', prompt: 'Refund order 9.' }))).toBeLessThanOrEqual(8);
});

test('diff() waits at most 12 times', async () => {
  const session = await reprise.createSession('demo');
  await recordRun(session);
  await session.fork('main', { name: 'b', prompt: 'Refund order 9.' });
  await recordRun(session);
  expect(await waited(() => reprise.diff('demo/main', 'demo/b'))).toBeLessThanOrEqual(12);
});

test('resume() waits at most 30 times before its run begins', async () => {
  const session = await reprise.createSession('demo');
  await recordRun(session);
  const branch = await session.fork('main', { name: 'b', prompt: 'Refund order 9.' });
  const count = await waited(() => branch.resume(async () => ({ text: 'done' })), 'append');
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(30);
});

test('appends of one turn of the event loop are one call', async () => {
  const session = await reprise.createSession('demo');
  const notes = Array.from({ length: 20 }, (_, index) => ({ type: 'note.added', data: { text: `${index}` } }));
  expect(await waited(() => Promise.all(notes.map((note) => session.append(note))))).toBe(1);
});

test('list of 50 sessions waits at most 4 times', async () => {
  for (let index = 0; index < 50; index++) {
    const session = await reprise.createSession(`s${index}`);
    await session.append({ type: 'note.added', data: { text: `${index}` } });
  }
  const list = async (): Promise<void> => {
    for await (const _ of listBranches(reprise, { limit: 50 }));
  };
  expect(await waited(list), waits.calls.join(' | ')).toBeLessThanOrEqual(4);
});
