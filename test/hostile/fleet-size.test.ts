/** A fleet of 100,000 agents: what one agent does is as much work as in a small fleet, and a look at all of them is linear. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reprise, Session } from '../../src/index.ts';
import { growthOf, startCounting } from './work.ts';

// Loaded after the counting has started.
await startCounting();
const { openReprise } = await import('../../src/index.ts');
const { refuses } = await import('../verbs/verb-case.ts');

const agentsMost = 100_000;
const few = 2_000;
const batch = 10_000;

let reprise: Reprise;
const sessions = new Map<number, Session>();

beforeAll(async () => {
  reprise = await openReprise('memory:');
  for (const size of [few / 2, few, few * 2, agentsMost]) {
    const session = await reprise.createSession(`fleet-${size}`);
    for (let from = 0; from < size; from += batch)
      await session.append(
        Array.from({ length: Math.min(batch, size) }, (_, index) => ({
          type: 'agent.spawned',
          agent: `agent-${from + index}`,
          data: { scope: [`topic-${(from + index) % 1_000}`] },
        })),
      );
    sessions.set(size, session);
  }
});
afterAll(() => reprise.close());

const sessionOf = (size: number): Session => sessions.get(size) as Session;

describe('in a fleet of 100,000 agents', () => {
  let count = 0;
  test.each<[what: string, ask: (session: Session) => Promise<unknown>]>([
    [
      'a commit',
      (session) =>
        session.beliefs.commit({ agent: 'agent-7', topic: 'topic-7', kind: 'decision', claim: `claim ${count++}` }),
    ],
    ['a look through the eyes of an agent', (session) => session.as('agent-7').beliefs.list()],
    ['a change of an agent', (session) => session.fleet.change('agent-9', { trust: 0.5 })],
    ['an agent that joins', (session) => session.spawn(`one more ${count++}`, { scope: [] })],
    ['a task that is handed out', (session) => session.fleet.task.start({ task: `task ${count++}` })],
  ])('%s is as much work as in a small one', async (_, ask) => {
    // Nothing runs once for each of 100,000.
    const growth = await growthOf(agentsMost / 2, async (size) => () => ask(sessionOf(size < agentsMost ? few : size)));
    expect(growth, growth.where).toEqual({ times: 0, where: 'nothing' });
  });

  test.each<[what: string, ask: (session: Session) => Promise<unknown>]>([
    ['a look at all of them', (session) => session.fleet.agents()],
    ['everything that one knows', (session) => session.as('agent-7', { handed: true }).known()],
    [
      'a turn of the one that can run',
      (session) => session.runForward({ untilTurn: ++count, onTurn: { 'agent-7': () => 1 } }),
    ],
  ])('%s grows no faster than the fleet', async (_, ask) => {
    const growth = await growthOf(few, async (size) => () => ask(sessionOf(size)));
    expect(growth.times, growth.where).toBeLessThan(2.6);
  });
});

test('100,000 agents are there, each with its scope, and none joins twice', async () => {
  const session = sessionOf(agentsMost);
  const agents = await session.at(agentsMost).fleet.agents();
  expect(agents).toHaveLength(agentsMost);
  expect(agents.at(-1)).toMatchObject({ agent: 'agent-99999', scope: ['topic-999'], since: 0, seq: agentsMost });
  await refuses('agent.exists', () => session.spawn('agent-99999'));
  await refuses('scope.denied', () =>
    session.as('agent-99999').beliefs.commit({ topic: 'topic-7', kind: 'fact', claim: 'not mine to say' }),
  );
});
