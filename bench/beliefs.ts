/** Beliefs: commits on topics of any length by any number of agents, looks at any turn, and runs forward that repeat turns. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentTurn } from '../src/fleet.ts';
import type { EventDraft, Session } from '../src/index.ts';
import { alternate, atMost, type Contender, median, type Row, spread, timeEach } from './measure.ts';
import { randomSource } from './workload.ts';
import { open, type Workspace } from './workspace.ts';

const commitsEach = 10;

/** One commit begins so long after the other, with any number of agents. */
const everyMs = 5;

/** Rows of beliefs. */
export async function benchBeliefs(workspace: Workspace): Promise<Row[]> {
  return [...(await commitRows(workspace)), ...(await lookRows(workspace)), ...(await forwardRows(workspace))];
}

let count = 0;

/** Does something at one rate, and notes how long each time took. */
function paced(times: number[], work: () => Promise<unknown>): Contender {
  return async () => {
    for (let index = 0; index < commitsEach; index++) {
      const start = performance.now();
      await work();
      times.push(performance.now() - start);
      await sleep(Math.max(0, everyMs - (performance.now() - start)));
    }
    return 0;
  };
}

/** Commits decisions, each of which supersedes the one before it on its topic. */
export function committing(
  session: Session,
  of: (index: number) => { readonly agent: string; readonly topic: string },
): () => Promise<unknown> {
  return () => {
    const index = count++;
    return session.beliefs.commit({ ...of(index), kind: 'decision', claim: `claim ${index}`, turn: index });
  };
}

async function commitRows(workspace: Workspace): Promise<Row[]> {
  const rounds = workspace.sizes.diskRounds * (workspace.sizes.isQuick ? 1 : 4);
  await using few = await open(workspace.path('agents-5.db'), 'disk');
  await using many = await open(workspace.path('agents-100.db'), 'disk');
  for (const [opened, agents] of [
    [few, 5],
    [many, 100],
  ] as const)
    for (let agent = 0; agent < agents; agent++) await opened.session.spawn(`agent-${agent}`, { trust: 0.5 });
  await using short = await open(workspace.path('topic-10.db'), 'disk');
  await using long = await open(workspace.path('topic-10000.db'), 'disk');
  await fill(short.session, { claims: 10, topics: 1, late: 0 });
  await fill(long.session, { claims: workspace.sizes.isQuick ? 100 : 10_000, topics: 1, late: 0 });
  count = 20_000;
  const by = (agents: number) => (index: number) => ({
    agent: `agent-${index % agents}`,
    topic: `topic-${index % agents}`,
  });
  const onOne = () => ({ agent: 'a', topic: 'topic-0' });
  const { state } = few.session;
  const works = {
    few: committing(few.session, by(5)),
    many: committing(many.session, by(100)),
    short: committing(short.session, onOne),
    long: committing(long.session, onOne),
    state: () => {
      const tx = state.begin();
      tx.write('plan', { next: `claim ${count}` });
      return tx.commit();
    },
  };
  const times = { few: [], many: [], short: [], long: [], state: [] } as Record<keyof typeof works, number[]>;
  const names = Object.keys(works) as (keyof typeof works)[];
  await alternate(
    rounds,
    Object.fromEntries(names.map((name) => [name, paced(times[name], works[name])])) as Record<string, Contender>,
  );
  const row = (name: string, own: readonly number[], other: readonly number[], limit: number, cause: string): Row =>
    atMost({
      name,
      value: median(own) / median(other),
      limit,
      unit: '×',
      detail: `p50 of ${own.length}, one every ${everyMs} ms; ${spread(own)} against ${spread(other)}`,
      cause,
    });
  const events = 'a commit that settles a contradiction writes four events, each with its own digest and keys.';
  return [
    row(
      'durable commit of a belief, 100 agents against 5',
      times.many,
      times.few,
      1.3,
      'more topics are in the index.',
    ),
    row(
      'durable commit of a belief on a topic of 10,000 claims against 10',
      times.long,
      times.short,
      1.3,
      'a larger index.',
    ),
    row('durable commit of a belief against a durable commit of state', times.few, times.state, 2, events),
  ];
}

/** Fills a history by hand, fast: each claim supersedes the one before it on its topic, some come late. */
export async function fill(
  session: Session,
  { claims, topics, late }: { readonly claims: number; readonly topics: number; readonly late: number },
): Promise<void> {
  const random = randomSource(7);
  const lasts = new Map<number, { readonly id: string; readonly turn: number }>();
  let batch: EventDraft[] = [];
  for (let index = 0; index < claims; index++) {
    const about = index % topics;
    const id = `c-${index}`;
    const isLate = random() < late;
    const turn = isLate ? Math.floor(index * random()) : index;
    const topic = `topic-${about}`;
    batch.push({
      type: 'belief.committed',
      id,
      agent: `a-${about % 20}`,
      turn,
      data: { claim: `claim ${index}`, topic, kind: 'decision', settled: true },
    });
    const last = lasts.get(about);
    if (last !== undefined) {
      const [loser, winner] = turn >= last.turn ? [last.id, id] : [id, last.id];
      batch.push({
        type: 'belief.superseded',
        cause: winner,
        turn: Math.max(turn, last.turn),
        data: { belief: loser, by: winner, topic },
      });
    }
    if (last === undefined || turn >= last.turn) lasts.set(about, { id, turn });
    if (batch.length >= 2_000) {
      await session.append(batch);
      batch = [];
    }
  }
  if (batch.length > 0) await session.append(batch);
}

async function lookRows(workspace: Workspace): Promise<Row[]> {
  const { events: claims, rounds } = workspace.sizes;
  const rows: Row[] = [];
  for (const [late, limit, name] of [
    [0, 5, ''],
    [0.01, 15, ', 1 % of them late'],
  ] as const) {
    await using opened = await open(workspace.path(`beliefs-${late}.db`), 'process');
    const { session } = opened;
    await fill(session, { claims, topics: 1_000, late });
    const random = randomSource(11);
    const turns = Array.from({ length: 50 }, () => Math.floor(random() * claims));
    await session.at({ story: 1 }).beliefs.list();
    const times = await alternate(rounds, {
      looks: () =>
        timeEach(turns.length, async () => {
          for (const turn of turns) await session.at({ story: turn }).beliefs.list();
        }),
    });
    rows.push(
      atMost({
        name: `beliefs at any turn of ${claims.toLocaleString('en')} commitments, 1,000 active${name}`,
        value: median(times.looks),
        limit,
        unit: ' ms',
        detail: `${spread(times.looks)}, in a process that has looked before`,
        cause: 'a look goes through every claim of the table.',
      }),
    );
  }
  return rows;
}

const groups = 5;
const agents = 20;

/** An agent that sees the topics of its group, and says on its own how much it has seen. */
const agentOf =
  (index: number, waitMs: number) =>
  async ({ self, turn }: AgentTurn): Promise<void> => {
    const seen = await self.beliefs.list();
    let sum = turn % 3;
    for (const { claim } of seen) for (const character of claim) sum = (sum * 31 + character.charCodeAt(0)) % 1_009;
    await sleep(waitMs);
    await self.beliefs.commit({ topic: `t${index}`, kind: 'decision', claim: `says ${sum}` });
  };

async function forwardRows(workspace: Workspace): Promise<Row[]> {
  const turns = workspace.sizes.isQuick ? 4 : 50;
  // Less than the turn of any model.
  const waitMs = workspace.sizes.isQuick ? 1 : 25;
  await using opened = await open(workspace.path('forward.db'), 'process');
  const { session } = opened;
  const names = Array.from({ length: agents }, (_, index) => `agent-${index}`);
  for (const [index, name] of names.entries()) {
    const scope = names.flatMap((_, other) => (other % groups === index % groups ? [`t${other}`] : []));
    await session.spawn(name, { scope });
  }
  const onTurn = Object.fromEntries(names.map((name, index) => [name, agentOf(index, waitMs)]));
  await session.runForward({ untilTurn: turns, onTurn });
  const timed = async (name: string, reuseUnchanged: boolean) => {
    const branch = await session.at({ story: 1 }).fork({ name });
    await branch.mutate({ agent: 'agent-0', topic: 't0', claim: 'what if' });
    let ran = { live: 0, all: 0 };
    const ms = await timeEach(1, async () => {
      const { live, reused } = await branch.runForward({ untilTurn: turns, onTurn, reuseUnchanged });
      ran = { live: live.length, all: live.length + reused.length };
    });
    return { ms, ...ran };
  };
  // The shorter of the two is measured twice: a slow moment of the machine weighs more there.
  const [plain, reusing, again] = [
    await timed('plain', false),
    await timed('reusing', true),
    await timed('again', true),
  ];
  const ms = median([reusing.ms, again.ms]);
  const expected = (turns - 1) * (agents / groups);
  const what = `run forward of ${turns} turns of ${agents} agents in five groups, one belief mutated`;
  return [
    atMost({
      name: `${what}: turns that ran, of all`,
      value: (reusing.live / reusing.all) * 100,
      limit: 20,
      unit: ' %',
      detail: `${reusing.live} of ${reusing.all}; the group of the belief has ${expected}`,
      cause: 'more than the group of the mutated belief ran.',
    }),
    atMost({
      name: `${what}: time against running everything`,
      value: ms / plain.ms,
      limit: 0.3,
      unit: '×',
      detail: `${Math.round(ms)} ms against ${Math.round(plain.ms)} ms; a turn waits ${waitMs} ms in place of a model`,
      cause: 'a repeated turn compares its inputs and commits its claims again, each settled anew.',
    }),
  ];
}
