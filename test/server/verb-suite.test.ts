import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { openReprise } from '../../src/index.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openMemoryStore } from '../../src/store/memory/memory-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { verbSuite } from '../verbs/verb-suite.ts';
import { serving } from './running-server.ts';

let directory = '';
let files = 0;
const running: (() => Promise<void>)[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-remote-verbs-'));
});
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** By gRPC on a file. The store is not the point of the second transport. */
async function openStore(transport: string): Promise<EventStore> {
  const platform = createNodePlatform();
  if (transport === 'connect') return openMemoryStore({ platform });
  return await openSqliteStore({ path: join(directory, `${files++}.db`), platform, durability: 'process' });
}

/**
 * Returns every case by gRPC. The store contract proves Connect below the verbs, so it gets the first cases of each verb;
 * `REPRISE_RUNS`, which a soak sets, runs all of them.
 */
function casesOf(transport: string): ReadonlySet<(typeof verbSuite)['fork'][number]> {
  const isWhole = transport === 'grpc' || process.env['REPRISE_RUNS'] !== undefined;
  return new Set(Object.values(verbSuite).flatMap((cases) => (isWhole ? cases : cases.slice(0, 2))));
}

describe.each(['grpc', 'connect'])('the verbs on a server, by %s', (transport) => {
  const open = async () => {
    const store = await openStore(transport);
    const server = await serving(store);
    const reprise = await openReprise(`${server.url}?transport=${transport}`);
    running.push(async () => {
      await reprise.close();
      await server.close();
      await store.close();
    });
    return reprise;
  };
  for (const held of casesOf(transport)) test(`${held.title}`, () => held.run(open));
});
