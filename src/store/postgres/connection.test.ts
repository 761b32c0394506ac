import { expect, it } from 'vitest';
import { Connection } from './connection.ts';
import type { Client } from './driver.ts';

it('writes nothing in a transaction that could not be begun', async () => {
  const seen: string[] = [];
  const timeout = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  const answerTo = (sql: string): Promise<{ readonly count: number }> => {
    seen.push(sql);
    return sql === 'BEGIN' ? Promise.reject(timeout) : Promise.resolve({ count: 0 });
  };
  const client: Client = {
    // As the driver does, it sends a statement when that is awaited.
    // oxlint-disable-next-line unicorn/no-thenable
    unsafe: (sql) => ({ then: (...told) => answerTo(sql).then(...told), values: () => Promise.resolve([]) }),
    end: async () => {},
  };
  const connection = new Connection({
    url: 'postgres://localhost/test',
    host: { name: 'localhost', port: 5432 },
    isEncrypted: false,
    driver: () => client,
    connectWaitMs: 1_000,
    answerWaitMs: 1_000,
    settings: {},
    schemaKnown: 1,
  });
  const working = connection.transaction(async () => {
    await connection.run('SELECT 1');
    await connection.run('INSERT INTO events VALUES (1)');
  });
  await expect(working).rejects.toMatchObject({ details: { postgres: '57014' } });
  expect(seen).toEqual(['BEGIN', 'SELECT 1']);
  expect(connection.isDead).toBe(true);
});
