/** The cost of deciding about effects: nothing where there are none, and one reading of the record otherwise. */
import { expect, test } from 'vitest';
import { createNodePlatform, type EventFilter, openMemoryStore, openReprise } from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { countedRefund, recordLoop, refunding, says } from '../verbs/little-agent.ts';

/** A store that notes what its reads were filtered by. */
function watched(store: EventStore): { readonly store: EventStore; readonly filters: (EventFilter | undefined)[] } {
  const filters: (EventFilter | undefined)[] = [];
  const read: EventStore['read'] = (ref, view, page) => {
    filters.push(page.filter);
    return store.read(ref, view, page);
  };
  const watching = new Proxy(store, {
    get: (target, name) => {
      const held = Reflect.get(target, name) as unknown;
      if (name === 'read') return read;
      return typeof held === 'function' ? held.bind(target) : held;
    },
  });
  return { store: watching, filters };
}

test('the record is read for effects once, when the first call asks for it', async () => {
  const platform = createNodePlatform();
  const { store, filters } = watched(openMemoryStore({ platform }));
  await using reprise = await openReprise({ store, platform });
  const session = await reprise.createSession('demo');
  await recordLoop(session, { model: refunding(), tools: { refund: countedRefund() } }, ['Refund order 7.']);
  const readings = (): number => filters.filter((filter) => filter?.types?.join() === 'call.started,call.ended').length;
  const branch = await session.fork('main@2');
  await branch.resume(async () => says('Done.'));
  expect(readings()).toBe(0);
  await branch.resume(
    async ({ recorder }) => {
      for (const order of [1, 2, 3]) await recorder.call({ kind: 'tool', name: 'look', input: { order } }, () => order);
    },
    { prompt: 'Look at all of them.' },
  );
  expect(readings()).toBe(1);
});
