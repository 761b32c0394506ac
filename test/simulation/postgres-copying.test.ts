import fc from 'fast-check';
import { describe, it } from 'vitest';
import { createNodePlatform, openPostgresStore, openSqliteStore } from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { newPlace } from '../postgres/place.ts';
import { copiedHistories, runCopies } from './copy-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

const platform = createNodePlatform();
const openFile = (path: string): Promise<EventStore> => openSqliteStore({ path, platform, durability: 'process' });

describe('a session that is copied to PostgreSQL and on to a file, goes on, and is copied again', () => {
  const numRuns = runCount(1 / 10);

  it('I8 is event for event what it was in every store', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(copiedHistories, async (history) => {
          const server = await openPostgresStore({ url: newPlace(), platform, durability: 'process' });
          await runCopies([await openFile(freshPath()), server, await openFile(freshPath())], platform, history);
        }),
        { numRuns },
      ),
    ));
});
