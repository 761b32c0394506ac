/** The promises that Ezra's branching replay makes and breaks, one test each: every one fails on its semantics. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openReprise, type Reprise, type Session } from '../../src/index.ts';

let reprise: Reprise;
let session: Session;

beforeEach(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('graph');
});
afterEach(() => reprise.close());

const say = (id: string, turn: number, more: object = {}) =>
  session.beliefs.commit({ id, agent: 'a', topic: 't', kind: 'decision', claim: `claim ${id}`, turn, ...more });
const standing = async (where: { readonly seq?: number; readonly story?: number } = {}, branch = 'main') => {
  const on = session.branch(branch);
  const beliefs = Object.keys(where).length === 0 ? on.beliefs : on.at(where).beliefs;
  return (await beliefs.list()).map(({ id }) => id).sort();
};

describe('B5 what Ezra promises', () => {
  test('an id is never overwritten: history is append-only', async () => {
    await say('A', 1);
    await expect(say('A', 1, { claim: 'something else' })).rejects.toMatchObject({ code: 'event.id-reused' });
    expect((await session.beliefs.list())[0]?.claim).toBe('claim A');
  });

  test('a rewind over a chain of supersessions gives what the turn gave', async () => {
    await say('A', 2);
    await say('B', 6);
    await say('C', 8);
    const then = await standing({ story: 4 });
    await session.rewind({ story: 4 }, { only: 'beliefs' });
    expect([await standing(), then]).toEqual([['A'], ['A']]);
  });

  test('a rewind rewrites no history: turns after it are still what they were then', async () => {
    await say('A', 2);
    await say('B', 6);
    const { head } = await session.locate();
    await session.rewind({ story: 4 }, { only: 'beliefs' });
    expect(await standing({ story: 6, seq: head })).toEqual(['B']);
    await session.rewind({ story: 1 }, { only: 'beliefs' });
    await session.redo();
    expect([await standing(), await standing({ story: 6, seq: head })]).toEqual([['A'], ['B']]);
  });

  test('committing again at an old turn does not mix two stories', async () => {
    await say('A', 5);
    await say('B', 20);
    await say('C', 10);
    expect([await standing({ story: 7 }), await standing({ story: 15 }), await standing()]).toEqual([
      ['A'],
      ['C'],
      ['B'],
    ]);
  });

  test('revert brings back what the claim had superseded; the other way has a flag', async () => {
    await say('A', 2);
    await say('B', 6);
    await session.fork('main', { name: 'seed' });
    await session.beliefs.revert('B');
    await session.branch('seed').beliefs.revert('B', { restore: false });
    expect([await standing(), await standing({}, 'seed')]).toEqual([['A'], []]);
    await expect(session.beliefs.revert('B')).rejects.toMatchObject({ code: 'event.not-in-view' });
    await expect(session.beliefs.revert('Z')).rejects.toMatchObject({ code: 'event.not-found' });
  });

  test('a fact that was superseded later in the parent is active on the branch', async () => {
    await say('A', 5);
    await say('B', 20);
    await session.at({ story: 15 }).fork({ name: 'x' });
    expect([await standing({}, 'x'), await standing()]).toEqual([['A'], ['B']]);
  });

  test('an unknown parent and a taken branch name are refused', async () => {
    await say('A', 5);
    await expect(session.at({ branch: 'none', story: 1 }).fork()).rejects.toMatchObject({ code: 'branch.not-found' });
    await session.at({ story: 5 }).fork({ name: 'x' });
    await expect(session.at({ story: 5 }).fork({ name: 'x' })).rejects.toMatchObject({ code: 'branch.exists' });
  });

  test('mutate takes the place of the old claim, and a spawn is refused twice or too early', async () => {
    await say('A', 5);
    const branch = await session.at({ story: 5 }).fork({ name: 'x' });
    await branch.mutate({ id: 'M', agent: 'a', topic: 't', claim: 'what if' });
    expect(await standing({}, 'x')).toEqual(['M']);
    await branch.spawn('db', { fromTurn: 8 });
    expect(await branch.at({ story: 7 }).fleet.agents()).toEqual([]);
    await expect(branch.spawn('db')).rejects.toMatchObject({ code: 'agent.exists' });
    await expect(branch.spawn('early', { fromTurn: 5 })).rejects.toMatchObject({ code: 'point.out-of-range' });
  });

  test('run_forward records a turn that threw, and goes on from there', async () => {
    await session.spawn('a', {});
    const turns: number[] = [];
    let isBroken = true;
    const onTurn = {
      a: ({ turn }: { readonly turn: number }) => {
        turns.push(turn);
        if (turn === 2 && isBroken) throw new Error('down');
      },
    };
    expect((await session.runForward({ untilTurn: 3, onTurn })).stoppedBy).toMatchObject({ turn: 2, agent: 'a' });
    isBroken = false;
    expect((await session.runForward({ untilTurn: 3, onTurn })).stoppedBy).toBeUndefined();
    expect(turns).toEqual([1, 2, 2, 3]);
  });

  test('keeping the existing claim leaves one active, and a tie keeps the existing one', async () => {
    await session.beliefs.setStrategy('highest-trust');
    await say('A', 1, { trust: 0.5 });
    await say('B', 2, { trust: 0.5 });
    expect(await standing()).toEqual(['A']);
    await say('C', 3, { trust: 0.6 });
    expect(await standing()).toEqual(['C']);
  });

  test('a diff names agents, and fills responses', async () => {
    await say('A', 1);
    const branch = await session.at({ story: 1 }).fork({ name: 'x' });
    await branch.mutate({ agent: 'a', topic: 't', claim: 'what if' });
    await branch.spawn('db', {});
    await branch.runForward({
      untilTurn: 2,
      onTurn: {
        db: ({ recorder }) => recorder.call({ kind: 'model', name: 'm', request: { messages: [] } }, () => 'the pool'),
      },
    });
    const { beliefs } = await reprise.diff('graph', 'graph/x', { beliefs: true, fromTurn: 2 });
    expect(beliefs?.agents.map(({ agent }) => agent)).toEqual(['db']);
    expect(beliefs?.answers).toMatchObject([{ agent: 'db', turn: 2, attribution: { how: 'certain' } }]);
    expect(beliefs?.topics[0]?.claims).toMatchObject([
      { kind: 'ended-differently', belief: { claim: 'claim A' }, endsAt: { left: null, right: 2 } },
      { kind: 'only', side: 'right', belief: { agent: 'a', claim: 'what if' } },
    ]);
  });

  test('a scope is never the caller’s word: an empty one shows nothing, a missing agent neither', async () => {
    await say('A', 1);
    await session.beliefs.commit({ id: 'U', kind: 'fact', claim: 'about everything' });
    await session.spawn('none', { scope: [] });
    await session.spawn('one', { scope: ['t'] });
    for (const agent of ['none', 'nobody']) expect(await session.as(agent).beliefs.list()).toEqual([]);
    expect(await session.as('one').beliefs.list()).toHaveLength(2);
    await expect(session.beliefs.commit({ topic: '', claim: 'x' })).rejects.toMatchObject({ code: 'topic.invalid' });
  });

  test('an erased claim is shown to no agent, and what it had superseded stays superseded', async () => {
    await session.spawn('all', {});
    await say('A', 1);
    await say('B', 2);
    await session.erase('main@3', { reason: 'personal data' });
    expect(await standing()).toEqual(['B']);
    expect(await session.as('all').beliefs.list()).toEqual([]);
    expect(await session.at({ story: 1 }).as('all').beliefs.list()).toHaveLength(1);
  });
});
