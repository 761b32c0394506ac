/** The store contract by two clients of two servers on one PostgreSQL database. */
import { afterEach, describe, it } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { storeContract } from '../../src/testing/contract/store-contract.ts';
import { alternate } from '../contract/alternate.ts';
import { readyPlace } from '../postgres/ready-place.ts';
import { serving } from './running-server.ts';

const platform = createNodePlatform();
const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

async function served(url: string, transport: string): Promise<EventStore> {
  const store = await openPostgresStore({ url, platform, durability: 'process' });
  const server = await serving(store);
  const remote = await openRemoteStore({ url: `${server.url}?transport=${transport}`, platform, release: 'test' });
  running.push(async () => {
    await remote.close();
    await server.close();
    await store.close();
  });
  return remote;
}

describe('two servers on one postgres, one by grpc and one by connect,', () => {
  const open = async (): Promise<EventStore> => {
    const place = await readyPlace();
    return alternate([await served(place, 'grpc'), await served(place, 'connect')]);
  };
  for (const [method, cases] of Object.entries(storeContract))
    describe(`${method}()`, () => {
      for (const held of cases) it(`${held.name}`, () => held.run(open));
    });
});
