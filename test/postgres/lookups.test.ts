import { expect, it } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { newPlace, tamper } from './place.ts';

const events = 3_000;
const platform = createNodePlatform();

it('finds an event by its place without going through the session, before the server has statistics', async () => {
  const place = newPlace();
  const open = () => openPostgresStore({ url: place, platform, durability: 'process' });
  {
    await using reprise = await openReprise({ store: await open(), platform });
    await tamper(place, 'ALTER TABLE events SET (autovacuum_enabled = false)');
    const session = await reprise.session('demo', { create: true });
    const drafts = Array.from({ length: events }, (_, at) => ({
      type: 'note.added',
      turn: at,
      data: { text: `Note ${at}` },
    }));
    await session.append(drafts);
  }
  {
    await using reprise = await openReprise({ store: await open(), platform });
    const session = await reprise.session('demo');
    await session.fork('main@1500', { name: 'other' });
    await session.rewind('@turn:2000');
    await session.erase('main@1200');
  }
  await expect.poll(() => entriesRead(place, 'events_pkey'), { timeout: 10_000 }).toBeGreaterThan(0);
  expect(await entriesRead(place, 'events_id')).toBeLessThan(events);
});

/** How many entries of an index were read, by those who have gone. */
async function entriesRead(place: string, index: string): Promise<number> {
  const [row] = await tamper<{ read: string }>(
    place,
    `SELECT idx_tup_read AS read FROM pg_stat_user_indexes WHERE schemaname = current_schema() AND indexrelname = '${index}'`,
  );
  return Number(row?.read);
}
