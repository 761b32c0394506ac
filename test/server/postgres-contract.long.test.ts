/** The store contract by two clients of two servers on one PostgreSQL database. */
import { afterAll, afterEach, describe, it } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { storeContract } from '../../src/testing/contract/store-contract.ts';
import { alternate } from '../contract/alternate.ts';
import { readyPlace } from '../postgres/ready-place.ts';
import { serving } from './running-server.ts';

const platform = createNodePlatform();
const clients: EventStore[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/**
 * The servers of each place. They go on when a test ends: the place is emptied for the next one, as if a third process
 * had deleted everything, and starting servers would take longer than the tests.
 */
const servers = new Map<string, Promise<readonly RunningServer[]>>();
const stores: EventStore[] = [];
afterAll(async () => {
  for (const started of servers.values()) for (const server of await started) await server.close();
  for (const store of stores) await store.close();
});

async function started(url: string): Promise<RunningServer> {
  const store = await openPostgresStore({ url, platform, durability: 'process' });
  stores.push(store);
  return await serving(store);
}

async function connected(server: RunningServer | undefined, transport: string): Promise<EventStore> {
  const client = await openRemoteStore({
    url: `${server?.url}?transport=${transport}`,
    platform,
    release: 'test',
  });
  clients.push(client);
  return client;
}

describe('two servers on one postgres, one by grpc and one by connect,', () => {
  const open = async (): Promise<EventStore> => {
    const place = await readyPlace();
    const pair = servers.get(place) ?? Promise.all([started(place), started(place)]);
    servers.set(place, pair);
    const [first, second] = await pair;
    return alternate([await connected(first, 'grpc'), await connected(second, 'connect')]);
  };
  for (const [method, cases] of Object.entries(storeContract))
    describe(`${method}()`, () => {
      for (const held of cases) it(`${held.name}`, () => held.run(open));
    });
});
