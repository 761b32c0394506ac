import { resolve } from 'node:path';
import type { Config } from './core/recording/config.ts';
import type { EventStore, Platform } from './core/store/event-store.ts';
import { createReprise } from './engine/reprise-parts.ts';
import { builtFolder } from './node/own-package.ts';
import { release } from './node/release.ts';
import { recordingOf } from './open-reprise.ts';
import type { ServeMore, ServeOptions } from './serve-store.ts';
import type { ServedStudio } from './server/running-server.ts';
import { readPageParts, readyPage } from './server/studio/exported-page.ts';
import { RunBook } from './server/studio/run-book.ts';
import { readStudioFiles } from './server/studio/studio-files.ts';

/** The parts that the studio of a server is made of. */
interface StudioSource {
  readonly store: EventStore;
  readonly platform: Platform;
  readonly agents: Config | undefined;
}

/** Returns the studio of a server: its files if they are to be served, the runs it can start, and its exports. */
export function servedStudio(
  { studio: isServed = true, examine, tokens = [] }: Pick<ServeOptions, 'studio'> & ServeMore,
  { store, platform, agents }: StudioSource,
): ServedStudio {
  const recording = recordingOf({}, agents === undefined ? {} : { config: { file, config: agents } });
  const reprise = createReprise({ store, platform, recording });
  return {
    files: isServed ? readStudioFiles(builtFolder('studio')) : undefined,
    isServed,
    runs:
      agents === undefined ? undefined : new RunBook({ reprise, store, platform, agents: { config: agents, file } }),
    diagnose: examine,
    reprise,
    ownTokens: new Set(tokens.map(({ id }) => id)),
    page: oneByOne(async (asked) => {
      const { openMemoryStore } = await import('./store/memory/memory-store.ts');
      return await readyPage({
        ...asked,
        openScratch: () => openMemoryStore({ platform }),
        platform,
        recording,
        release: release(),
        parts: readPageParts(builtFolder('studio-page')),
      });
    }),
  };
}

/** Makes calls of a function wait for each other: a page is made in memory. */
function oneByOne<Asked, Answer>(work: (asked: Asked) => Promise<Answer>): (asked: Asked) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return (asked) => {
    const answer = last.then(() => work(asked));
    // The answer itself is not held on to.
    last = answer.then(
      () => undefined,
      () => undefined,
    );
    return answer;
  };
}

/** The name that errors give a configuration without a file. */
const file: string = resolve('reprise.config.ts');
