/** How long a program waits while the schema is changed under it: a time, so it is measured here and not by `npm test`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filled, filledPlace, opened, startWriters } from '../postgres/migrating.ts';
import { nextRelease } from '../postgres/next-release.ts';
import { type Server, startServer } from '../postgres/server.ts';

const stallMsMax = 2_000;
const rounds = 5;

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('a large store is migrated again and again, and no append waits for long', async () => {
  for (let round = 0; round < rounds; round++) {
    const { place, store } = await filledPlace(`${server.url()}?schema=r${round}`);
    const writers = startWriters(store);
    const next = await opened(place, nextRelease);
    const { appended, longestMs } = await writers.stop();
    console.info(`Migrated ${filled} events; ${appended} appends meanwhile, the longest ${Math.round(longestMs)} ms`);
    expect(longestMs).toBeLessThan(stallMsMax);
    for (const held of [store, next]) await held.close();
  }
});
