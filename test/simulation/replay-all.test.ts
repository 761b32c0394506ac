import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Event, limits, openReprise, type Reprise } from '../../src/index.ts';
import type { ReplayAllOptions } from '../../src/results.ts';
import { all } from '../verbs/verb-case.ts';
import { runCount } from './run-count.ts';
import { onFreshFiles } from './scratch.ts';

const sessionNames = ['one', 'two', 'three'] as const;
const agents = ['ann', 'bob', 'anna', undefined] as const;

/** One event on one branch, or with `fork` a new branch before it. */
interface Command {
  readonly session: number;
  readonly branch: number;
  readonly agent: number;
  /** Minutes since the event before it on its branch; a late one goes back. */
  readonly minutes: number;
  readonly fork: boolean;
}

const commandsOf = (minutes: fc.Arbitrary<number>): fc.Arbitrary<Command[]> =>
  fc.array(
    fc.record({
      session: fc.nat(sessionNames.length - 1),
      branch: fc.nat(5),
      agent: fc.nat(agents.length - 1),
      minutes,
      fork: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    }),
    { minLength: 1, maxLength: 60, size: 'max' },
  );
const inOrder = fc.nat(3);
const withLateOnes = fc.integer({ min: -5, max: 5 });

const began = Date.parse('2026-01-01T00:00:00.000Z');

/** Records it all and gives what each branch stores, branch by branch. */
async function record(reprise: Reprise, commands: readonly Command[]): Promise<Event[][]> {
  const lanes = new Map<string, Event[]>(sessionNames.map((name) => [`${name}/main`, []]));
  const clocks = new Map<string, number>();
  for (const name of sessionNames) await reprise.createSession(name);
  for (const { session: which, branch: pick, agent: who, minutes, fork } of commands) {
    const name = sessionNames[which] as string;
    const session = await reprise.session(name);
    const branches = [...lanes.keys()].filter((lane) => lane.startsWith(`${name}/`));
    let lane = branches[pick % branches.length] as string;
    const from = lane.slice(name.length + 1);
    if (fork) {
      lane = `${name}/b${branches.length}`;
      await session.fork(from, { name: `b${branches.length}`, agent: 'ann' });
      const forked = await all(session.at(lane.slice(name.length + 1)).replay({ history: 'raw' }));
      lanes.set(lane, forked.slice(-1));
      clocks.set(lane, Math.ceil((Date.parse(forked.at(-1)?.time ?? '') - began) / 60_000));
    }
    const minute = (clocks.get(lane) ?? 0) + minutes;
    clocks.set(lane, minute);
    const agent = agents[who];
    const draft = {
      type: 'note.added',
      time: new Date(began + minute * 60_000).toISOString(),
      data: { text: lane },
      ...(agent === undefined ? {} : { agent }),
    };
    lanes.get(lane)?.push(...(await session.branch(lane.slice(name.length + 1)).append(draft)));
  }
  return [...lanes.values()];
}

/** The obvious merge: again and again the earliest of what is next on each branch. */
function merged(lanes: readonly (readonly Event[])[]): Event[] {
  const rest = lanes.map((lane) => [...lane]);
  const order: Event[] = [];
  for (;;) {
    const next = rest.filter((lane) => lane.length > 0);
    next.sort(([a], [b]) => (isBefore(a as Event, b as Event) ? -1 : 1));
    const event = next[0]?.shift();
    if (event === undefined) return order;
    order.push(event);
  }
}

const isBefore = (a: Event, b: Event): boolean => a.time < b.time || (a.time === b.time && a.id < b.id);
const named = (events: readonly Event[]): string[] =>
  events.map((event) => `${event.session}/${event.branch}@${event.seq} ${event.time} ${event.agent ?? '-'}`);

async function check(reprise: Reprise, lanes: readonly Event[][], options: ReplayAllOptions): Promise<void> {
  const wanted = (event: Event): boolean =>
    (options.agent === undefined ||
      (options.agent.startsWith('~')
        ? (event.agent ?? '').includes(options.agent.slice(1))
        : event.agent === options.agent)) &&
    (options.sessions === undefined || options.sessions.includes(event.session)) &&
    (options.since === undefined || event.time >= options.since) &&
    (options.until === undefined || event.time <= options.until);
  const expected = merged(lanes.map((lane) => lane.filter(wanted))).slice(0, options.limit);
  expect(named(await all(reprise.replay(options))), JSON.stringify(options)).toEqual(named(expected));
}

async function runAll(store: string, commands: readonly Command[], isInOrder: boolean): Promise<void> {
  await using reprise = await openReprise({ store, durability: 'process' });
  const lanes = await record(reprise, commands);
  const middle = new Date(began + 20 * 60_000).toISOString();
  await check(reprise, lanes, {});
  for (const agent of ['ann', 'bob', '~ann', 'nobody']) await check(reprise, lanes, { agent });
  await check(reprise, lanes, { agent: 'ann', sessions: ['two', 'three'] });
  await check(reprise, lanes, { agent: 'ann', limit: 3 });
  await check(reprise, lanes, { agent: '~b', since: middle });
  await check(reprise, lanes, { agent: 'ann', until: middle });
  if (!isInOrder) return;
  const times = (await all(reprise.replay({ agent: 'ann' }))).map((event) => event.time);
  expect(times).toEqual([...times].sort());
}

describe('reprise.replay({ agent }) across the branches of many sessions', () => {
  it('gives every event of the agent once, in the order of time', () =>
    fc.assert(
      fc.asyncProperty(commandsOf(inOrder), (commands) => runAll('memory:', commands, true)),
      { numRuns: runCount() },
    ));

  it('leaves an event that was recorded late where its branch recorded it, and loses none', () =>
    fc.assert(
      fc.asyncProperty(commandsOf(withLateOnes), (commands) => runAll('memory:', commands, false)),
      { numRuns: runCount() },
    ));

  it('does both on SQLite', () =>
    onFreshFiles((freshPath) =>
      fc.assert(
        fc.asyncProperty(commandsOf(inOrder), commandsOf(withLateOnes), async (ordered, late) => {
          await runAll(`sqlite:${freshPath()}`, ordered, true);
          await runAll(`sqlite:${freshPath()}`, late, false);
        }),
        { numRuns: runCount(1 / 4) },
      ),
    ));

  it('pages: more than a page on each of many branches comes out whole', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('wide');
    const total = 700;
    for (let lane = 0; lane < 40; lane++) {
      const branch = lane === 0 ? 'main' : (await session.fork('main@0', { name: `b${lane}` })).name;
      const drafts = Array.from({ length: total }, (_, index) => ({
        type: 'note.added',
        agent: index % 50 === lane ? 'ann' : 'bob',
        time: new Date(began + (index * 40 + lane) * 1_000).toISOString(),
        data: { text: branch },
      }));
      await session.branch(branch).append(drafts);
    }
    const bob = await all(reprise.replay({ agent: 'bob' }));
    const ann = await all(reprise.replay({ agent: 'ann' }));
    expect([bob.length + ann.length, ann.length]).toEqual([40 * total, 40 * (total / 50)]);
    for (const events of [ann, bob]) {
      const times = events.map((event) => event.time);
      expect(times).toEqual([...times].sort());
      expect(new Set(events.map((event) => `${event.branch}@${event.seq}`)).size).toBe(events.length);
    }
  });

  it('pages: an agent who is heard of again after a very long silence is not lost', async () => {
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('long');
    const bob = Array.from({ length: limits.pageScanMax / 2 }, () => ({ type: 'x.done', agent: 'bob' }));
    await session.append({ type: 'x.done', agent: 'ann' });
    for (let batch = 0; batch < 3; batch++) await session.append(bob);
    await session.append({ type: 'x.done', agent: 'ann' });
    const seqs = (await all(reprise.replay({ agent: 'ann' }))).map((event) => event.seq);
    expect(seqs).toEqual([1, bob.length * 3 + 2]);
  });
});
