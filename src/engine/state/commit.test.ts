import { expect, test } from 'vitest';
import { RepriseError } from '../../core/error.ts';
import { limits } from '../../core/limits.ts';
import type { AppendOutcome, AppendRequest, EventStore } from '../../core/store/event-store.ts';
import { createNodePlatform } from '../../node/platform.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { createReprise } from '../reprise-parts.ts';
import type { Session } from '../session.ts';

const platform = createNodePlatform();

/** A session on a store whose appends of state go through a fault first; an undefined outcome is the store's own. */
async function faultySession(
  fault: (store: EventStore, requests: readonly AppendRequest[]) => Promise<readonly AppendOutcome[]>,
): Promise<Session> {
  const store = openMemoryStore({ platform });
  const faulty: EventStore = new Proxy(store, {
    get: (target, name) => {
      if (name === 'append')
        return (requests: readonly AppendRequest[]) =>
          requests.some(({ events }) => events[0]?.type === 'state.committed')
            ? fault(target, requests)
            : target.append(requests);
      const held: unknown = Reflect.get(target, name);
      return typeof held === 'function' ? held.bind(target) : held;
    },
  });
  return createReprise({ store: faulty, platform }).createSession('demo');
}

const refusal = (code: 'state.conflict' | 'store.busy'): readonly AppendOutcome[] => [
  { ok: false, error: new RepriseError(code, 'Cannot append: so it was planted') },
];

test('a blind write that always loses ends at commitTriesMax, and not in state.conflict', async () => {
  let tries = 0;
  const session = await faultySession(async () => {
    tries += 1;
    return refusal('state.conflict');
  });
  await expect(session.state.transaction((tx) => tx.write('a', 1))).rejects.toMatchObject({
    code: 'limit.exceeded',
    details: { limit: 'commitTriesMax' },
  });
  expect(tries).toBe(limits.commitTriesMax + 1);
});

test('a commit whose answer was lost is repeated without being stored twice', async () => {
  let lost = 0;
  const session = await faultySession(async (store, requests) => {
    const outcomes = await store.append(requests);
    return lost++ === 0 ? refusal('store.busy') : outcomes;
  });
  const { state } = session;
  const tx = state.begin();
  tx.write('a', 1);
  await expect(tx.commit()).rejects.toMatchObject({ code: 'store.busy' });
  await state.transaction((other) => other.write('a', 'by another'));
  const { seq, versions } = await tx.commit();
  expect([seq, versions]).toEqual([1, [{ agent: 'default', key: 'a', version: 1 }]]);
  expect(await state.get('a')).toMatchObject({ value: 'by another', version: 2 });
});

test('a commit that began in time is finished, and one that failed meanwhile is let go of untouched', async () => {
  let isFailing = false;
  const session = await faultySession(async (store, requests) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return isFailing ? refusal('store.busy') : store.append(requests);
  });
  const { state } = session;
  const late = state.begin({ timeoutMs: 250 });
  late.write('a', 1);
  expect((await late.commit()).seq).toBe(1);
  isFailing = true;
  const failed = state.begin({ timeoutMs: 250 });
  failed.write('a', 2);
  await expect(failed.commit()).rejects.toMatchObject({ code: 'store.busy' });
  expect(() => state.openTransaction(failed.txn)).toThrow(expect.objectContaining({ code: 'transaction.not-found' }));
  await expect(failed.commit()).rejects.toMatchObject({ code: 'transaction.expired' });
});

test('a commit that was not stored can be tried again, on what is there by then', async () => {
  let refused = 0;
  const session = await faultySession(async (store, requests) =>
    refused++ === 0 ? refusal('store.busy') : store.append(requests),
  );
  const { state } = session;
  const tx = state.begin();
  await tx.get('rule');
  tx.write('a', 1);
  await expect(tx.commit()).rejects.toMatchObject({ code: 'store.busy' });
  await state.transaction((other) => other.write('a', 'by another'));
  tx.write('b', 1);
  expect((await tx.commit()).versions).toEqual([
    { agent: 'default', key: 'a', version: 2 },
    { agent: 'default', key: 'b', version: 1 },
  ]);
});
