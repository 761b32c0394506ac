/** How often the readings that people wait for ask the store: a place is found once, and its history is read once. */
import { afterEach, describe, expect, test } from 'vitest';
import { openRemoteStore } from '../../src/client/open-remote-store.ts';
import { foldsAt } from '../../src/engine/history/fold.ts';
import { findPlace } from '../../src/engine/history/place.ts';
import { createReprise } from '../../src/engine/reprise-parts.ts';
import { engineOf } from '../../src/engine/session.ts';
import {
  type Branch,
  createNodePlatform,
  openMemoryStore,
  type Recorder,
  type Reprise,
  type Session,
  summary,
} from '../../src/index.ts';
import { showAnswer } from '../../src/reading/answers/show-answer.ts';
import { knownProjections, knownSections, lookProjections } from '../../src/reading/looks/known-sections.ts';
import { openRef } from '../../src/reading/open-ref.ts';
import { type Calls, countingStore } from '../contract/counting-store.ts';
import { serving } from './running-server.ts';

const platform = createNodePlatform();
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A store whose calls are counted, in this process or on the way to a server. */
interface World {
  readonly reprise: Reprise;
  readonly calls: Calls;
}

const worlds: Readonly<Record<string, () => Promise<World>>> = {
  memory: async () => {
    const { store, calls } = countingStore(openMemoryStore({ platform }));
    const reprise = createReprise({ store, platform });
    stops.push(() => reprise.close());
    return { reprise, calls };
  },
  remote: async () => {
    const server = await serving(openMemoryStore({ platform }));
    const { store, calls } = countingStore(await openRemoteStore({ url: server.url, platform, release: 'test' }));
    const reprise = createReprise({ store, platform });
    stops.push(async () => {
      await reprise.close();
      await server.close();
    });
    return { reprise, calls };
  },
};

const said = (content: string) => ({ type: 'message.added', data: { message: { role: 'user', content } } });

/** A session with two events, and a fork of it. */
async function forked(reprise: Reprise): Promise<{ readonly session: Session; readonly branch: Branch }> {
  const session = await reprise.createSession('demo');
  await session.append([said('Refund order 7.'), { type: 'note.added', data: { text: 'a' } }]);
  return { session, branch: await session.fork('main', { name: 'x' }) };
}

/** Makes two calls to a model and two to tools. */
async function agent({ recorder }: { readonly recorder: Recorder }): Promise<string> {
  for (const order of [7, 8]) {
    const input = { messages: [{ role: 'user', content: `Refund order ${order}.` }] };
    await recorder.call({ kind: 'model', name: 'small', input }, async () => ({ text: 'ok' }));
    await recorder.call({ kind: 'tool', name: 'refund', input: { order } }, async () => ({ refunded: order }));
  }
  return 'Done.';
}

describe.each(Object.entries(worlds))('on a %s store', (name, open) => {
  /** Returns how often the store was asked, and what for, along with what the verb leaves to the background. */
  async function asked({ calls }: World, work: () => Promise<unknown>): Promise<readonly [number, string]> {
    const settled = async (): Promise<void> => {
      for (let before = -1; before !== total(calls); ) {
        before = total(calls);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    // Summaries that the writes before this keep are not part of the verb.
    await settled();
    const before = { ...calls };
    await work();
    await settled();
    const made = Object.entries(calls).flatMap(([method, count]) => {
      const more = count - (before[method as keyof Calls] ?? 0);
      return more === 0 ? [] : [`${method} ${more}`];
    });
    return [total(calls) - total(before), made.join(', ')];
  }

  test('one fold asks at most 4 times, and nine at one point at most 5 times', async () => {
    const world = await open();
    const { session } = await forked(world.reprise);
    const [one, what] = await asked(world, () => session.at('x').fold(summary));
    expect(one, what).toBeLessThanOrEqual(4);
    const nine = knownProjections(lookProjections(platform.sha256), 3 as never).shown.slice(0, 9);
    expect(nine).toHaveLength(9);
    const named = Object.fromEntries(nine.map(({ name: key, projection }) => [key, projection]));
    const engine = engineOf(session);
    const [several, whatFor] = await asked(world, async () =>
      foldsAt(engine, await findPlace(engine, 'demo', 'x'), named),
    );
    expect(several, whatFor).toBeLessThanOrEqual(5);
  });

  test('the Knew panel asks at most 8 times, and show at most 9 times', async () => {
    const world = await open();
    const { session } = await forked(world.reprise);
    const { shown } = knownProjections(lookProjections(platform.sha256), 3 as never);
    const look = async () => {
      const held = await world.reprise.session('demo');
      const place = await findPlace(engineOf(held), 'demo', 'x@3');
      return knownSections(held, shown, { branch: 'x', seq: place.seq, place }, { skipsEmpty: true });
    };
    const [count, what] = await asked(world, look);
    expect(count, what).toBeLessThanOrEqual(8);
    await session.branch('x').append(said('And order 8?'));
    const [show, whatFor] = await asked(world, async () => {
      const found = await openRef(world.reprise, 'demo/x');
      return showAnswer(found, await found.session.at(found.point).known());
    });
    expect(show, whatFor).toBeLessThanOrEqual(9);
  });

  test('resumable() asks at most 8 times, after a run too', async () => {
    const world = await open();
    const { session, branch } = await forked(world.reprise);
    const [count, what] = await asked(world, () => session.at('x').resumable());
    expect(count, what).toBeLessThanOrEqual(8);
    await branch.resume(agent);
    await session.fork('x@9', { name: 'y' });
    const [after, whatFor] = await asked(world, () => session.at('y').resumable());
    expect(after, whatFor).toBeLessThanOrEqual(8);
  });

  test('diff() asks at most 8 times', async () => {
    const world = await open();
    const { branch } = await forked(world.reprise);
    await branch.append(said('And order 8?'));
    const [count, what] = await asked(world, () => world.reprise.diff('demo', 'demo/x'));
    expect(count, what).toBeLessThanOrEqual(8);
  });

  test('a resume with two calls to a model and two to tools asks at most 20 times, 22 times behind a server', async () => {
    const world = await open();
    const { branch } = await forked(world.reprise);
    const [count, what] = await asked(world, () => branch.resume(agent));
    expect(count, what).toBeLessThanOrEqual(name === 'remote' ? 22 : 20);
  });
});

const total = (calls: Readonly<Record<string, number>>): number =>
  Object.values(calls).reduce((sum, count) => sum + count, 0);
