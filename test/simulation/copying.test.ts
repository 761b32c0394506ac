import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNodePlatform, openMemoryStore, openSqliteStore } from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { copiedHistories, runCopies } from './copy-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

const platform = createNodePlatform();
const openFile = (path: string): Promise<EventStore> => openSqliteStore({ path, platform, durability: 'process' });

describe('a session that is copied, goes on, and is copied again', () => {
  const numRuns = runCount(1 / 2);

  it('I8 is event for event what it was in every store, and what was erased is nowhere in the copy', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(copiedHistories, async (history) => {
          const path = freshPath();
          const stores = [await openFile(freshPath()), openMemoryStore({ platform }), await openFile(path)];
          const forgotten = await runCopies(stores, platform, history);
          const files = [path, `${path}-wal`].filter((file) => existsSync(file));
          const bytes = files.map((file) => readFileSync(file, 'latin1')).join('');
          for (const text of forgotten) expect(bytes.includes(text), `${text} in the copy`).toBe(false);
        }),
        { numRuns },
      ),
    ));
});
