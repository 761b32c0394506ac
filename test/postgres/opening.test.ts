import { expect, it } from 'vitest';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { Migration } from '../../src/store/postgres/migrate.ts';
import { openMigratedStore } from '../../src/store/postgres/postgres-store.ts';
import { migrations } from '../../src/store/postgres/schema.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { newPlace, tamper } from './place.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };

const next: Migration = {
  release: '0.2.0',
  version: 2,
  oldest: 1,
  changes: [{ kind: 'brief', sql: 'ALTER TABLE sessions ADD COLUMN colour text' }],
};

function opened(url: string, held: readonly Migration[] = migrations): Promise<EventStore> {
  return openMigratedStore({ url, platform, durability: 'process' }, held);
}

it('many who open a store that is not there yet make it once', async () => {
  const place = newPlace();
  const stores = await Promise.all(Array.from({ length: 6 }, () => opened(place)));
  const made = await Promise.allSettled(stores.map((store) => store.createSession(ref, { root: 'main', seed: 'x' })));
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await tamper(place, 'SELECT version, release FROM schema_versions')).toEqual([
    { version: 1, release: '0.1.0' },
  ]);
  for (const store of stores) await store.close();
});

it('a store of the release before is migrated once, with what is in it, while its writers go on', async () => {
  const place = newPlace();
  const old = await opened(place);
  await old.createSession(ref, { root: 'main', seed: 'x' });
  let isDone = false;
  const writing = (async () => {
    let count = 0;
    for (; !isDone; count++) {
      const [outcome] = await old.append([request(ref, [note(String(count))])]);
      if (outcome?.ok !== true) throw outcome?.error;
    }
    return count;
  })();
  const stores = await Promise.all(Array.from({ length: 3 }, () => opened(place, [...migrations, next])));
  isDone = true;
  const count = await writing;
  expect(count).toBeGreaterThan(0);
  for (const store of stores) expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(count);
  expect((await stores[0]?.health())?.schema).toBe('2');
  expect(await tamper(place, 'SELECT version FROM schema_versions ORDER BY version')).toEqual([
    { version: 1 },
    { version: 2 },
  ]);
  for (const store of [old, ...stores]) await store.close();
});

it('a store that was written before the first release is refused by name, and stays as it is', async () => {
  const place = newPlace();
  await (await opened(place)).close();
  await tamper(place, 'ALTER TABLE schema_versions RENAME TO schema_changes');
  await expect(opened(place)).rejects.toMatchObject({
    code: 'store.unsupported',
    message: expect.stringContaining('before the first release'),
    hint: expect.stringContaining('nothing was changed'),
  });
  expect(await tamper(place, 'SELECT version, release FROM schema_changes')).toEqual([
    { version: 1, release: '0.1.0' },
  ]);
});
