/** Stores that are migrated while programs write to them. */
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import type { Migration } from '../../src/store/postgres/migrate.ts';
import { openMigratedStore } from '../../src/store/postgres/postgres-store.ts';
import { migrations } from '../../src/store/postgres/schema.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';

const platform = createNodePlatform();

/** How many events a large store has here. */
export const filled = 15_000;

/** The session of a writer. */
export const refOf = (writer: number) => ({ namespace: 'default', session: `s${writer}` });

/** Opens a store with a release's migrations. */
export function opened(url: string, held: readonly Migration[] = migrations, busyWaitMs = 60_000): Promise<EventStore> {
  return openMigratedStore({ url, platform, busyWaitMs }, held);
}

/** A store of the present release with many events in it. */
export async function filledPlace(
  place: string,
  events: number = filled,
): Promise<{ readonly place: string; readonly store: EventStore }> {
  const store = await opened(place);
  for (let writer = 0; writer < 3; writer++) await store.createSession(refOf(writer), { root: 'main', seed: 'x' });
  const text = 'filled '.repeat(20);
  for (let from = 0; from < events; from += 5_000)
    await store.append([
      request(
        refOf(0),
        Array.from({ length: Math.min(5_000, events - from) }, () => note(text)),
      ),
    ]);
  return { place, store };
}

/** Writers at work. */
interface Writers {
  readonly appended: () => number;
  /** Stops them; tells how many appends there were, and how long the longest took. */
  readonly stop: () => Promise<{ readonly appended: number; readonly longestMs: number }>;
}

/** Starts writers that append one event after the other until they are stopped. */
export function startWriters(store: EventStore): Writers {
  let isDone = false;
  let appended = 0;
  let longestMs = 0;
  const writing = Promise.all(
    [0, 1, 2].map(async (writer) => {
      while (!isDone) {
        const began = performance.now();
        const [outcome] = await store.append([request(refOf(writer), [note('while it is migrated')])]);
        if (outcome?.ok !== true) throw outcome?.error ?? new Error('It was not appended');
        longestMs = Math.max(longestMs, performance.now() - began);
        appended++;
      }
    }),
  );
  return {
    appended: () => appended,
    stop: async () => {
      isDone = true;
      await writing;
      return { appended, longestMs };
    },
  };
}
