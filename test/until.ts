import { vi } from 'vitest';

/** Long enough for a machine that is busy with other things; it only decides when a test that fails gives up. */
const patienceMs = 60_000;

/** Waits until something is so, however long a busy machine takes for it. Returns what it was asked for. */
export async function until<Value>(isSo: () => Value | Promise<Value>): Promise<NonNullable<Awaited<Value>>> {
  return (await vi.waitUntil(isSo, { timeout: patienceMs, interval: 10 })) as NonNullable<Awaited<Value>>;
}
