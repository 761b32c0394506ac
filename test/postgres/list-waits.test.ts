/** How often a listing waits for a PostgreSQL server one time after the other: over a network, each wait takes a while. */
import { expect, it } from 'vitest';
import { createReprise } from '../../src/engine/reprise-parts.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { listBranches } from '../../src/reading/answers/list-branches.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { waitingStore } from '../server/waiting-store.ts';
import { newPlace } from './place.ts';

const platform = createNodePlatform();

it('a list of 50 sessions waits at most 4 times', async () => {
  const { store, waits } = waitingStore(await openPostgresStore({ url: newPlace(), platform, durability: 'process' }));
  await using reprise = createReprise({ store, platform });
  for (let index = 0; index < 50; index++) {
    const session = await reprise.createSession(`s${index}`);
    await session.append({ type: 'note.added', data: { text: `${index}` } });
    if (index % 10 === 0) await session.fork('main', { name: 'x', reason: 'to see' });
  }
  await waits.quiet();
  waits.calls.length = 0;
  let rows = 0;
  for await (const branches of listBranches(reprise, { limit: 50 })) rows += branches.length;
  expect(rows).toBe(55);
  expect(waits.calls.length, waits.calls.join(' | ')).toBeLessThanOrEqual(4);
});
