import { strict as assert } from 'node:assert';
import { textOf } from '../../src/core/message/message.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { asks, littleAgent, recordLoop, says } from './little-agent.ts';
import { refunded } from './refund-story.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** The cases of `resumable`, and of the conversation that every way back to a point hands over. */
export const resumable: readonly VerbCase[] = [
  onSession('resumable() gives what a resume hands over, and runs and writes nothing', async (session) => {
    await refunded(session);
    const before = await session.locate();
    const decided = await session.at('main@4').resumable();
    assert.deepEqual(
      decided.pending.map(({ call, name, input, seq }) => [call, name, input, seq]),
      [['c1', 'refund', { order: 7, amount: 500 }, 4]],
    );
    assert.deepEqual([decided.agent, decided.run, decided.prompt], ['support', 'run-1', null]);
    const branch = await session.fork('main@2', { system: 'Be brief.', name: 'brief' });
    const { prompt, messages, system, model, pending, repairs, ref } = await branch.resumable();
    assert.deepEqual([prompt?.seq, textOf(prompt?.message ?? null), messages], [2, 'Refund order 7.', []]);
    assert.deepEqual([system, model, pending, ref], ['Be brief.', null, [], `${session.id}/brief@4`]);
    assert.deepEqual(
      repairs.map(({ rule }) => rule),
      ['prompt-once'],
    );
    assert.deepEqual(await session.locate(), before);
    await refuses('option.invalid', () => session.resumable({ agent: 'x' } as never));
    await refuses('branch.not-found', () => session.at('nowhere').resumable());
  }),

  onSession('resumable() is the same for a point, a fork of a fork and a rewind', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['One?', 'Two?']);
    const asked = (await (await session.findLast({ types: ['message.added'] }))?.locate())?.seq ?? 0;
    const texts = async (point: string): Promise<unknown> => {
      const { messages, prompt } = await session.at(point).resumable();
      return [...messages, ...(prompt === null ? [] : [prompt])].map(({ message }) => textOf(message));
    };
    await session.fork(`main@${asked}`, { name: 'fork' });
    await session.fork('fork', { name: 'again' });
    await session.fork('main', { name: 'rewound' });
    await session.branch('rewound').rewind(asked);
    for (const point of [`main@${asked}`, 'fork', 'again', 'rewound'])
      assert.deepEqual(await texts(point), ['One?', 'Yes.', 'Two?'], point);
    const started = (await session.at(`main@${asked - 1}`).fold(conversation)).messages;
    assert.deepEqual(started.length, 2, 'the start of a run has the messages it began with');
  }),

  onSession('an edit of an earlier run reaches the list that a later run began with', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['One?', 'Two?']);
    const asked = (await (await session.findLast({ types: ['message.added'] }))?.locate())?.seq ?? 0;
    const message = { role: 'user', content: 'Uno?' };
    const branch = await session.fork(`main@${asked}`, { edits: [{ kind: 'message', seq: 2, message }] });
    const { messages } = await branch.resumable();
    assert.deepEqual(
      messages.map((held) => textOf(held.message)),
      ['Uno?', 'Yes.'],
    );
  }),

  onSession('a message that only the list of a run holds can be edited', async (session) => {
    const recorder = await session.record({ agent: 'support', facts: false });
    const before = { role: 'user', content: 'From elsewhere.' } as const;
    await recorder.run({ run: 'r', messages: [before] }, () => recorder.message({ role: 'user', content: 'Now?' }));
    await recorder.close();
    const message = { role: 'user', content: 'From here.' };
    const branch = await session.fork('main@2', { edits: [{ kind: 'message', seq: 1, message }] });
    const { messages, prompt } = await branch.resumable();
    assert.deepEqual(
      [...messages, ...(prompt === null ? [] : [prompt])].map((held) => textOf(held.message)),
      ['From here.', 'Now?'],
    );
  }),

  onSession('a run that recorded no list stands alone', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['One?']);
    const recorder = await session.record({ agent: 'support', facts: false });
    await recorder.run({ run: 'alone' }, () => recorder.message({ role: 'user', content: 'Two?' }));
    await recorder.close();
    const { messages, prompt } = await session.resumable();
    assert.deepEqual([messages, textOf(prompt?.message ?? null)], [[], 'Two?']);
    const started = (await all(session.replay({ filter: { types: ['run.started'] } }))).at(-1)?.seq ?? 0;
    assert.deepEqual((await session.at({ seq: started }).fold(conversation)).messages, []);
  }),

  onSession('tool results stand in the order of their calls, whichever came first', async (session) => {
    const both = { role: 'assistant', content: [asks('a', {}, 'c1'), asks('b', {}, 'c2')].flatMap(partsIn) } as const;
    const recorder = await session.record({ agent: 'support', facts: false });
    await recorder.run({ run: 'r' }, async () => {
      recorder.message({ role: 'user', content: 'Both.' });
      const request = { messages: [{ role: 'user', content: 'Both.' }] } as const;
      await recorder.call(
        { kind: 'model', name: 'm', request },
        () => both,
        (message) => ({ message }),
      );
      await recorder.call({ kind: 'tool', name: 'b', call: 'c2' }, () => 'of b');
      await recorder.call({ kind: 'tool', name: 'a', call: 'c1' }, () => 'of a');
    });
    await recorder.close();
    const { messages } = await session.resumable();
    assert.deepEqual(
      messages.slice(2).map(({ message }) => (message['content'] as { toolCallId: string }[])[0]?.toolCallId),
      ['c1', 'c2'],
    );
    const agent = littleAgent({ model: () => says('Done.') });
    assert.equal((await session.resume(agent)).text, 'Done.');
  }),
];

const partsIn = ({ content }: ReturnType<typeof asks>) => (typeof content === 'string' ? [] : content);
