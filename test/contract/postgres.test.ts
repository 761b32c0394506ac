import { describe, it } from 'vitest';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { OpenStore } from '../../src/testing/contract/contract-case.ts';
import { storeContract } from '../../src/testing/contract/store-contract.ts';
import { tokenContract } from '../../src/testing/contract/tokens.ts';
import { readyPlace } from '../postgres/ready-place.ts';
import { alternate } from './alternate.ts';

const platform = createNodePlatform();
const open = (url: string): Promise<EventStore> => openPostgresStore({ url, platform, durability: 'process' });

const stores: Readonly<Record<string, OpenStore>> = {
  postgres: async () => await open(await readyPlace()),
  // Each call goes to the other of two stores, so that nothing rests on what one of them remembers. Two servers on one
  // database do the same in `test/server/postgres-contract.long.test.ts`, so only a soak runs it without them.
  ...(process.env['REPRISE_RUNS'] === undefined
    ? {}
    : {
        'twice opened postgres': async () => {
          const place = await readyPlace();
          return alternate([await open(place), await open(place)]);
        },
      }),
};

/** Methods that ask the server each time: a store remembers nothing about them. */
const unremembered = new Set(['close', 'health', 'snapshots', 'snapshot', 'putSnapshot', 'heldSnapshots', 'receipts']);

for (const [kind, opened] of Object.entries(stores)) {
  describe(`the ${kind} store`, () => {
    for (const [method, cases] of Object.entries(storeContract)) {
      if (kind !== 'postgres' && unremembered.has(method)) continue;
      describe(`${method}()`, () => {
        for (const held of cases) it(`${held.name}`, () => held.run(opened));
      });
    }
  });
}

describe('the tokens of the postgres store', () => {
  for (const held of tokenContract)
    it(`${held.name}`, () =>
      held.run(async () => openPostgresStore({ url: await readyPlace(), platform, durability: 'process' })));
});
