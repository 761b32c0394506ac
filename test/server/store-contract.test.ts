import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storeContract } from '../../src/testing/contract/store-contract.ts';
import { serving } from './running-server.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
const running: (() => Promise<void>)[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-remote-'));
});
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** By gRPC on a file. The store is not the point of the second transport. */
async function openStore(transport: string): Promise<EventStore> {
  if (transport === 'connect') return openMemoryStore({ platform });
  return await openSqliteStore({ path: join(directory, `${++files}`, 'store.db'), platform, durability: 'process' });
}

describe.each(['grpc', 'connect'])('the store behind a server, by %s,', (transport) => {
  const open = async () => {
    const store = await openStore(transport);
    const server = await serving(store);
    const remote = await openRemoteStore({ url: `${server.url}?transport=${transport}`, platform, release: 'test' });
    running.push(async () => {
      await remote.close();
      await server.close();
      await store.close();
    });
    return remote;
  };
  for (const [method, cases] of Object.entries(storeContract))
    describe(`${method}()`, () => {
      for (const held of cases) it(`${held.name}`, () => held.run(open));
    });
});
