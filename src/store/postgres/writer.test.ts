import { expect, it } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import { note, request } from '../../testing/contract/contract-case.ts';
import { Catalogue } from './catalogue.ts';
import type { Database } from './database.ts';
import { connectionLost } from './postgres-error.ts';
import { Writer } from './writer.ts';

it('lets each append of a group wait as long as it may, however long those before it have waited', async () => {
  const waits = [50, 400];
  const database = {
    deadline: () => performance.now() + (waits.shift() as number),
    use: () => Promise.reject(connectionLost()),
  } as unknown as Database;
  const writer = new Writer(database, new Catalogue(), { platform: createNodePlatform(), onCommit: () => {} });
  const began = performance.now();
  const waited = async (text: string): Promise<number> => {
    const outcome = await writer.append(request({ namespace: 'default', session: 'demo' }, [note(text)]));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'store.unreachable' } });
    return performance.now() - began;
  };
  const [first, second] = await Promise.all([waited('first'), waited('second')]);
  expect(first).toBeGreaterThanOrEqual(50);
  expect(first).toBeLessThan(400);
  expect(second).toBeGreaterThanOrEqual(400);
});
