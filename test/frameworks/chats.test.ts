/** Random chats of several runs, recorded in every framework: the conversation depends on the point alone. */

import { setTracingDisabled } from '@openai/agents';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { bareMessages } from '../../src/core/message/message.ts';
import {
  conversation,
  createNodePlatform,
  type Event,
  openMemoryStore,
  openReprise,
  openSqliteStore,
  type Session,
} from '../../src/index.ts';
import type { EventStore } from '../../src/store.ts';
import { onFreshFiles } from '../simulation/scratch.ts';
import { type AdapterWorld, littleLines, type Say, Script, worlds } from './adapter-worlds.ts';
import { clientWorlds } from './client-adapter-worlds.ts';

beforeAll(() => setTracingDisabled(true));

/** One run of a chat: how many tools the model asks for in each round before it answers. */
type Rounds = readonly number[];
const chats: fc.Arbitrary<readonly Rounds[]> = fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }), {
  minLength: 2,
  maxLength: 3,
});
const platform = createNodePlatform();
const questionOf = (run: number): string => `Question ${run}?`;

/** Returns the answers of the model in a run. Every call has an id of its own. */
function sayings(rounds: Rounds, run: number): Say[] {
  const asked = rounds.map((count, round) =>
    Array.from({ length: count }, (_, call) => ({ call: `c${run}-${round}-${call}`, input: { order: call } })),
  );
  return [...asked, `Answer ${run}.`];
}

/** Records a chat: each run begins with the whole conversation before it. Returns what the model was sent, by run. */
async function recordChat(session: Session, world: AdapterWorld, chat: readonly Rounds[]): Promise<string[][][]> {
  const sent: string[][][] = [];
  for (const [run, rounds] of chat.entries()) {
    const script = new Script(sayings(rounds, run));
    const before = bareMessages((await session.fold(conversation)).messages);
    await using recorder = await session.record({ agent: 'support', facts: false });
    await world.record(recorder, script, questionOf(run), before);
    expect((await recorder.flush()).errors).toEqual([]);
    sent.push(script.asked);
  }
  return sent;
}

/** The messages that a resumed model should receive at a point, and the question to ask there. */
interface Expected {
  readonly prompt?: string;
  readonly sent: readonly string[];
}

/** Finds what the model was sent next in the record, for the point after each event. */
function expectedAt(events: readonly Event[], sent: readonly string[][][]): Expected[] {
  const expected: Expected[] = [];
  let run = -1;
  let [isAsked, calls, isOver] = [false, 0, true];
  for (const { type, data } of events) {
    const isModel = data['kind'] === 'model';
    if (type === 'run.started') [run, isAsked, calls, isOver] = [run + 1, false, 0, false];
    else if (type === 'message.added') isAsked = true;
    else if (type === 'call.started' && isModel) isAsked = true;
    else if (type === 'call.ended' && isModel) calls++;
    isOver ||= calls === sent[run]?.length;
    if (isOver) expected.push({ prompt: questionOf(run + 1), sent: sent[run + 1]?.[0] ?? [] });
    else expected.push({ ...(isAsked ? {} : { prompt: questionOf(run) }), sent: sent[run]?.[calls] ?? [] });
  }
  return expected;
}

/** Records a chat and holds every point of it against the record, in every way to come back to it. */
async function check(open: () => Promise<EventStore>, world: AdapterWorld, chat: readonly Rounds[]): Promise<void> {
  const store = await open();
  const reprise = await openReprise({ store, platform });
  const session = await reprise.createSession('chat');
  const sent = await recordChat(session, world, [...chat, []]);
  const events = await Array.fromAsync(session.replay());
  const last = events.findLastIndex(({ type }) => type === 'run.started');
  for (const [index, { prompt, sent: next }] of expectedAt(events.slice(0, last), sent).entries()) {
    const seq = index + 1;
    const seen = (await session.at(`main@${seq}`).fold(conversation)).messages;
    const fork = await session.fork(`main@${seq}`, { name: `fork-${seq}` });
    const again = await session.fork(`fork-${seq}`, { name: `again-${seq}` });
    const rewound = await session.fork('main', { name: `rewound-${seq}` });
    await session.branch(`rewound-${seq}`).rewind(seq);
    for (const { name } of [fork, again, rewound])
      expect((await session.at(name).fold(conversation)).messages, `${name}`).toEqual(seen);
    const second = await open();
    const other = await openReprise({ store: second, platform });
    const elsewhere = (await other.session('chat')).branch(`again-${seq}`);
    for (const branch of [fork, elsewhere, rewound]) {
      const script = new Script(['Done.']);
      await branch.resume(world.agent(script), { effects: 'run', ...(prompt === undefined ? {} : { prompt }) });
      expect(script.asked, `${branch.name} of ${JSON.stringify(chat)}`).toEqual([next]);
    }
    const lines = seen.flatMap(({ message }) => littleLines(message as never));
    expect(next.slice(0, lines.length), `fold at main@${seq}`).toEqual(lines);
    if (second !== store) await other.close();
  }
  await reprise.close();
}

describe.each(Object.entries({ ...worlds, ...clientWorlds }))('chats of %s', (name, world) => {
  const numRuns = Number(
    process.env['REPRISE_RUNS'] ?? (name === 'a plain function' ? 4 : name in clientWorlds ? 1 : 2),
  );

  test('I3 a point has one conversation, whichever way leads back to it, and it is what the model was sent next', () =>
    fc.assert(
      fc.asyncProperty(chats, async (chat) => {
        const store = openMemoryStore({ platform });
        await check(async () => store, world, chat);
      }),
      { numRuns },
    ));

  test('I3 the same holds in a SQLite file that a second connection reads', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(chats, async (chat) => {
          const path = freshPath();
          await check(() => openSqliteStore({ path, platform, durability: 'process' }), world, chat);
        }),
        { numRuns: Math.ceil(numRuns / 4) },
      ),
    ));
});
