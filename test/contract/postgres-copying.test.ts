import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { createNodePlatform, openMemoryStore, openPostgresStore, openSqliteStore } from '../../src/index.ts';
import { newPlace } from '../postgres/place.ts';
import { copyPairs } from './copy-pairs.ts';

const platform = createNodePlatform();
let directory = '';
let files = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-copying-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

copyPairs(
  [
    ['postgres', 'postgres'],
    ['postgres', 'sqlite'],
    ['sqlite', 'postgres'],
    ['memory', 'postgres'],
    ['postgres', 'memory'],
  ],
  {
    memory: async () => openMemoryStore({ platform }),
    sqlite: () => openSqliteStore({ path: join(directory, `${files++}.db`), platform, durability: 'process' }),
    postgres: () => openPostgresStore({ url: newPlace(), platform, durability: 'process' }),
  },
);
