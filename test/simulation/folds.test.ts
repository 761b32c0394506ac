/** Projections that are folded together have, at any point of any history, the values that each has alone. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seq } from '../../src/core/point.ts';
import { foldAt, foldsAt } from '../../src/engine/history/fold.ts';
import { placeAtHead, placeOn } from '../../src/engine/history/place.ts';
import { createEngine, createReprise } from '../../src/engine/reprise-parts.ts';
import {
  createNodePlatform,
  defineProjection,
  type JsonObject,
  openMemoryStore,
  openSqliteStore,
  type Projection,
} from '../../src/index.ts';
import { lookProjections } from '../../src/reading/looks/known-sections.ts';
import type { EventStore } from '../../src/store.ts';
import { ConversationRun, type TalkCommand } from './conversation-run.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';
import { type Command, SessionRun } from './session-run.ts';

const platform = createNodePlatform();

/** Takes the data of each event into its value, and changes it there, as a fold may do with its value. */
const greedy = defineProjection<{ held: { data: JsonObject; seen: number }[] }>({
  name: 'greedy',
  version: '1',
  history: 'view',
  initial: () => ({ held: [] }),
  apply: (value, { data, erased }) => {
    for (const item of value.held) item.seen += 1;
    for (const { data: earlier } of value.held) Object.assign(earlier, { touched: value.held.length });
    value.held.push({ data: erased === true ? {} : data, seen: 0 });
    return value;
  },
});

/** Holds the data of each event as it came. */
const holding = defineProjection<JsonObject[]>({
  name: 'holding',
  history: 'view',
  initial: () => [],
  apply: (value, { data }) => [...value, data],
});

const seqsOf = (name: string, more: Partial<Projection<number[]>>): Projection<number[]> =>
  defineProjection({
    name,
    history: 'view',
    initial: () => [],
    apply: (value, event) => [...value, event.seq, Object.keys(event.data).length],
    ...more,
  });

const own: readonly Projection<unknown, unknown>[] = [
  greedy,
  holding,
  seqsOf('all', {}),
  seqsOf('kept', { version: '1' }),
  seqsOf('some types', { version: '1', types: ['message.added', 'note.added'] }),
  seqsOf('no type', { version: '1', types: [] }),
  seqsOf('without', { version: '1', without: ['request', 'text'] }),
  seqsOf('raw', { version: '1', history: 'raw' }),
  seqsOf('marks', { history: 'raw', types: ['branch.forked', 'event.replaced'] }),
  seqsOf('window', {
    version: '1',
    history: 'raw',
    window: 4,
    apply: (value, event) => [...(event.seq % 4 === 1 ? [] : value), event.seq],
  }),
] as readonly Projection<unknown, unknown>[];

const projections = Object.fromEntries(
  [...lookProjections(platform.sha256).map(({ projection }) => projection), ...own].map((projection) => [
    projection.name,
    projection,
  ]),
);
const names = Object.keys(projections);

/** Compares at every point: together and alone, with snapshots and from the log alone. */
async function compare(store: EventStore, session: string): Promise<void> {
  const engine = createEngine({ store, platform, snapshotEvents: 2 });
  for (const { branch } of await store.branches({ namespace: 'default', session })) {
    const head = await placeAtHead(engine, session, branch);
    for (let at = 0; at <= head.seq; at++) {
      const place = placeOn(session, head.record, seq(at));
      const together = await foldsAt(engine, place, projections);
      const fresh = await foldsAt(engine, place, projections, false);
      for (const name of names) {
        const alone = await foldAt(engine, place, projections[name] as Projection<unknown, unknown>, false);
        const where = `${name} at ${branch}@${at}`;
        expect(JSON.stringify(together[name]), where).toBe(JSON.stringify(alone));
        expect(JSON.stringify(fresh[name]), where).toBe(JSON.stringify(alone));
      }
    }
  }
  // A deep verification holds each kept value against the log.
  const reprise = createReprise({ store, platform });
  const { ok, reason } = await (await reprise.session(session)).verify({ deep: true, projections: own });
  expect([ok, reason]).toEqual([true, null]);
}

const edits: fc.Arbitrary<Command> = fc.tuple(
  fc.constantFrom<Command[0][]>('add', 'add', 'add', 'replace', 'insert', 'revert', 'rewind', 'redo', 'fork', 'erase'),
  fc.nat(20),
  fc.nat(60),
  fc.nat(5),
);
const talk: fc.Arbitrary<TalkCommand> = fc.tuple(
  fc.constantFrom<TalkCommand[0][]>('say', 'call', 'call', 'change', 'drop', 'fork', 'rewind'),
  fc.nat(20),
  fc.nat(3),
  fc.nat(60),
  fc.nat(3),
);

async function edited(store: EventStore, commands: readonly Command[]): Promise<void> {
  const reprise = createReprise({ store, platform, snapshotEvents: 2 });
  const session = await reprise.createSession();
  const run = new SessionRun(reprise, session);
  for (const one of commands) await run.run(one);
  await compare(store, session.id);
}

async function talked(store: EventStore, commands: readonly TalkCommand[]): Promise<void> {
  const session = await createReprise({ store, platform, snapshotEvents: 2 }).createSession();
  const run = new ConversationRun([session], 'repeating');
  for (const one of commands) await run.run(one);
  await compare(store, session.id);
}

describe('projections folded together in one reading', () => {
  it('I6 are what each is alone, at every point of any edited history', () =>
    fc.assert(
      fc.asyncProperty(fc.array(edits, { minLength: 1, maxLength: 16, size: 'max' }), (commands) =>
        edited(openMemoryStore({ platform }), commands),
      ),
      { numRuns: runCount() },
    ));

  it('I6 are what each is alone, at every point of any conversation', () =>
    fc.assert(
      fc.asyncProperty(fc.array(talk, { minLength: 1, maxLength: 16, size: 'max' }), (commands) =>
        talked(openMemoryStore({ platform }), commands),
      ),
      { numRuns: runCount() },
    ));

  it('I6 are what each is alone on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(fc.array(talk, { minLength: 1, maxLength: 12, size: 'max' }), async (commands) =>
          talked(await openSqliteStore({ path: freshPath(), platform, durability: 'process' }), commands),
        ),
        { numRuns: runCount(1 / 4) },
      ),
    ));
});
