import { expect, test } from 'vitest';
import { countingStore } from '../../../test/contract/counting-store.ts';
import { defineProjection } from '../../core/event/projection.ts';
import { limits } from '../../core/limits.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { runs } from '../../projections/runs.ts';
import { summary } from '../../projections/summary.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { replayPages } from '../looking/replay.ts';
import { createEngine, createReprise } from '../reprise-parts.ts';
import { findPlace } from './place.ts';

const platform = createNodePlatform();

/** Returns the body of the n-th request: that of the one before, and a little more. */
const body = (count: number): string => `${'x'.repeat(3_000_000)}${'question; '.repeat(count)}]}`;

const asked = (count: number) => ({
  type: 'call.started',
  data: { call: `c${count}`, kind: 'model', name: 'm', request: { body: body(count) } },
});

test('large bodies that are stored as small differences are handed out a few at a time, and come back whole', async () => {
  const store = openMemoryStore({ platform });
  const session = await createReprise({ store, platform }).createSession('demo');
  const engine = createEngine({ store, platform });
  const total = 40;
  expect(total * body(1).length).toBeGreaterThan(limits.bodiesKeptMax + limits.batchBodiesMax);
  for (let count = 0; count < total; count++) await session.append(asked(count));
  const sizes: number[] = [];
  let seen = 0;
  for await (const events of replayPages(engine, () => findPlace(engine, 'demo', {}))) {
    sizes.push(events.length);
    for (const { data } of events) expect(data).toEqual(asked(seen++).data);
  }
  expect(seen).toBe(total);
  expect(Math.max(...sizes) * 3_000_000).toBeLessThan(limits.batchBodiesMax + 6_100_000);
  // Backwards, each one is made from what its own base is made from.
  for await (const { data } of session.replay({ direction: 'backward' })) expect(data).toEqual(asked(--seen).data);
});

test('a fold that does not look at requests reads none of their parts', async () => {
  const store = openMemoryStore({ platform });
  const session = await createReprise({ store, platform }).createSession('demo');
  await session.append([
    asked(1),
    { type: 'call.ended', data: { call: 'c1', kind: 'model', name: 'm', outcome: 'ok' } },
  ]);
  const counted = countingStore(store);
  const again = await createReprise({ store: counted.store, platform }).session('demo');
  await again.fold(summary);
  await again.fold(runs);
  expect(counted.calls.parts ?? 0).toBe(0);
  const all = defineProjection({ name: 'all', history: 'view', initial: () => 0, apply: (value) => value + 1 });
  expect(await again.fold(all)).toBe(2);
  expect(counted.calls.parts).toBe(1);
});

test('a session that is deleted between an event and its parts is gone, not damaged', async () => {
  const store = openMemoryStore({ platform });
  const asking = new Proxy(store, {
    get: (target, name) => {
      const method = (Reflect.get(target, name) as (...given: unknown[]) => unknown).bind(target);
      if (name !== 'parts') return method;
      return async (...given: unknown[]) => {
        await target.deleteSession({ namespace: 'default', session: 'demo' });
        return method(...given);
      };
    },
  });
  const session = await createReprise({ store: asking, platform }).createSession('demo');
  await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'x'.repeat(5_000) } } });
  await expect(async () => {
    for await (const _ of session.replay());
  }).rejects.toMatchObject({ code: 'session.not-found' });
});
