import assert from 'node:assert/strict';
import type { Belief } from '../../src/core/fleet/belief.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { beliefs as beliefsProjection, fleet as fleetProjection } from '../../src/projections/fleet.ts';
import { all, note, onSession, refuses, type VerbCase } from './verb-case.ts';

const claims = (held: readonly Belief[]): string[] => held.map(({ claim }) => claim).sort();

/** The cases of agents, their scopes and tasks. */
export const fleetVerbs: readonly VerbCase[] = [
  onSession('spawn(), change() and end() say who is there, since when, and with which scope', async (session) => {
    await session.spawn('db', { role: 'database', scope: ['database'], trust: 0.9, model: 'large-1' });
    await refuses('agent.exists', () => session.spawn('db'));
    await session.append(note('x', { turn: 5 }));
    await session.fleet.change('db', { scope: 'all', turn: 5 });
    await session.fleet.end('db', { reason: 'done', turn: 9 });
    await refuses('agent.not-spawned', () => session.fleet.change('db', { scope: [] }));
    await refuses('agent.not-spawned', () => session.fleet.end('nobody'));
    const [then] = await session.at({ story: 4 }).fleet.agents();
    assert.deepEqual(then, {
      agent: 'db',
      role: 'database',
      scope: ['database'],
      trust: 0.9,
      model: 'large-1',
      since: 0,
      seq: 1,
      tasks: [],
    });
    assert.equal((await session.at({ story: 5 }).fleet.agents())[0]?.scope, 'all');
    assert.equal((await session.at('main@1').fleet.agents())[0]?.agent, 'db');
    assert.deepEqual(await session.fleet.agents(), []);
    await session.spawn('db', {});
    assert.equal((await session.fold(fleetProjection)).agents[0]?.scope, 'all');
  }),

  onSession('spawn() refuses what is not an agent, a scope or a trust', async (session) => {
    await refuses('id.invalid', () => session.spawn('a\u0000b'));
    await refuses('topic.invalid', () => session.spawn('a', { scope: [''] }));
    await refuses('option.invalid', () => session.spawn('a', { scope: 'database' as never }));
    await refuses('belief.invalid', () => session.spawn('a', { trust: 2 }));
    await refuses('belief.invalid', () => session.spawn('a', { trustOn: { t: 2 } }));
    await refuses('option.invalid', () => session.spawn('a', { scop: [] } as never));
    for (const fromTurn of [-1, 2 ** 53]) await refuses('point.out-of-range', () => session.spawn('a', { fromTurn }));
    await refuses('limit.exceeded', () =>
      session.spawn('a', { scope: Array.from({ length: 10_001 }, (_, index) => `t${index}`) }),
    );
  }),

  onSession('I7 a scope holds for topics with any characters in them', async (session) => {
    const topics = ['a', 'a\u0000', 'a\u0001b', 'a/b', 'a%', '\u0001', 'é😀'];
    for (const topic of topics)
      await session.beliefs.commit({ topic, kind: 'fact', claim: `on ${JSON.stringify(topic)}` });
    for (const [index, topic] of topics.entries()) {
      await session.spawn(`agent-${index}`, { scope: [topic] });
      const seen = await session.as(`agent-${index}`).beliefs.list();
      assert.deepEqual(claims(seen), [`on ${JSON.stringify(topic)}`]);
    }
  }),

  onSession(
    'I7 as() shows an agent its own events and state, and beliefs in its scope, and nothing else',
    async (session) => {
      await session.spawn('db', { scope: ['database'] });
      await session.spawn('none', { scope: [] });
      await session.beliefs.commit({ agent: 'db', topic: 'database', kind: 'fact', claim: 'full' });
      await session.beliefs.commit({ agent: 'net', topic: 'network', kind: 'fact', claim: 'slow' });
      await session.beliefs.commit({ agent: 'net', kind: 'fact', claim: 'about everything' });
      await session.append([note('mine', { agent: 'db' }), note('theirs', { agent: 'net' }), note('nobody’s')]);
      await session.state.as('db').transaction((tx) => tx.write('plan', 'look'));
      const db = session.as('db');
      assert.deepEqual(claims(await db.beliefs.list()), ['about everything', 'full']);
      const seen = await all(db.replay());
      assert.deepEqual(
        seen.map(({ type, data }) => data['claim'] ?? data['text'] ?? type),
        ['agent.spawned', 'full', 'about everything', 'mine', 'state.committed'],
      );
      assert.equal((await all(db.replay({ limit: 2 }))).length, 2);
      assert.deepEqual(claims(await db.fold(beliefsProjection)), ['about everything', 'full']);
      assert.deepEqual((await db.fold(conversation)).messages, []);
      assert.equal((await db.state.get('plan')).value, 'look');
      const { scope, isThere, state } = await db.known();
      assert.deepEqual(
        [scope, isThere, state.map(({ key, value }) => [key, value])],
        [['database'], true, [['plan', 'look']]],
      );
      for (const agent of ['none', 'never-spawned']) assert.deepEqual(await session.as(agent).beliefs.list(), []);
      assert.equal((await session.as('nobody').known()).isThere, false);
      await refuses('scope.denied', () => db.state.as('net'));
      await refuses('scope.denied', () => db.state.begin().as('net'));
      await refuses('option.invalid', () => all(db.replay({ history: 'raw' } as never)));
    },
  ),

  onSession('as() may commit only on what the agent may see; the operator is not asked', async (session) => {
    await session.spawn('db', { scope: ['database'] });
    const { belief } = await session.as('db').beliefs.commit({ topic: 'database', kind: 'fact', claim: 'full' });
    assert.equal(belief.agent, 'db');
    await refuses('scope.denied', () =>
      session.as('db').beliefs.commit({ topic: 'network', kind: 'fact', claim: 'slow' }),
    );
    await refuses('scope.denied', () =>
      session.as('nobody').beliefs.commit({ topic: 'database', kind: 'fact', claim: 'x' }),
    );
    await session.beliefs.commit({ agent: 'db', topic: 'network', kind: 'fact', claim: 'slow' });
  }),

  onSession('a scope is that of the moment: what was taken away is still seen in an old look', async (session) => {
    await session.spawn('db', { scope: ['database'] });
    await session.beliefs.commit({ topic: 'database', kind: 'fact', claim: 'full', turn: 1 });
    await session.beliefs.commit({ topic: 'network', kind: 'fact', claim: 'slow', turn: 2 });
    await session.fleet.change('db', { scope: ['network'], turn: 5 });
    const db = session.as('db');
    assert.deepEqual(claims(await db.at({ story: 4 }).beliefs.list()), ['full']);
    assert.deepEqual(claims(await db.at({ story: 5 }).beliefs.list()), ['slow']);
    assert.deepEqual(claims(await db.at(3).beliefs.list()), ['full']);
    await session.at({ story: 4 }).fork({ name: 'x' });
    assert.deepEqual(claims(await db.branch('x').beliefs.list()), ['full']);
    // Handed to the agent itself, an old look gives back nothing that was taken from it.
    const handed = session.as('db', { handed: true });
    assert.deepEqual(claims(await handed.at({ story: 4 }).beliefs.list()), []);
    assert.deepEqual(claims(await handed.beliefs.list()), ['slow']);
    assert.deepEqual((await handed.at('main@3').known()).beliefs, []);
    assert.deepEqual(claims(await handed.at('main@3').fold(beliefsProjection)), []);
    assert.deepEqual(
      (await all(handed.at('main@3').replay())).map(({ type }) => type),
      ['agent.spawned'],
    );
    assert.deepEqual(claims(await session.branch('x').as('db', { handed: true }).beliefs.list()), ['full']);
  }),

  onSession('a task is claimed by one agent and ended once', async (session) => {
    const { task: tasks } = session.fleet;
    await session.spawn('db', {});
    await refuses('task.not-found', () => tasks.claim({ task: 't1', agent: 'db' }));
    await tasks.start({ task: 't1', title: 'Find the slow query', role: 'database' });
    await refuses('task.exists', () => tasks.start({ task: 't1' }));
    const claimed = await Promise.allSettled(
      ['db', 'net', 'triage'].map((agent) => tasks.claim({ task: 't1', agent })),
    );
    assert.equal(claimed.filter(({ status }) => status === 'fulfilled').length, 1);
    const lost = claimed.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    assert.equal((lost.reason as { code: string }).code, 'task.claimed');
    const [held] = await session.fleet.tasks();
    assert.equal(held?.status, 'claimed');
    await tasks.verificationFailed({ task: 't1', signals: ['tests'] });
    await tasks.end({ task: 't1', outcome: 'ok', result: 'orders' });
    await refuses('task.ended', () => tasks.end({ task: 't1' }));
    await refuses('task.ended', () => tasks.claim({ task: 't1', agent: 'db' }));
    await refuses('id.invalid', () => tasks.start({ task: '' }));
    const [done] = await session.fleet.tasks();
    assert.deepEqual([done?.status, done?.outcome, done?.failed], ['ended', 'ok', ['tests']]);
    await tasks.start({ task: 't2' });
    await tasks.claim({ task: 't2', agent: 'db' });
    assert.deepEqual((await session.fleet.agents())[0]?.tasks, ['t2']);
  }),

  onSession('mutate() takes the place of what stands from the turn after the fork on', async (session) => {
    await session.beliefs.commit({ agent: 'a', topic: 't', kind: 'fact', claim: 'one', turn: 5 });
    await session.beliefs.commit({ agent: 'b', topic: 't', kind: 'fact', claim: 'two', turn: 14 });
    await session.spawn('a', { scope: ['t'] });
    const branch = await session.at({ story: 15 }).fork({ name: 'x' });
    const { turn, committed } = await branch.mutate({ agent: 'a', topic: 't', claim: 'what if' });
    assert.deepEqual([turn, committed?.superseded.length], [16, 2]);
    assert.deepEqual(claims(await branch.beliefs.list()), ['what if']);
    assert.deepEqual(claims(await branch.at({ story: 15 }).beliefs.list()), ['one', 'two']);
    assert.deepEqual(claims(await session.beliefs.list()), ['one', 'two']);
    await branch.mutate({ state: { agent: 'a', key: 'plan', value: 'wait' } });
    assert.equal((await branch.state.as('a').get('plan')).value, 'wait');
    await branch.mutate({ strategy: 'highest-trust' });
    assert.equal(await branch.beliefs.strategy(), 'highest-trust');
    assert.equal(await session.beliefs.strategy(), 'last-write-wins');
    await branch.mutate({ agent: 'a', scope: 'all' });
    assert.equal((await branch.fleet.agents())[0]?.scope, 'all');
    await branch.mutate({ agent: 'a', trust: 0.2, role: 'intern' });
    const [{ trust, role } = {}] = await branch.fleet.agents();
    assert.deepEqual([trust, role, (await session.fleet.agents())[0]?.role], [0.2, 'intern', undefined]);
    const { belief } = await branch.beliefs.commit({ agent: 'a', topic: 'u', kind: 'fact', claim: 'as an intern' });
    assert.equal(belief.trust, 0.2);
    await refuses('option.invalid', () => branch.mutate({ stat: {} } as never));
    await refuses('agent.not-spawned', () => branch.mutate({ agent: 'nobody', scope: [] }));
  }),

  onSession(
    'spawn() on a branch is refused at or before the fork turn, and joins later without a jump',
    async (session) => {
      await session.beliefs.commit({ topic: 't', kind: 'fact', claim: 'one', turn: 15 });
      const branch = await session.at({ story: 15 }).fork({ name: 'x' });
      await session.spawn('late', {});
      await branch.spawn('db', { scope: ['t'], fromTurn: 20 });
      await refuses('agent.exists', () => branch.spawn('db'));
      await refuses('point.out-of-range', () => branch.spawn('early', { fromTurn: 15 }));
      await branch.spawn('late', {});
      assert.deepEqual(
        (await branch.at({ story: 19 }).fleet.agents()).map(({ agent }) => agent),
        ['late'],
      );
      assert.deepEqual(
        (await branch.at({ story: 20 }).fleet.agents()).map(({ agent }) => agent),
        ['db', 'late'],
      );
      assert.deepEqual(claims(await branch.at({ story: 19 }).as('db').beliefs.list()), []);
      assert.deepEqual(claims(await branch.at({ story: 20 }).as('db').beliefs.list()), ['one']);
      const { belief } = await branch.beliefs.commit({ topic: 'u', kind: 'fact', claim: 'two' });
      assert.equal(belief.turn, 16);
    },
  ),

  onSession(
    'audit() tells everything, also what was taken back; a limit keeps the newest, oldest first',
    async (session) => {
      await session.spawn('db', {});
      await session.beliefs.commit({ id: 'a', agent: 'db', topic: 't', kind: 'decision', claim: 'one', turn: 1 });
      await session.append(note('not audited'));
      await session.beliefs.commit({ id: 'b', agent: 'db', topic: 't', kind: 'decision', claim: 'two', turn: 2 });
      await session.fleet.task.start({ task: 't1' });
      await session.beliefs.revert('b', { reason: 'was wrong', agent: 'lead' });
      const events = await all(session.audit());
      assert.deepEqual(
        events.map(({ type }) => type),
        [
          'agent.spawned',
          'belief.committed',
          'belief.committed',
          'belief.superseded',
          'contradiction.detected',
          'contradiction.settled',
          'task.started',
          'event.reverted',
        ],
      );
      assert.deepEqual([events.at(-1)?.agent, events.at(-1)?.data['reason']], ['lead', 'was wrong']);
      const last = await all(session.audit({ limit: 2 }));
      assert.deepEqual(
        last.map(({ type }) => type),
        ['task.started', 'event.reverted'],
      );
      assert.deepEqual((await all(session.audit({ after: 8 }))).length, 1);
      const only = await all(session.audit({ filter: { types: ['task.started', 'note.added'] } }));
      assert.deepEqual(
        only.map(({ type }) => type),
        ['task.started'],
      );
      const following = session.audit({ limit: 1, follow: true });
      assert.equal((await following.next()).value?.type, 'event.reverted');
      const next = following.next();
      await session.fleet.end('db');
      assert.equal((await next).value?.type, 'agent.ended');
      await following.return?.();
      await refuses('option.invalid', () => session.audit({ limit: -1 }));
      await session.fork('main@2', { name: 'x' });
      const branch = session.branch('x');
      assert.equal((await all(branch.audit())).at(-1)?.type, 'branch.forked');
    },
  ),
];
