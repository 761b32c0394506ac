import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createNodePlatform } from '../../../node/platform.ts';
import { note, request } from '../../../testing/contract/contract-case.ts';
import { Catalogue } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { connectionLost } from '../postgres-error.ts';
import { Writer } from './writer.ts';

// The clock of the waits stands still except where it is moved.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('lets each append of a group wait as long as it may, however long those before it have waited', async () => {
  const waits = [50, 400];
  const database = {
    deadline: () => performance.now() + (waits.shift() as number),
    use: () => Promise.reject(connectionLost()),
  } as unknown as Database;
  const writer = new Writer(database, new Catalogue(), { platform: createNodePlatform(), onCommit: () => {} });
  const settled: string[] = [];
  const append = async (text: string): Promise<void> => {
    const outcome = await writer.append(request({ namespace: 'default', session: 'demo' }, [note(text)]));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'store.unreachable' } });
    settled.push(text);
  };
  const both = Promise.all([append('first'), append('second')]);
  await vi.advanceTimersByTimeAsync(49);
  expect(settled).toEqual([]);
  await vi.advanceTimersByTimeAsync(350);
  expect(settled).toEqual(['first']);
  // The last pause between two tries ends after the time is up.
  await vi.advanceTimersByTimeAsync(1_000);
  await both;
  expect(settled).toEqual(['first', 'second']);
});
