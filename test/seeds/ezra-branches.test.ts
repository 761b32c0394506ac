/** More of what Ezra promises, line by line: rewinds, branches, comparisons and the audit. Each fails on its semantics. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentTurn } from '../../src/fleet.ts';
import { openReprise, type Reprise, type Session } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

let reprise: Reprise;
let session: Session;

beforeEach(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('graph');
});
afterEach(() => reprise.close());

const say = (id: string, turn: number, more: object = {}, branch = 'main') =>
  session
    .branch(branch)
    .beliefs.commit({ id, agent: 'a', topic: 't', kind: 'decision', claim: `claim ${id}`, turn, ...more });
const standing = async (where: { readonly seq?: number; readonly story?: number } = {}, branch = 'main') => {
  const on = session.branch(branch);
  const beliefs = Object.keys(where).length === 0 ? on.beliefs : on.at(where).beliefs;
  return (await beliefs.list()).map(({ id }) => id).sort();
};
const refused = (code: string) => expect.objectContaining({ code });

describe('B5 rewind and revert', () => {
  test('a chain of any length gives each turn its own claim, and a rewind to any turn that one', async () => {
    for (let turn = 1; turn <= 30; turn++) await say(`c${turn}`, turn);
    for (const turn of [1, 2, 17, 30, 99]) expect(await standing({ story: turn })).toEqual([`c${Math.min(turn, 30)}`]);
    for (const turn of [29, 17, 2]) {
      await session.rewind({ story: turn }, { only: 'beliefs' });
      expect(await standing()).toEqual([`c${turn}`]);
    }
  });

  test('a rewind gives what the turn gave, for random histories', async () => {
    const claim = fc.record({
      topic: fc.constantFrom('x', 'y'),
      kind: fc.constantFrom('decision', 'fact'),
      claim: fc.constantFrom('up', 'not up', 'left'),
      trust: fc.constantFrom(0.2, 0.5, 0.9),
      turn: fc.integer({ min: 0, max: 9 }),
    });
    const history = fc.record({
      strategy: fc.constantFrom('last-write-wins', 'highest-trust'),
      claims: fc.array(claim, { minLength: 1, maxLength: 12 }),
      turn: fc.integer({ min: 0, max: 9 }),
    });
    let count = 0;
    const check = async ({
      strategy,
      claims,
      turn,
    }: typeof history extends fc.Arbitrary<infer Made> ? Made : never) => {
      session = await reprise.createSession(`random-${count++}`);
      await session.beliefs.setStrategy(strategy);
      for (const [index, each] of claims.entries()) await say(`c${index}`, each.turn, each);
      const { head } = await session.locate();
      const [then, before] = [await standing({ story: turn }), await standing()];
      await session.rewind({ story: turn }, { only: 'beliefs' });
      expect([await standing(), await standing({ seq: head })]).toEqual([then, before]);
    };
    await fc.assert(fc.asyncProperty(history, check), { numRuns: 60 });
  });

  test('a rewind of a rewind, and both taken back, change no earlier look', async () => {
    for (const [id, turn] of [
      ['A', 2],
      ['B', 6],
      ['C', 8],
    ] as const)
      await say(id, turn);
    const { head } = await session.locate();
    const before = await Promise.all([2, 6, 8].map((turn) => standing({ story: turn, seq: head })));
    await session.rewind({ story: 7 }, { only: 'beliefs' });
    await session.rewind({ story: 4 }, { only: 'beliefs' });
    expect([await standing(), await standing({ seq: head + 1 })]).toEqual([['A'], ['B']]);
    await session.redo();
    expect(await standing()).toEqual(['B']);
    await session.redo();
    expect(await standing()).toEqual(['C']);
    expect(await Promise.all([2, 6, 8].map((turn) => standing({ story: turn, seq: head })))).toEqual(before);
  });

  test('a rewind is one append with its reason; past the end it undoes nothing, and what is no turn is refused', async () => {
    await say('A', 2);
    const { undone, marker } = await session.rewind({ story: 99 }, { only: 'beliefs', reason: 'to be sure' });
    expect([undone, marker.data['reason'], (await session.locate()).head]).toEqual([[], 'to be sure', 2]);
    expect(await standing()).toEqual(['A']);
    await expect(session.rewind({ story: -1 }, { only: 'beliefs' })).rejects.toEqual(refused('point.out-of-range'));
    await expect(reprise.session('unknown', { create: false })).rejects.toEqual(refused('session.not-found'));
  });

  test('a second revert is refused and leaves no marker', async () => {
    await say('A', 2);
    await say('B', 6);
    await session.beliefs.revert('B', { reason: 'was wrong' });
    const { head } = await session.locate();
    await expect(session.beliefs.revert('B')).rejects.toEqual(refused('event.not-in-view'));
    expect((await session.locate()).head).toBe(head);
  });

  test('a scope under a different name is refused, not ignored', async () => {
    await expect(session.beliefs.list({ permission_scope: ['t'] } as never)).rejects.toEqual(refused('option.invalid'));
    await expect(session.spawn('a', { permission_scope: ['t'] } as never)).rejects.toEqual(refused('option.invalid'));
  });
});

describe('B5 branches', () => {
  test('a branch leaves its parent alone; there are branches of branches, and of a rewound line', async () => {
    await say('A', 5);
    await say('B', 20);
    const { head } = await session.locate();
    const x = await session.at({ story: 15 }).fork({ name: 'x' });
    await x.mutate({ id: 'M', agent: 'a', topic: 't', claim: 'what if' });
    const z = await session.at({ branch: 'x', story: 16 }).fork({ name: 'z' });
    await z.mutate({ id: 'N', agent: 'a', topic: 't', claim: 'and if' });
    expect([await standing(), await standing({}, 'x'), await standing({}, 'z')]).toEqual([['B'], ['M'], ['N']]);
    expect([await standing({ story: 15 }, 'z'), await standing({ story: 16 }, 'z')]).toEqual([['A'], ['M']]);
    expect((await session.locate()).head).toBe(head);
    await session.rewind({ story: 15 }, { only: 'beliefs' });
    await session.at({ story: 20 }).fork({ name: 'y' });
    expect(await standing({}, 'y')).toEqual(['A']);
  });

  test('an id names one claim in the whole session, and the agents of the parent are there with their scopes', async () => {
    await session.spawn('a', { scope: ['t'] });
    await say('A', 5);
    await session.beliefs.commit({ id: 'O', topic: 'other', kind: 'fact', claim: 'not for a', turn: 5 });
    const x = await session.at({ story: 5 }).fork({ name: 'x' });
    await expect(say('A', 6, { claim: 'something else' }, 'x')).rejects.toEqual(refused('event.id-reused'));
    await say('B', 6, {}, 'x');
    await expect(say('B', 6, { claim: 'something else' })).rejects.toEqual(refused('event.id-reused'));
    expect(await x.fleet.agents()).toMatchObject([{ agent: 'a', scope: ['t'] }]);
    expect((await x.as('a').beliefs.list()).map(({ id }) => id)).toEqual(['B']);
  });

  test('mutate takes the place of the old claim, unless it is to stand beside it', async () => {
    await say('A', 5);
    const x = await session.at({ story: 5 }).fork({ name: 'x' });
    await x.mutate({ id: 'M', agent: 'a', topic: 't', claim: 'what if', beside: true });
    expect(await standing({}, 'x')).toEqual(['A', 'M']);
  });

  test('an unknown branch is refused by every verb', async () => {
    await say('A', 5);
    const unknown = session.branch('none');
    const verbs: readonly (() => Promise<unknown>)[] = [
      () => unknown.spawn('a'),
      () => unknown.mutate({ topic: 't', claim: 'x' }),
      () => unknown.runForward({ untilTurn: 9, onTurn: {} }),
      () => session.branch('none').beliefs.commit({ topic: 't', claim: 'x' }),
      () => session.branch('none').beliefs.revert('A'),
      () => session.as('a').branch('none').beliefs.list(),
      () => reprise.diff('graph', 'graph/none', { beliefs: true }),
      () => session.at('none@1').beliefs.list(),
    ];
    for (const verb of verbs) await expect(verb()).rejects.toEqual(refused('branch.not-found'));
  });
});

describe('B5 the comparison of two branches', () => {
  test.each([
    ['agent', { agent: 'b' }],
    ['kind', { kind: 'calculation' }],
    ['value', { value: 2 }],
    ['trust', { trust: 0.5 }],
    ['turn', { turn: 3 }],
  ])('tells claims of equal text apart by their %s', async (_, other) => {
    await say('A', 1);
    await session.at({ story: 1 }).fork({ name: 'x' });
    const claim = { topic: 'u', claim: 'the same text', value: 1 };
    await say('L', 2, claim);
    await say('R', 2, { ...claim, ...other }, 'x');
    const { beliefs } = await reprise.diff('graph', 'graph/x', { beliefs: true, fromTurn: 2 });
    const found = beliefs?.topics.flatMap(({ claims }) => claims.map(({ side, belief }) => [side, belief.id]));
    expect(found).toEqual([
      ['left', 'L'],
      ['right', 'R'],
    ]);
  });

  test('counts claims that were made twice, and leaves out what was there before the turn', async () => {
    await say('A', 1);
    await session.at({ story: 1 }).fork({ name: 'x' });
    const claim = { topic: 'u', kind: 'fact', claim: 'the same text', beside: true };
    await say('L', 2, claim);
    await say('L2', 2, claim);
    await say('R', 2, claim, 'x');
    const { beliefs } = await reprise.diff('graph', 'graph/x', { beliefs: true, fromTurn: 1 });
    expect(beliefs?.topics.flatMap(({ claims }) => claims.map(({ belief }) => belief.id))).toEqual(['L2']);
  });

  test('includes what tools and models answered', async () => {
    await session.spawn('db', {});
    const run = async (branch: string, answer: string): Promise<unknown> => {
      const call = { kind: 'tool', name: 'look', input: {}, effect: 'pure' } as const;
      const onTurn = { db: ({ recorder }: AgentTurn) => recorder.call(call, () => answer) };
      return session.branch(branch).runForward({ untilTurn: 2, onTurn });
    };
    await run('main', 'full');
    await session.at({ story: 1 }).fork({ name: 'x' });
    await run('x', 'empty');
    const { beliefs } = await reprise.diff('graph', 'graph/x', { beliefs: true });
    expect(beliefs?.answers.map(({ agent, turn }) => [agent, turn])).toEqual([['db', 2]]);
  });
});

test('B5 every operation leaves an event in the audit, with who and why', async () => {
  let count = 0;
  const adds = async (type: string, work: () => Promise<unknown>): Promise<void> => {
    await work();
    const events = await all(session.audit());
    expect(events.slice(count).map((event) => event.type)).toContain(type);
    count = events.length;
  };
  const { task: tasks } = session.fleet;
  await adds('agent.spawned', () => session.spawn('a', {}));
  await adds('agent.changed', () => session.fleet.change('a', { trust: 0.5 }));
  await adds('strategy.changed', () => session.beliefs.setStrategy('highest-trust', { reason: 'less noise' }));
  await adds('belief.committed', () => say('A', 1));
  await adds('contradiction.detected', () => say('B', 2, { trust: 0.9 }));
  await adds('belief.superseded', () => say('C', 3, { trust: 1 }));
  await adds('contradiction.settled', () => say('D', 4, { trust: 0.1 }));
  await adds('task.started', () => tasks.start({ task: 't1' }));
  await adds('task.claimed', () => tasks.claim({ task: 't1', agent: 'a' }));
  await adds('verification.failed', () => tasks.verificationFailed({ task: 't1', signals: ['tests'] }));
  await adds('task.ended', () => tasks.end({ task: 't1' }));
  await adds('event.reverted', () => session.beliefs.revert('C', { reason: 'was wrong', agent: 'lead' }));
  await adds('branch.rewound', () => session.rewind({ story: 1 }, { only: 'beliefs', reason: 'begin again' }));
  await adds('event.reverted', () => session.redo());
  await adds('payload.erased', () => session.erase('main@4', { reason: 'personal data' }));
  await adds('agent.ended', () => session.fleet.end('a', { reason: 'done' }));
  const events = await all(session.audit());
  const reasons = events.flatMap(({ data }) => data['reason'] ?? []);
  expect(reasons).toEqual(['less noise', 'was wrong', 'begin again', 'personal data', 'done']);
  expect(events.find(({ type }) => type === 'event.reverted')?.agent).toBe('lead');
});
