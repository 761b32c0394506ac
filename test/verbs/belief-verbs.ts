import assert from 'node:assert/strict';
import type { Belief } from '../../src/core/fleet/belief.ts';
import type { Session } from '../../src/engine/session.ts';
import { beliefs as beliefsProjection } from '../../src/projections/fleet.ts';
import { all, note, onSession, refuses, type VerbCase } from './verb-case.ts';

const ids = (held: readonly Belief[]): string[] => held.map(({ id }) => id);
const decide = (session: Session, id: string, claim: string, turn: number, more: object = {}) =>
  session.beliefs.commit({ id, agent: 'triage', topic: 'diagnosis', kind: 'decision', claim, turn, ...more });

/** The cases of beliefs: commits, two times, settling, reverts. */
export const beliefVerbs: readonly VerbCase[] = [
  onSession('commit() returns the belief, whether it stands, and what was settled, in one append', async (session) => {
    const first = await decide(session, 'a', 'a bad deploy', 5);
    assert.deepEqual([first.stands, first.settled, first.superseded, first.seq], [true, [], [], 1]);
    const { time, ...belief } = first.belief;
    assert.ok(time.endsWith('Z'));
    assert.deepEqual(belief, {
      id: 'a',
      branch: 'main',
      seq: 1,
      turn: 5,
      agent: 'triage',
      claim: 'a bad deploy',
      topic: 'diagnosis',
      kind: 'decision',
      trust: 1,
    });
    const second = await decide(session, 'b', 'the pool', 20);
    assert.deepEqual([second.stands, second.superseded, second.seq], [true, ['a'], 5]);
    assert.deepEqual(
      second.settled.map(({ turn, winner, strategy, against }) => [turn, winner, strategy, against.id]),
      [[20, 'b', 'last-write-wins', 'a']],
    );
    const types = (await all(session.replay())).map(({ type }) => type);
    assert.deepEqual(types.slice(1), [
      'belief.committed',
      'belief.superseded',
      'contradiction.detected',
      'contradiction.settled',
    ]);
  }),

  onSession('beliefs.list() looks at a turn and at a seq; later appends change no earlier answer', async (session) => {
    await decide(session, 'a', 'a bad deploy', 5);
    await decide(session, 'b', 'the pool', 20);
    await decide(session, 'late', 'the network', 10);
    assert.deepEqual(ids(await session.at({ story: 7 }).beliefs.list()), ['a']);
    assert.deepEqual(ids(await session.at({ story: 15 }).beliefs.list()), ['late']);
    assert.deepEqual(ids(await session.at({ seq: 5, story: 15 }).beliefs.list()), ['a']);
    assert.deepEqual(ids(await session.at('main@1').beliefs.list()), ['a']);
    assert.deepEqual(ids(await session.beliefs.list()), ['b']);
    assert.deepEqual(ids(await session.beliefs.list({ agent: 'nobody' })), []);
    assert.deepEqual(ids(await session.beliefs.list({ topic: 'diagnosis', agent: 'triage' })), ['b']);
    assert.deepEqual(ids(await session.fold(beliefsProjection)), ['b']);
    await refuses('option.invalid', () => session.beliefs.list({ seq: 1, point: 'main@1' } as never));
    await refuses('option.invalid', () => session.beliefs.list({ tunr: 1 } as never));
    await refuses('point.out-of-range', () => session.at(99).beliefs.list());
    for (const turn of [-1, 2 ** 53, 1.5])
      await refuses('point.out-of-range', () => session.at({ story: turn }).beliefs.list());
  }),

  onSession('commit() refuses a claim that is not well formed', async (session) => {
    const commit = (claim: object): Promise<unknown> => session.beliefs.commit({ claim: 'it is', ...claim } as never);
    await refuses('topic.invalid', () => commit({ topic: '' }));
    await refuses('topic.invalid', () => commit({ topic: '\ud800' }));
    const tooLong = await refuses('limit.exceeded', () => commit({ topic: 'x'.repeat(3_000) }));
    assert.equal(tooLong.details['limit'], 'topicBytesMax');
    for (const turn of [-1, 2 ** 53]) await refuses('point.out-of-range', () => commit({ turn }));
    for (const trust of [-0.1, 1.1, 'high']) await refuses('belief.invalid', () => commit({ trust }));
    await refuses('belief.invalid', () => commit({ claim: '' }));
    await refuses('belief.invalid', () => commit({ kind: 'opinion' }));
    await refuses('belief.invalid', () => commit({ supersedes: 'a' }));
    await refuses('option.invalid', () => commit({ trsut: 1 }));
    assert.equal((await session.locate()).head, 0);
  }),

  onSession('commit() with an id can be repeated; with different content it is refused', async (session) => {
    const first = await decide(session, 'a', 'a bad deploy', 5);
    const again = await decide(session, 'a', 'a bad deploy', 5);
    assert.deepEqual(again.belief, first.belief);
    assert.equal((await session.locate()).head, 1);
    await refuses('event.id-reused', () => decide(session, 'a', 'the pool', 5));
  }),

  onSession('commit() supersedes by name, on any topic, and only what stands', async (session) => {
    await session.beliefs.commit({ id: 'a', topic: 'database', kind: 'fact', claim: 'The pool is full' });
    const done = await session.beliefs.commit({
      id: 'b',
      topic: 'network',
      kind: 'fact',
      claim: 'It was the network',
      supersedes: ['a'],
    });
    assert.deepEqual([done.superseded, ids(await session.beliefs.list())], [['a'], ['b']]);
    const again = { topic: 'database', kind: 'fact', claim: 'A slow query' } as const;
    await refuses('belief.not-standing', () => session.beliefs.commit({ ...again, supersedes: ['a'] }));
    await refuses('belief.not-standing', () => session.beliefs.commit({ ...again, supersedes: ['unknown'] }));
  }),

  onSession(
    'commit() by highest trust keeps exactly one side; trust comes from the agent on the topic',
    async (session) => {
      await session.beliefs.setStrategy('highest-trust', { reason: 'the interns talk too much' });
      assert.equal(await session.beliefs.strategy(), 'highest-trust');
      await session.spawn('expert', { trust: 0.5, trustOn: { diagnosis: 0.9 } });
      await session.spawn('intern', { trust: 0.6 });
      const say = (agent: string, id: string, topic: string) =>
        session.beliefs.commit({ agent, id, topic, kind: 'decision', claim: `${agent} says so` });
      assert.equal((await say('expert', 'e', 'diagnosis')).belief.trust, 0.9);
      const lost = await say('intern', 'i', 'diagnosis');
      assert.deepEqual([lost.stands, lost.settled[0]?.winner], [false, 'e']);
      assert.equal((await say('expert', 'e2', 'cost')).belief.trust, 0.5);
      assert.equal((await say('intern', 'i2', 'cost')).stands, true);
      assert.deepEqual(ids(await session.beliefs.list()), ['e', 'i2']);
    },
  ),

  onSession('using() asks a checker of the caller once about each pair, and a rule of the caller', async (session) => {
    const asked: string[] = [];
    const beliefs = session.using({
      contradicts: async (existing, added) => {
        asked.push(`${existing.claim} / ${added.claim}`);
        return true;
      },
      strategies: { first: async () => 'existing' as const },
    }).beliefs;
    await refuses('strategy.unknown', () => session.beliefs.setStrategy('first'));
    await beliefs.setStrategy('first');
    await beliefs.commit({ id: 'a', topic: 't', kind: 'fact', claim: 'one' });
    const second = await beliefs.commit({ id: 'b', topic: 't', kind: 'fact', claim: 'two' });
    assert.deepEqual([second.stands, second.settled[0]?.strategy, asked], [false, 'first', ['one / two']]);
    // Without the rule, nothing is guessed.
    const clash = { topic: 'u', kind: 'decision', claim: 'x' } as const;
    await session.beliefs.commit(clash);
    await refuses('strategy.unknown', () => session.beliefs.commit({ ...clash, claim: 'y' }));
  }),

  onSession('a checker or rule that throws, hangs or answers nonsense does not stop a commit', async (session) => {
    const cases: [string, Parameters<Session['using']>[0]][] = [
      ['checker failed', { contradicts: () => Promise.reject(new Error('no quota')) }],
      [
        'checker failed',
        {
          contradicts: () => {
            throw new Error('no quota');
          },
        },
      ],
      ['did not answer in 5 ms', { contradicts: () => new Promise(() => undefined), timeoutMs: 5 }],
      ['checker answered "yes"', { contradicts: async () => 'yes' as never }],
      ['rule "mine" answered "both"', { contradicts: () => true, strategies: { mine: () => 'both' as never } }],
      ['rule "mine" failed', { contradicts: () => true, strategies: { mine: () => Promise.reject(new Error('no')) } }],
    ];
    await session.using({ strategies: { mine: () => 'existing' } }).beliefs.setStrategy('mine');
    for (const [index, [fault, options]] of cases.entries()) {
      const beliefs = session.using(options).beliefs;
      const topic = `t${index}`;
      await beliefs.commit({ id: `a${index}`, topic, kind: 'fact', claim: 'one' });
      const { stands, settled } = await beliefs.commit({ id: `b${index}`, topic, kind: 'fact', claim: 'two' });
      assert.deepEqual([stands, settled[0]?.strategy], [true, 'last-write-wins'], fault);
      assert.ok(settled[0]?.fallback?.includes(fault), settled[0]?.fallback);
    }
    await refuses('option.invalid', () => session.using({ timeoutMs: 0 }).beliefs);
    await refuses('option.invalid', () => session.using({ contradict: () => true } as never).beliefs);
  }),

  onSession('an asymmetric checker is asked in the order of the log, so one side stands', async (session) => {
    const beliefs = session.using({ contradicts: (existing, added) => existing.claim < added.claim }).beliefs;
    await beliefs.commit({ id: 'a', topic: 't', kind: 'fact', claim: 'a', turn: 5 });
    await beliefs.commit({ id: 'b', topic: 't', kind: 'fact', claim: 'b', turn: 1 });
    assert.deepEqual(ids(await session.beliefs.list()), ['a']);
    assert.deepEqual(ids(await session.at({ story: 3 }).beliefs.list()), ['b']);
  }),

  onSession('settle() settles claims that were appended by hand, once', async (session) => {
    const told = (id: string, claim: string, turn: number) => ({
      type: 'belief.committed',
      id,
      agent: 'db',
      turn,
      data: { claim, topic: 'pool', kind: 'decision' },
    });
    await session.append([told('a', 'full', 1), told('b', 'leaking', 2)]);
    assert.deepEqual(ids(await session.beliefs.list()), ['a', 'b']);
    const { claims, settled } = await session.beliefs.settle();
    assert.deepEqual([claims, settled.map(({ winner }) => winner)], [2, ['b']]);
    assert.deepEqual(ids(await session.beliefs.list()), ['b']);
    const { head } = await session.locate();
    assert.deepEqual((await session.beliefs.settle()).settled, []);
    assert.equal((await session.locate()).head, head);
  }),

  onSession(
    'revert() of a claim restores and settles; unknown, foreign and gone ids are refused by name',
    async (session) => {
      await decide(session, 'a', 'one', 2);
      await decide(session, 'b', 'two', 6);
      await decide(session, 'c', 'three', 8);
      await session.fork('main@1', { name: 'early' });
      const { settled } = await session.beliefs.revert('b', { reason: 'was wrong', turn: 9 });
      assert.deepEqual(
        settled.map(({ winner }) => winner),
        ['c'],
      );
      assert.deepEqual(ids(await session.beliefs.list()), ['c']);
      assert.deepEqual(ids(await session.at({ story: 7 }).beliefs.list()), ['a']);
      assert.deepEqual(ids(await session.at({ seq: 9, story: 7 }).beliefs.list()), ['b']);
      await refuses('event.not-in-view', () => session.beliefs.revert('b'));
      await refuses('event.not-found', () => session.beliefs.revert('unknown'));
      const foreign = await refuses('event.not-found', () => session.branch('early').beliefs.revert('c'));
      assert.match(foreign.message, /main@6, which does not lead to "early"/);
      await session.beliefs.revert('c', { restore: false });
      assert.deepEqual(ids(await session.beliefs.list()), []);
      await session.rewind({ story: 1 }, { only: 'beliefs' });
      const rewound = await refuses('event.not-in-view', () => session.beliefs.revert('a'));
      assert.match(rewound.message, /"a" on "main": it was rewound or reverted before/);
    },
  ),

  onSession('session.revert() of a claim settles what comes back, as beliefs.revert() does', async (session) => {
    await decide(session, 'a', 'one', 2);
    await decide(session, 'b', 'two', 6);
    await decide(session, 'c', 'three', 8);
    await session.revert(2);
    assert.deepEqual(ids(await session.beliefs.list()), ['c']);
    assert.deepEqual(ids(await session.at({ story: 7 }).beliefs.list()), ['a']);
  }),

  onSession('a rewind of beliefs begins no epoch, and redo settles what it brings back', async (session) => {
    await decide(session, 'a', 'one', 2);
    await decide(session, 'b', 'two', 6);
    const { epoch } =
      (await session.append(note('x', { turn: 6 }), { epoch: 0 })).length > 0 ? { epoch: 0 } : { epoch: 1 };
    await session.rewind({ story: 4 }, { only: 'beliefs', reason: 'reset to the opening call' });
    await session.append(note('still here', { turn: 7 }), { epoch });
    await decide(session, 'c', 'three', 7);
    assert.deepEqual(ids(await session.beliefs.list()), ['c']);
    const { restored } = await session.redo();
    assert.deepEqual(restored, [2, 3, 4, 5]);
    assert.deepEqual(ids(await session.beliefs.list()), ['c']);
    assert.deepEqual(ids(await session.at({ story: 6 }).beliefs.list()), ['b']);
    await session.rewind({ story: 1 });
    await refuses('branch.rewound', () => session.append(note('y'), { epoch }));
  }),

  onSession('a recorder of a fleet stays on its branch when beliefs are rewound', async (session) => {
    await using recorder = await session.record({ agent: 'db' });
    recorder.event({ type: 'note.added', turn: 1, data: { text: 'a' } });
    await recorder.flush();
    await decide(session, 'a', 'one', 5);
    await session.rewind({ story: 4 }, { only: 'beliefs' });
    recorder.event({ type: 'note.added', turn: 5, data: { text: 'b' } });
    const { branch, left } = await recorder.flush();
    assert.deepEqual([branch, left], ['main', []]);
  }),

  onSession('a claim that was edited answers to its old id: it stays superseded', async (session) => {
    await decide(session, 'a', 'one', 5);
    await decide(session, 'b', 'two', 20);
    await session.edit({ kind: 'belief', seq: 1, belief: { claim: 'another one', topic: 'diagnosis' } });
    const [held] = await session.at({ story: 15 }).beliefs.list();
    assert.deepEqual([held?.claim, held?.replacedIds], ['another one', ['a']]);
    assert.deepEqual(ids(await session.beliefs.list()), ['b']);
    const [event] = await all(session.replay({ limit: 1 }));
    assert.deepEqual([event?.replaces, event?.replacedIds], [1, ['a']]);
  }),

  onSession(
    'commit() is planned again if its topic or agent changed, and for nothing else; each pair is asked about once',
    async (session) => {
      const asked: string[] = [];
      let judged = 0;
      let meanwhile: (() => Promise<unknown>) | undefined;
      const beliefs = session.using({
        contradicts: async (existing, added) => {
          asked.push(`${existing.claim} / ${added.claim}`);
          const work = meanwhile;
          meanwhile = undefined;
          await work?.();
          return existing.claim === 'one';
        },
        strategies: {
          counted: () => {
            judged++;
            return 'new';
          },
        },
      }).beliefs;
      await beliefs.setStrategy('counted');
      const say = (claim: string, topic = 't') => ({ agent: claim, topic, kind: 'fact', claim }) as const;
      await beliefs.commit(say('one'));
      await beliefs.commit({ ...say('two'), beside: true });
      const plan = async (work: () => Promise<unknown>, claim: string): Promise<readonly string[]> => {
        asked.length = 0;
        judged = 0;
        meanwhile = work;
        await beliefs.commit(say(claim));
        return asked;
      };
      const others = async (): Promise<void> => {
        await session.append(note('elsewhere', { agent: 'somebody' }));
        await session.beliefs.commit(say('four', 'u'));
        await session.spawn('somebody', {});
      };
      assert.deepEqual(await plan(others, 'three'), ['one / three', 'two / three']);
      assert.equal(judged, 1);
      await session.beliefs.revert((await session.beliefs.list({ agent: 'three' }))[0]?.id ?? '');
      const related = () => session.beliefs.commit(say('five'));
      assert.deepEqual(await plan(related, 'six'), ['one / six', 'two / six', 'five / six']);
      assert.equal(judged, 2);
    },
  ),

  onSession('commits of several writers at once leave one side standing on each topic', async (session) => {
    const writers = Array.from({ length: 8 }, (_, writer) => writer);
    await Promise.all(
      writers.flatMap((writer) =>
        ['shared', `own-${writer}`].map((topic) =>
          session.beliefs.commit({ agent: `w${writer}`, topic, kind: 'decision', claim: `by ${writer}`, turn: 1 }),
        ),
      ),
    );
    const standing = await session.beliefs.list();
    assert.equal(standing.filter(({ topic }) => topic === 'shared').length, 1);
    assert.equal(standing.length, writers.length + 1);
  }),
];
