import assert from 'node:assert/strict';
import type { AgentTurn } from '../../src/engine/forwarding/run-forward-options.ts';
import type { Session } from '../../src/engine/session.ts';
import { all, note, onSession, refuses, type VerbCase } from './verb-case.ts';

/** An agent that says, on its topic, how much it sees. */
const counting =
  (topic: string) =>
  async ({ self, turn }: AgentTurn): Promise<number> => {
    const seen = (await self.beliefs.list()).length;
    await self.beliefs.commit({ topic, kind: 'decision', claim: `${topic} sees ${seen} in turn ${turn}` });
    return seen;
  };

const onTurn = { a: counting('x'), b: counting('y') };

async function recordedFleet(session: Session): Promise<void> {
  await session.spawn('a', { scope: ['x', 'y'] });
  await session.spawn('b', { scope: ['y'] });
  await session.runForward({ untilTurn: 3, onTurn });
}

const said = async (session: Session, branch: string): Promise<string[]> =>
  (await session.branch(branch).beliefs.list()).map(({ claim }) => claim).sort();

/** The cases of running a branch forward. */
export const forwardVerbs: readonly VerbCase[] = [
  onSession('runForward() runs every agent of every turn, and writes its turns', async (session) => {
    await session.spawn('a', { scope: ['x', 'y'] });
    await session.spawn('b', { scope: ['y'] });
    const { from, until, results, live, reused, stoppedBy } = await session.runForward({ untilTurn: 2, onTurn });
    assert.deepEqual([from, until, reused, stoppedBy], [1, 2, [], undefined]);
    assert.deepEqual(results, [
      { turn: 1, agent: 'a', result: 0 },
      { turn: 1, agent: 'b', result: 0 },
      { turn: 2, agent: 'a', result: 2 },
      { turn: 2, agent: 'b', result: 1 },
    ]);
    assert.equal(live.length, 4);
    const turns = (await all(session.replay({ filter: { types: ['turn.started', 'turn.ended'] } }))).map(
      ({ type, agent, turn }) => `${turn} ${type} ${agent ?? 'all'}`,
    );
    assert.deepEqual(turns.slice(0, 5), [
      '1 turn.started a',
      '1 turn.ended a',
      '1 turn.started b',
      '1 turn.ended b',
      '1 turn.ended all',
    ]);
    const nothing = await session.runForward({ untilTurn: 2, onTurn });
    assert.deepEqual([nothing.from, nothing.results], [3, []]);
    const more = await session.runForward({ untilTurn: 3, onTurn });
    assert.deepEqual(
      more.results.map(({ turn }) => turn),
      [3, 3],
    );
  }),

  onSession(
    'runForward() takes one function for the whole fleet, and an empty range gives nothing',
    async (session) => {
      await session.spawn('a', {});
      await session.append(note('x', { turn: 4 }));
      const branch = await session.at({ story: 4 }).fork({ name: 'x' });
      const turns: number[] = [];
      const whole = await branch.runForward({
        untilTurn: 6,
        onTurn: async ({ turn, beliefs, as, recorder }) => {
          turns.push(turn);
          await beliefs.commit({ agent: 'a', topic: 't', claim: `turn ${turn}` });
          recorder.event({ type: 'note.added', data: { text: 'noted' } });
          return (await as('a').beliefs.list()).length;
        },
      });
      assert.deepEqual([turns, whole.from, whole.results.map(({ result }) => result)], [[5, 6], 5, [1, 1]]);
      const notes = await all(branch.replay({ filter: { types: ['note.added'], turnAfter: 4 } }));
      assert.deepEqual(
        notes.map(({ turn, cause }) => [turn, cause !== undefined]),
        [
          [5, true],
          [6, true],
        ],
      );
      const empty = await branch.runForward({ untilTurn: 3, onTurn });
      assert.deepEqual([empty.results, empty.live, empty.stoppedBy], [[], [], undefined]);
    },
  ),

  onSession('runForward() repeats what did not change, and says because of what it ran the rest', async (session) => {
    await recordedFleet(session);
    await session.at({ story: 1 }).fork({ name: 'same' });
    const same = await session.branch('same').runForward({ untilTurn: 3, onTurn, reuseUnchanged: true });
    assert.deepEqual([same.live, same.reused.length], [[], 4]);
    assert.deepEqual(await said(session, 'same'), await said(session, 'main'));
    const branch = await session.at({ story: 1 }).fork({ name: 'what-if' });
    const { committed } = await branch.mutate({ agent: 'a', topic: 'x', claim: 'what if' });
    const { live, reused } = await branch.runForward({ untilTurn: 3, onTurn, reuseUnchanged: true });
    assert.deepEqual(
      reused.map(({ agent, turn }) => `${agent}${turn}`),
      ['b2', 'b3'],
    );
    assert.deepEqual(
      live.map(({ agent, turn }) => `${agent}${turn}`),
      ['a2', 'a3'],
    );
    assert.deepEqual(live[0]?.because, [committed?.belief.id]);
    await session.at({ story: 1 }).fork({ name: 'plain' });
    const plain = session.branch('plain');
    await plain.mutate({ agent: 'a', topic: 'x', claim: 'what if' });
    await plain.runForward({ untilTurn: 3, onTurn });
    assert.deepEqual(await said(session, 'what-if'), await said(session, 'plain'));
  }),

  onSession('a turn that threw is taken back and run again; what came beside it stays', async (session) => {
    await session.spawn('a', {});
    await session.spawn('b', {});
    let isBroken = true;
    const fleet = {
      a: counting('x'),
      b: async ({ self }: AgentTurn) => {
        await self.beliefs.commit({ topic: 'y', claim: 'half done' });
        if (isBroken) throw new Error('no quota');
        return 0;
      },
    };
    const first = await session.runForward({ untilTurn: 2, onTurn: fleet });
    assert.deepEqual([first.stoppedBy?.reason, first.stoppedBy?.agent, first.stoppedBy?.turn], ['error', 'b', 1]);
    assert.match(String(first.stoppedBy?.error), /no quota/);
    const [ended] = await all(session.replay({ filter: { types: ['turn.ended'] }, direction: 'backward', limit: 1 }));
    assert.deepEqual([ended?.data['outcome'], ended?.agent], ['error', 'b']);
    await session.beliefs.commit({ topic: 'z', kind: 'fact', claim: 'said by the operator' });
    isBroken = false;
    const second = await session.runForward({ untilTurn: 2, onTurn: fleet });
    assert.deepEqual([second.stoppedBy, second.from, second.results.length], [undefined, 1, 4]);
    assert.deepEqual(await said(session, 'main'), ['half done', 'said by the operator', 'x sees 3 in turn 2']);
  }),

  onSession('an onTurn that hangs is stopped by time or signal, and can write no more', async (session) => {
    await session.spawn('a', {});
    let late: AgentTurn | undefined;
    const hanging = {
      a: (turn: AgentTurn): Promise<never> => {
        late = turn;
        return new Promise(() => undefined);
      },
    };
    const timed = await session.runForward({ untilTurn: 1, onTurn: hanging, timeoutMs: 5 });
    assert.equal(timed.stoppedBy?.reason, 'timeout');
    await refuses('resume.aborted', () => late?.self.beliefs.commit({ topic: 't', claim: 'too late' }));
    const stop = new AbortController();
    const running = session.runForward({ untilTurn: 1, onTurn: hanging, signal: stop.signal });
    stop.abort();
    assert.equal((await running).stoppedBy?.reason, 'aborted');
    assert.deepEqual(await session.beliefs.list(), []);
  }),

  onSession('a branch that is rewound while it runs stops the run', async (session) => {
    await session.spawn('a', {});
    await session.append(note('x', { turn: 1 }));
    const result = await session.runForward({
      untilTurn: 9,
      onTurn: {
        a: async ({ turn }) => {
          if (turn === 2) await session.rewind(2, { reason: 'not this way' });
        },
      },
    });
    assert.deepEqual([result.stoppedBy?.reason, result.stoppedBy?.turn], ['rewound', 2]);
  }),

  onSession('runForward() keeps to its budget', async (session) => {
    await session.spawn('a', {});
    const result = await session.runForward({
      untilTurn: 5,
      budget: { modelCalls: 2 },
      onTurn: {
        a: ({ recorder, turn }) =>
          recorder.call({ kind: 'model', name: 'small-1', request: { messages: [] } }, () => `turn ${turn}`),
      },
    });
    assert.deepEqual([result.stoppedBy?.reason, result.stoppedBy?.turn], ['budget', 3]);
  }),

  onSession('runForward() shows an agent only what it may see now', async (session) => {
    await session.spawn('a', { scope: ['x'] });
    await session.beliefs.commit({ topic: 'x', kind: 'fact', claim: 'secret', turn: 1 });
    await session.fleet.change('a', { scope: ['y'], turn: 2 });
    const { results } = await session.runForward({
      untilTurn: 3,
      onTurn: { a: async ({ self, turn }) => (turn === 3 ? (await self.at({ story: 1 }).beliefs.list()).length : -1) },
    });
    assert.equal(results.at(-1)?.result, 0);
    assert.equal((await session.at({ story: 1 }).as('a').beliefs.list()).length, 1);
  }),

  onSession(
    'diff({ beliefs }) says what differs by topic, agent and turn, and because of which change',
    async (session, reprise) => {
      await recordedFleet(session);
      const branch = await session.at({ story: 1 }).fork({ name: 'what-if' });
      const { committed } = await branch.mutate({ agent: 'b', topic: 'y', claim: 'what if' });
      await branch.spawn('new', { scope: ['z'] });
      await branch.runForward({ untilTurn: 3, onTurn: { ...onTurn, new: counting('z') }, reuseUnchanged: true });
      const { beliefs } = await reprise.diff('demo', 'demo/what-if', { beliefs: true, fromTurn: 2 });
      assert.ok(beliefs !== undefined && !beliefs.identical);
      assert.deepEqual(
        beliefs.agents.map(({ agent, right, attribution }) => [agent, right?.scope, attribution.how]),
        [['new', ['z'], 'certain']],
      );
      const found = beliefs.topics.flatMap(({ claims }) => claims);
      const said = found.find(({ belief }) => belief.claim === 'what if');
      assert.deepEqual([said?.side, said?.attribution], ['right', { how: 'certain', to: [committed?.belief.id] }]);
      const ofNew = found.filter(({ belief }) => belief.agent === 'new');
      assert.equal(ofNew.length, 2);
      for (const { attribution } of ofNew) assert.equal(attribution.how, 'certain');
      for (const { attribution } of found) assert.notEqual(attribution.how, 'unknown');
      const same = await reprise.diff('demo', 'demo@head', { beliefs: true });
      assert.equal(same.beliefs?.identical, true);
      assert.equal((await reprise.diff('demo', 'demo/what-if')).beliefs, undefined);
      await refuses('point.out-of-range', () => reprise.diff('demo', 'demo', { beliefs: true, fromTurn: -1 }));
    },
  ),

  onSession('diff({ beliefs }) is unsure where no reason was recorded', async (session, reprise) => {
    await session.beliefs.commit({ agent: 'a', topic: 'x', kind: 'fact', claim: 'one', turn: 1 });
    const branch = await session.at({ story: 1 }).fork({ name: 'x' });
    await session.beliefs.commit({ agent: 'a', topic: 'x', kind: 'fact', claim: 'two', turn: 2 });
    const before = await reprise.diff('demo', 'demo/x', { beliefs: true });
    assert.equal(before.beliefs?.topics[0]?.claims[0]?.attribution.how, 'unknown');
    await branch.spawn('a', {});
    const after = await reprise.diff('demo', 'demo/x', { beliefs: true });
    assert.equal(after.beliefs?.topics[0]?.claims[0]?.attribution.how, 'possible');
  }),

  onSession('runForward() refuses options that mean nothing', async (session) => {
    await session.spawn('a', {});
    const run = (options: object): Promise<unknown> =>
      session.runForward({ untilTurn: 1, onTurn: {}, ...options } as never);
    for (const untilTurn of [-1, 2 ** 53]) await refuses('point.out-of-range', () => run({ untilTurn }));
    await refuses('option.invalid', () => run({ onTurn: 'a' }));
    await refuses('option.invalid', () => run({ onTurn: { a: 1 } }));
    await refuses('option.invalid', () => run({ timeoutMs: 0 }));
    await refuses('option.invalid', () => run({ until: 3 }));
    await refuses('option.invalid', () => run({ budget: { calls: 3 } }));
    await refuses('option.invalid', () => run({ onTurn: () => 1, reuseUnchanged: true }));
  }),
];
