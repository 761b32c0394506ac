import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { OpenStore } from '../../src/testing/contract/contract-case.ts';
import { storeContract } from '../../src/testing/contract/store-contract.ts';
import { tokenContract } from '../../src/testing/contract/tokens.ts';
import { alternate } from './alternate.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-contract-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const stores: Readonly<Record<string, OpenStore>> = {
  memory: async () => openMemoryStore({ platform }),
  // Each call goes to the other of two connections, so that nothing rests on what one of them remembers.
  'twice opened sqlite': async () => {
    const path = join(directory, `${++files}`, 'store.db');
    return alternate([
      await openSqliteStore({ path, platform, durability: 'process' }),
      await openSqliteStore({ path, platform, durability: 'process' }),
    ]);
  },
  sqlite: async () =>
    await openSqliteStore({ path: join(directory, `${++files}`, 'store.db'), platform, durability: 'process' }),
};

for (const [kind, open] of Object.entries(stores)) {
  describe(`the ${kind} store`, () => {
    for (const [method, cases] of Object.entries(storeContract)) {
      describe(`${method}()`, () => {
        for (const held of cases) it(`${held.name}`, () => held.run(open));
      });
    }
  });
}

const keepers = {
  memory: async () => openMemoryStore({ platform }),
  sqlite: async () =>
    await openSqliteStore({ path: join(directory, `${++files}`, 'store.db'), platform, durability: 'process' }),
};

describe.each(Object.entries(keepers))('the tokens of the %s store', (_, open) => {
  for (const held of tokenContract) it(`${held.name}`, () => held.run(open));
});
