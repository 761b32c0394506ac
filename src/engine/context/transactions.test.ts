import { expect, test } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import { openMemoryStore } from '../../store/memory/memory-store.ts';
import { createReprise } from '../reprise-parts.ts';
import type { Session } from '../session.ts';

/** A session whose wall clock and stop watch are moved by hand; timers never fire. */
async function clockedSession(): Promise<{ readonly session: Session; readonly clock: { wall: number; ms: number } }> {
  const clock = { wall: Date.parse('2026-11-15T10:00:00Z'), ms: 0 };
  const platform = {
    ...createNodePlatform(),
    now: () => new Date(clock.wall).toISOString(),
    elapsedMs: () => clock.ms,
    startIdleTimer: () => () => undefined,
  };
  const session = await createReprise({ store: openMemoryStore({ platform }), platform }).createSession('demo');
  return { session, clock };
}

test('a wall clock that leaps ahead does not expire a transaction', async () => {
  const { session, clock } = await clockedSession();
  const tx = session.state.begin({ timeoutMs: 1_000 });
  clock.wall += 3_600_000;
  clock.ms += 999;
  tx.write('a', 1);
  expect(session.state.openTransaction(tx.txn).txn).toBe(tx.txn);
  const { seq, time } = await tx.commit();
  expect([seq, time]).toEqual([1, '2026-11-15T11:00:00.000Z']);
});

test('a wall clock that is set back does not keep a transaction', async () => {
  const { session, clock } = await clockedSession();
  const tx = session.state.begin({ timeoutMs: 1_000 });
  const other = session.state.begin({ timeoutMs: 1_000 });
  clock.wall -= 3_600_000;
  clock.ms += 1_000;
  expect(() => tx.write('a', 1)).toThrow(expect.objectContaining({ code: 'transaction.expired' }));
  expect(() => session.state.openTransaction(other.txn)).toThrow(
    expect.objectContaining({ code: 'transaction.not-found' }),
  );
});
