import assert from 'node:assert/strict';
import { type Message, textOf } from '../../src/core/message/message.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { runs } from '../../src/projections/runs.ts';
import { countedRefund, lastOf, littleAgent, recordLoop, refunding, says } from './little-agent.ts';
import { noting } from './refund-story.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** The cases of `session.resume` with the recorded user turns. */
export const userTurns: readonly VerbCase[] = [
  onSession('resume() with the recorded user turns sends them one by one, from 0, and compares', async (session) => {
    const answer =
      (suffix: string) => (asked: { messages: readonly Message[]; model: string; system: string | null }) =>
        says(`${lastOf(asked).question} ${asked.messages.length}${suffix}`);
    await recordLoop(session, { model: answer('') }, ['One?', 'Two?', 'Three?']);
    const digest = (await session.locate()).digest;
    const branch = await session.fork('main@0', { name: 'whole', model: 'large-1' });
    const other = littleAgent({
      model: (asked) => (lastOf(asked).question === 'Two?' ? says('Other.') : answer('')(asked)),
    });
    const { comparison, runs: made, modelCalls } = await branch.resume(other, { userTurns: 'recorded' });
    assert.deepEqual([made.length, modelCalls], [3, 3]);
    assert.deepEqual(
      comparison.map(({ message, original, resumed, sameAnswer }) => [
        message.content,
        original?.answer,
        resumed.answer,
        sameAnswer,
      ]),
      [
        ['One?', 'One? 1', 'One? 1', true],
        ['Two?', 'Two? 3', 'Other.', false],
        ['Three?', 'Three? 5', 'Three? 5', true],
      ],
    );
    assert.deepEqual(comparison[0]?.original?.usage, comparison[0]?.resumed.usage);
    assert.deepEqual(comparison[0]?.original?.cost, 0.01);
    const { messages } = await session.at('whole').fold(conversation);
    assert.deepEqual(
      messages.map(({ message }) => textOf(message ?? null)),
      ['One?', 'One? 1', 'Two?', 'Other.', 'Three?', 'Three? 5'],
    );
    assert.equal((await session.locate()).digest, digest);
  }),

  onSession(
    'resume() with the recorded user turns begins with the one under way, and compares tools',
    async (session) => {
      const refund = countedRefund('idempotent');
      await recordLoop(session, { model: refunding(), tools: { refund } }, [
        'Refund order 7.',
        'Once more, at most 50.',
      ]);
      // 4: the model asked for the first refund, and it was not made yet
      const branch = await session.fork('main@4', { name: 'x' });
      const { comparison } = await branch.resume(littleAgent({ model: refunding(), tools: { refund } }), {
        userTurns: 'recorded',
      });
      assert.deepEqual(
        comparison.map(({ message, original, resumed, sameTools }) => [
          message.content,
          original?.tools,
          resumed.tools,
          sameTools,
        ]),
        [
          ['Refund order 7.', ['refund'], ['refund'], true],
          ['Once more, at most 50.', ['refund'], ['refund'], true],
        ],
      );
      await refuses('resume.nothing', () => session.resume(noting(), { userTurns: 'recorded' }));
    },
  ),

  onSession(
    'resume() of recorded user turns stops at the first that fails, within one budget for all',
    async (session) => {
      await recordLoop(session, { model: () => says('Yes.') }, ['One?', 'Two?', 'Three?']);
      const branch = await session.fork('main@0', { name: 'x' });
      const agent = littleAgent({ model: () => says('Yes.') });
      const options = { userTurns: 'recorded', budget: { modelCalls: 2 } } as const;
      await refuses('budget.exceeded', () => branch.resume(agent, options));
      const { runs: made } = await session.at('x').fold(runs);
      assert.deepEqual(
        made.filter(({ run }) => run !== null).map(({ status }) => status),
        ['ok', 'ok', 'budget'],
      );
      assert.ok((await session.at('x').fold(conversation)).messages.at(-1)?.message?.['role'] === 'user');
    },
  ),

  onSession(
    'resume() answers a question in the turn it was asked in, and what comes after it counts on',
    async (session) => {
      await recordLoop(session, { model: () => says('Yes.') }, ['One?', 'Two?']);
      const asked = await (await session.findLast({ types: ['message.added'] }))?.locate();
      const turnsOn = async (branch: string): Promise<(number | undefined)[]> => {
        const events = session.branch(branch).replay({ filter: { types: ['message.added', 'call.started'] } });
        return (await all(events)).map(({ turn }) => turn);
      };
      assert.deepEqual(await turnsOn('main'), [1, 1, 2, 2]);
      const agent = littleAgent({ model: () => says('No.') });
      const branch = await session.at({ seq: asked?.seq as number }).fork({ name: 'same', prompt: 'Two or three?' });
      await branch.resume(agent);
      assert.deepEqual(await turnsOn('same'), [1, 1, 2, 2]);
      await branch.resume(agent, { prompt: 'Three?' });
      assert.deepEqual(await turnsOn('same'), [1, 1, 2, 2, 3, 3]);
    },
  ),

  onSession(
    'a new recorder answers in the turn that waits, also what was said to one agent while another went on',
    async (session) => {
      const told = await session.record({ facts: false });
      told.message({ role: 'user', content: 'Write it.' }, { agent: 'writer' });
      await told.call({ kind: 'model', name: 'm', agent: 'editor', request: { messages: [] } }, () => 'Mine.');
      await told.close();
      for (const agent of ['writer', 'editor']) {
        await using recorder = await session.record({ agent, facts: false });
        await recorder.call({ kind: 'model', name: 'm', request: { messages: [] } }, () => 'Done.');
      }
      const calls = await all(session.replay({ filter: { types: ['call.started'] } }));
      assert.deepEqual(
        calls.map(({ agent, turn }) => [agent, turn]),
        [
          ['editor', 2],
          ['writer', 1],
          ['editor', 3],
        ],
      );
    },
  ),

  onSession('the tries of a model call that failed are one turn, on the spot and on a resume', async (session) => {
    const recorder = await session.record({ agent: 'support', facts: false });
    const asking = { kind: 'model', name: 'm', request: { messages: [] } } as const;
    const busy = (): never => {
      throw new Error('busy');
    };
    await recorder.run({}, async () => {
      recorder.message({ role: 'user', content: 'Well?' });
      await recorder.call(asking, busy).catch(() => undefined);
      await recorder.call(asking, () => 'Yes.');
      await recorder.call(asking, () => 'And more.');
    });
    await recorder.close();
    const turnsOn = async (branch: string): Promise<(number | undefined)[]> =>
      (await all(session.branch(branch).replay({ filter: { types: ['call.started'] } }))).map(({ turn }) => turn);
    assert.deepEqual(await turnsOn('main'), [1, 1, 2]);
    // During the first try, and after it.
    for (const [seq, turns] of [
      [3, [1, 1]],
      [4, [1, 1]],
      [6, [1, 1, 2]],
    ] as const) {
      const branch = await session.at({ seq }).fork({ name: `at-${seq}` });
      await branch.resume(async (context) => context.recorder.call(asking, () => 'Done.'), {
        effects: 'run',
        prompt: 'Go on.',
      });
      assert.deepEqual(await turnsOn(`at-${seq}`), turns);
    }
  }),
];
