import assert from 'node:assert/strict';
import { hasCode } from '../../src/core/error.ts';
import { given } from '../../src/core/json.ts';
import type { Message } from '../../src/core/message/message.ts';
import type { AgentTurn } from '../../src/engine/forwarding/run-forward-options.ts';
import type { Session } from '../../src/engine/session.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

const ran = (turns: readonly { readonly turn: number; readonly agent?: string }[]): string[] =>
  turns.map(({ turn, agent }) => `${turn} ${agent}`);

/** An agent that says how many claims it sees. */
const counting = async ({ self, agent }: AgentTurn): Promise<unknown> =>
  self.beliefs.commit({ topic: agent, claim: `sees ${(await self.beliefs.list()).length}` });

/** An agent that asks a model with the messages it was sent. */
async function asking({ self, recorder }: AgentTurn): Promise<unknown> {
  const { messages } = await self.fold(conversation);
  const list = messages.flatMap(({ message }) => (message === undefined ? [] : [message as Message]));
  return recorder.call({ kind: 'model', name: 'small-1', request: { messages: list } }, () => `heard ${list.length}`);
}

/** Runs the fleet of a new branch forward, and repeats what did not change. */
async function reusing(session: Session, name: string, onTurn: Record<string, (turn: AgentTurn) => unknown>) {
  return session.branch(name).runForward({ untilTurn: 2, onTurn, reuseUnchanged: true });
}

/** The cases of turns that are repeated or run again: their order, their effects, and the reasons they give. */
export const forwardReuse: readonly VerbCase[] = [
  onSession(
    'runForward() runs agents as they acted on the original, then as they joined, and none before its turn',
    async (session) => {
      for (const agent of ['a', 'b']) await session.spawn(agent, {});
      for (const agent of ['b', 'a']) {
        const [begun] = await session.append({ type: 'turn.started', agent, turn: 1 });
        const cause = begun?.id ?? '';
        await session.append({ type: 'turn.ended', agent, turn: 1, cause, data: { outcome: 'ok' } });
      }
      const branch = await session.at({ story: 0 }).fork({ name: 'x' });
      await branch.spawn('late', { fromTurn: 3 });
      await branch.spawn('c', {});
      const seen: number[] = [];
      const onTurn = { c: counting, late: counting, b: counting, a: counting };
      for (const turn of [1, 2]) {
        const { live } = await branch.runForward({ untilTurn: turn, onTurn });
        assert.deepEqual(ran(live), turn === 1 ? ['1 b', '1 a', '1 c'] : ['2 a', '2 b', '2 c']);
        seen.push((await branch.as('late').beliefs.list()).length);
      }
      const { live } = await branch.runForward({ untilTurn: 3, onTurn });
      assert.deepEqual(
        [ran(live), seen],
        [
          ['3 a', '3 b', '3 late', '3 c'],
          [0, 0],
        ],
      );
    },
  ),

  onSession('a turn that is run again repeats no effect: its calls are guarded as in a resume', async (session) => {
    await session.spawn('a', {});
    let made = 0;
    let isBroken = true;
    const paying = (name: string, effect?: 'irreversible') => ({
      a: async ({ recorder }: AgentTurn): Promise<number> => {
        const start = { kind: 'tool', name, input: { order: 7 }, ...given({ effect }) } as const;
        const paid = await recorder.call(start, () => ++made);
        if (isBroken) throw new Error('the line went down');
        return paid;
      },
    });
    const run = (untilTurn: number, onTurn: ReturnType<typeof paying>, more: object = {}) =>
      session.runForward({ untilTurn, onTurn, ...more });
    assert.equal((await run(1, paying('pay'))).stoppedBy?.reason, 'error');
    isBroken = false;
    const again = await run(1, paying('pay'));
    assert.deepEqual([again.results[0]?.result, made], [1, 1]);
    const [ended] = await all(session.replay({ filter: { types: ['call.ended'] } }));
    assert.deepEqual([ended?.data['reused'], ended?.data['output']], [true, 1]);

    isBroken = true;
    const wire = paying('wire', 'irreversible');
    assert.equal((await run(2, wire, { ask: async () => 'run' })).stoppedBy?.reason, 'error');
    isBroken = false;
    const refused = await run(2, wire);
    assert.ok(hasCode(refused.stoppedBy?.error, 'effect.refused'));
    assert.equal(made, 2);
    assert.equal((await run(2, wire, { ask: async () => 'reuse' })).results[0]?.result, 2);
    assert.equal((await run(3, wire, { effects: 'run' })).results[0]?.result, 3);
  }),

  onSession('a call that comes after its turn is refused: nobody would guard it', async (session) => {
    await session.spawn('a', {});
    let late: AgentTurn | undefined;
    const onTurn = {
      a: (turn: AgentTurn): void => {
        late = turn;
      },
    };
    await session.runForward({ untilTurn: 1, onTurn });
    const call = { kind: 'tool', name: 'pay', input: {} } as const;
    await refuses('resume.aborted', () => late?.recorder.call(call, () => 1));
  }),

  onSession(
    'a message that is edited while a branch runs forward is one that later turns have not seen',
    async (session) => {
      for (const agent of ['first', 'second']) await session.spawn(agent, { scope: [] });
      const told = { type: 'message.added', data: { message: { role: 'user', content: 'Go left.' } } };
      const [message] = await session.append(told);
      const first = ({ recorder }: AgentTurn) => recorder.call({ kind: 'model', name: 'small-1' }, () => 'said');
      const second = async ({ recorder }: AgentTurn) => {
        const { messages } = await session.branch(recorder.branch).fold(conversation);
        const list = messages.slice(0, 1).flatMap(({ message: held }) => (held === undefined ? [] : [held as Message]));
        return recorder.call({ kind: 'model', name: 'small-1', request: { messages: list } }, () => 'heard');
      };
      await session.runForward({ untilTurn: 2, onTurn: { first, second } });
      const branch = await session.at({ story: 1 }).fork({ name: 'x' });
      const event = { data: { message: { role: 'user', content: 'Go right.' } } };
      const editing = async (turn: AgentTurn) => {
        await branch.edit({ kind: 'replace', seq: message?.seq ?? 0, event });
        return first(turn);
      };
      const { live, reused } = await reusing(session, 'x', { first: editing, second });
      assert.deepEqual([ran(live), ran(reused)], [['2 first', '2 second'], []]);
      const edit = (await all(branch.replay({ history: 'raw', types: ['event.replaced'] })))[0];
      assert.deepEqual(live[1]?.because, [edit?.id]);
    },
  ),

  onSession(
    'a turn whose inputs nobody can know runs: a model call without a list, and what was erased',
    async (session) => {
      for (const agent of ['unlisted', 'listed', 'erased']) await session.spawn(agent, { scope: [] });
      const onTurn = {
        unlisted: ({ recorder }: AgentTurn) => recorder.call({ kind: 'model', name: 'small-1' }, () => 'said'),
        listed: asking,
        erased: ({ recorder, turn }: AgentTurn) => recorder.message({ role: 'assistant', content: `in turn ${turn}` }),
      };
      await session.runForward({ untilTurn: 2, onTurn });
      const said = await session.find({ types: ['message.added'], agent: 'erased' });
      await session.erase(`main@${(await said?.locate())?.seq ?? 0}`, { reason: 'personal data' });
      await session.at({ story: 1 }).fork({ name: 'x' });
      const { live, reused } = await reusing(session, 'x', onTurn);
      assert.deepEqual([ran(live), ran(reused)], [['2 unlisted', '2 erased'], ['2 listed']]);
    },
  ),

  onSession('a message that was edited is the reason of the turn that was sent it', async (session, reprise) => {
    await session.spawn('a', {});
    const [sent] = await session.append({
      type: 'message.added',
      agent: 'a',
      data: { message: { role: 'user', content: 'Look at the deploys.' } },
    });
    await session.runForward({ untilTurn: 2, onTurn: { a: asking } });
    const message = { role: 'user', content: 'Look at the pool.' } as const;
    await session.at({ story: 0 }).fork({ name: 'x', edits: [{ kind: 'message', seq: sent?.seq ?? 0, message }] });
    const { live, reused } = await reusing(session, 'x', { a: asking });
    assert.deepEqual([ran(live), reused], [['1 a', '2 a'], []]);
    const [edit] = await all(session.at('x').replay({ history: 'raw', filter: { types: ['event.replaced'] } }));
    assert.deepEqual(live[0]?.because, [edit?.id]);
    const { beliefs } = await reprise.diff('demo', 'demo/x', { beliefs: true });
    assert.deepEqual(
      beliefs?.answers.map(({ turn, attribution }) => [turn, attribution]),
      [0, 1, 2].map((turn) => [turn, { how: 'certain', to: [edit?.id] }]),
    );
  }),

  onSession('a claim that was dropped is the reason of the turns that saw it', async (session, reprise) => {
    await session.spawn('a', { scope: ['pool', 'a'] });
    await session.spawn('b', { scope: ['b'] });
    const { belief } = await session.beliefs.commit({
      topic: 'pool',
      kind: 'fact',
      claim: 'The pool is full',
      turn: 0,
    });
    const onTurn = { a: counting, b: counting };
    await session.runForward({ untilTurn: 2, onTurn });
    await session.at({ story: 0 }).fork({ name: 'x', edits: [{ kind: 'drop', seq: belief.seq }] });
    const { live, reused } = await reusing(session, 'x', onTurn);
    assert.deepEqual(
      [ran(live), ran(reused)],
      [
        ['1 a', '2 a'],
        ['1 b', '2 b'],
      ],
    );
    const [drop] = await all(session.at('x').replay({ history: 'raw', filter: { types: ['event.reverted'] } }));
    assert.deepEqual(live[0]?.because, [drop?.id]);
    const { beliefs } = await reprise.diff('demo', 'demo/x', { beliefs: true });
    const found = (beliefs?.topics ?? []).flatMap(({ claims }) => claims);
    assert.ok(found.some(({ side, belief: { claim } }) => side === 'left' && claim === 'The pool is full'));
    for (const { attribution } of found) assert.deepEqual(attribution, { how: 'certain', to: [drop?.id] });
  }),

  onSession('a cause says what a claim happened in, and never what it read', async (session, reprise) => {
    await session.spawn('a', { scope: ['pool'] });
    const branch = await session.at({ story: 1 }).fork({ name: 'x' });
    const { committed } = await branch.mutate({ topic: 'pool', claim: 'The pool is full' });
    await using recorder = await branch.record({ agent: 'a' });
    await recorder.turn({}, () =>
      recorder.event({ type: 'belief.committed', data: { topic: 'plan', kind: 'decision', claim: 'Enlarge it' } }),
    );
    await recorder.flush();
    const { beliefs } = await reprise.diff('demo', 'demo/x', { beliefs: true });
    const found = beliefs?.topics.find(({ topic }) => topic === 'plan')?.claims[0];
    assert.deepEqual(found?.attribution, { how: 'possible', to: [committed?.belief.id] });
  }),
];
