// Opens a store with the invented release, so that it is migrated: node migrate-child.ts URL
import { createNodePlatform } from '../../src/node/platform.ts';
import { openMigratedStore } from '../../src/store/postgres/postgres-store.ts';
import { nextRelease } from './next-release.ts';

const [url = ''] = process.argv.slice(2);
const store = await openMigratedStore({ url, platform: createNodePlatform(), busyWaitMs: 60_000 }, nextRelease);
await store.close();
