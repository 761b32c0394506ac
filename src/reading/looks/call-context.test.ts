import { expect, test } from 'vitest';
import { type Message, openReprise, type Session } from '../../index.ts';
import { contextAt } from './call-context.ts';

/** Records a loop whose tool asks a model on its own, then a second call of the loop's model. */
async function record(session: Session): Promise<void> {
  await using recorder = await session.record({ agent: 'desk', facts: false });
  const user = (content: string): Message => ({ role: 'user', content });
  const call = { type: 'tool-call', toolCallId: 't1', toolName: 'read', input: {} } as const;
  const ask = (name: string, messages: readonly Message[], content: Message['content']): Promise<unknown> =>
    recorder.call(
      { kind: 'model', name, request: { messages } },
      () => undefined,
      () => ({ message: { role: 'assistant', content } as Message }),
    );
  await recorder.run({}, async () => {
    await ask('big', [user('Read it.')], [call]);
    await recorder.call({ kind: 'tool', name: 'read', call: 't1' }, () => ask('mini', [user('Sum it up.')], 'A sum.'));
    await ask('big', [user('Read it.'), { role: 'assistant', content: [call] }, user('Well?')], 'Done.');
  });
}

test('contextAt() shows what a model was sent that a tool asked on its own, and leaves it out of the next comparison', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  await record(session);
  const starts = await Array.fromAsync(session.replay({ filter: { types: ['call.started'], kind: 'model' } }));
  const [big, mini, last] = await Promise.all(starts.map(({ seq }) => contextAt(session, { branch: 'main', seq })));
  expect(mini).toMatchObject({ model: { value: 'mini' }, total: 1, against: null, counts: { dropped: 0 } });
  expect(mini?.messages[0]?.message).toEqual({ role: 'user', content: 'Sum it up.' });
  expect(last).toMatchObject({ against: { ref: big?.ref, kind: 'call' }, counts: { same: 1, new: 2, dropped: 0 } });
});
