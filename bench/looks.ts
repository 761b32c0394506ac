/** Readings that people wait for, on a store that is a network away: they cost what their round trips cost. */
import { createReprise } from '../src/engine/reprise-parts.ts';
import {
  type Branch,
  createNodePlatform,
  openMemoryStore,
  type Recorder,
  type Reprise,
  type Session,
} from '../src/index.ts';
import { showAnswer } from '../src/reading/answers/show-answer.ts';
import { knownProjections, knownSections, lookProjections } from '../src/reading/looks/known-sections.ts';
import { openRef } from '../src/reading/open-ref.ts';
import type { EventStore } from '../src/store.ts';
import { atMost, median, type Row, spread } from './measure.ts';
import type { Workspace } from './workspace.ts';

/** How far the store is: about a data center away. */
const distanceMs = 2;

/** A reading, with the round trips that it may take one after the other. */
const readings: Readonly<Record<string, { readonly trips: number; readonly run: (world: World) => Promise<unknown> }>> =
  {
    resumable: { trips: 10, run: ({ branch }) => branch.resumable() },
    'resume, with two calls to a model and two to tools': { trips: 28, run: ({ branch }) => branch.resume(agent) },
    show: {
      trips: 18,
      run: async ({ reprise, branch }) => {
        const found = await openRef(reprise, `demo/${branch.name}`);
        return showAnswer(found, await found.session.at(found.point).known());
      },
    },
    'the Knew panel of the studio': {
      trips: 12,
      run: ({ session, branch }) => {
        const { shown } = knownProjections(lookProjections(platform.sha256), 3 as never);
        return knownSections(session, shown, { branch: branch.name, seq: 3 as never }, { skipsEmpty: true });
      },
    },
    diff: { trips: 8, run: ({ session, branch }) => session.diff(branch) },
  };

interface World {
  readonly reprise: Reprise;
  readonly session: Session;
  readonly branch: Branch;
}

const platform = createNodePlatform();

/** Rows of readings on a store that is a network away. */
export async function benchLooks({ sizes }: Workspace): Promise<Row[]> {
  await using reprise = createReprise({ store: distant(openMemoryStore({ platform })), platform });
  const session = await reprise.createSession('demo');
  const message = { role: 'user', content: 'Refund order 7.' };
  await session.append([
    { type: 'message.added', data: { message } },
    { type: 'note.added', data: { text: 'a' } },
  ]);
  const times = new Map<string, number[]>(Object.keys(readings).map((name) => [name, []]));
  for (let round = 0; round < (sizes.isQuick ? 2 : 15); round++) {
    const branch = await session.fork('main@2', { name: `x${round}` });
    for (const [name, { run }] of Object.entries(readings)) {
      const began = performance.now();
      await run({ reprise, session, branch });
      times.get(name)?.push(performance.now() - began);
    }
  }
  return [...times].map(([name, list]) =>
    atMost({
      name: `${name}, on a store ${distanceMs} ms away`,
      value: median(list) / distanceMs,
      limit: readings[name]?.trips ?? 0,
      unit: ' round trips of time',
      detail: spread(list),
      cause: 'a place was found again, or a history was read more than once.',
    }),
  );
}

/** Returns a store whose every call takes a round trip. */
function distant(store: EventStore): EventStore {
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      if (name === 'watch' || name === 'close') return (...values: unknown[]) => Reflect.apply(method, target, values);
      return async (...values: unknown[]): Promise<unknown> => {
        await new Promise((resolve) => setTimeout(resolve, distanceMs));
        return Reflect.apply(method, target, values);
      };
    },
  });
}

/** Makes two calls to a model and two to tools. */
async function agent({ recorder }: { readonly recorder: Recorder }): Promise<string> {
  for (const order of [7, 8]) {
    await recorder.call({ kind: 'model', name: 'small', input: { order } }, async () => ({ text: 'ok' }));
    await recorder.call({ kind: 'tool', name: 'refund', input: { order } }, async () => ({ refunded: order }));
  }
  return 'Done.';
}
