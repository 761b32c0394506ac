/** A provider accepts the messages that are sent after a fork: the real clients against a server that refuses the rest. */
import { describe, expect, test } from 'vitest';
import { openReprise, recordTools, type Session } from '../../src/index.ts';
import { clientWorlds, type Functions } from './client-worlds.ts';
import { openStrictProvider, type Says, type StrictProvider } from './strict-provider.ts';

const functions = (): Functions =>
  recordTools(
    { refund: async ({ amount }: { readonly amount: number }) => ({ refunded: amount }) },
    { effects: { refund: 'idempotent' } },
  );

const refund = (...amounts: readonly number[]): Says => ({
  calls: amounts.map((amount) => ({ name: 'refund', input: { order: 7, amount } })),
});
const done: Says = { text: 'Done.' };

const worlds = Object.entries(clientWorlds);

/** A recorded loop: two calls at once, their answers, one more call, and the end. */
async function story(world: (typeof clientWorlds)[string], provider: StrictProvider, session: Session): Promise<void> {
  const recorder = await session.record({ facts: false });
  provider.will(refund(5, 6), refund(7), done);
  const agent = world.agent(world.open(provider.url), functions());
  expect(await agent.run(recorder, 'Refund order 7.')).toBe('Done.');
  expect((await recorder.close()).errors).toEqual([]);
}

describe.each(worlds)('%s', (_protocol, world) => {
  test('every moment of a loop can be forked and resumed, and the provider takes what is sent', async () => {
    await using provider = await openStrictProvider();
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('story');
    await story(world, provider, session);
    const agent = world.agent(world.open(provider.url), functions());
    const { head } = await session.locate();
    for (let seq = 2; seq < head; seq++) {
      const branch = await session.fork(`main@${seq}`, { name: `from-${seq}` });
      const [last] = await Array.fromAsync(session.at(`main@${seq}`).replay({ direction: 'backward', limit: 1 }));
      const isOver = last?.type === 'call.ended' && last.data['finishReason'] === 'stop';
      provider.will(done);
      const { text } = await branch.resume(agent, isOver ? { prompt: 'And order 8?' } : {});
      expect(text).toBe('Done.');
    }
    expect(provider.refused).toEqual([]);
  });

  test('edits of every kind are sent in the form that the provider takes', async () => {
    await using provider = await openStrictProvider();
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('story');
    await story(world, provider, session);
    const agent = world.agent(world.open(provider.url), functions());
    const answers = await Array.fromAsync(session.replay({ filter: { types: ['call.ended'], kind: 'tool' } }));
    const [first] = answers;
    if (first === undefined) throw new Error('Nothing was called');
    const call = String(first.data['call']);
    const forks = [
      await session.fork('main@2', { name: 'prompt', prompt: 'Refund 50.', system: 'Look first.' }),
      await session.fork(`main@${first.seq}`, {
        name: 'result',
        edits: [{ kind: 'toolResult', call, output: 'a plain text' }],
      }),
      await session.fork(`main@${first.seq}`, {
        name: 'failed',
        edits: [{ kind: 'toolResult', call, output: { why: 'over the limit' }, outcome: 'error' }],
      }),
      await session.fork(`main@${first.seq}`, {
        name: 'input',
        edits: [{ kind: 'toolInput', call, input: { amount: 1 } }],
      }),
    ];
    for (const branch of forks) {
      provider.will(refund(1), done);
      expect(await branch.resume(agent)).toMatchObject({ text: 'Done.' });
    }
    expect(provider.refused).toEqual([]);
    expect(JSON.stringify(provider.taken)).toContain('Look first.');
  });

  test('a history of a different provider is written in this one’s form', async () => {
    for (const [other, origin] of worlds) {
      await using provider = await openStrictProvider();
      await using reprise = await openReprise('memory:');
      const session = await reprise.createSession('story');
      await story(origin, provider, session);
      const { head } = await session.locate();
      const branch = await session.fork(`main@${head - 1}`, { name: `after-${other}` });
      provider.will(refund(8), done);
      const agent = world.agent(world.open(provider.url), functions());
      const { model: _model, ...foreign } = agent;
      const resumed = await branch.resume({ ...foreign, model: 'another-1' }, { prompt: 'And order 8?' });
      expect(resumed.text).toBe('Done.');
      expect(provider.refused).toEqual([]);
    }
  });
});

describe('the strict provider itself', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'refund', arguments: '{}' } };
  const item = { type: 'function_call', call_id: 'c1', name: 'refund', arguments: '{}' };
  const block = { type: 'tool_use', id: 'c1', name: 'refund', input: {} };
  const part = { functionCall: { name: 'refund', args: {} } };
  const user = { role: 'user', content: 'Hello?' };
  const content = { role: 'user', parts: [{ text: 'Hello?' }] };
  const wrong: readonly (readonly [path: string, body: object, why: RegExp])[] = [
    ['/chat/completions', { model: 'm', messages: [{ ...user, id: 'x' }] }, /unknown field "id"/],
    [
      '/chat/completions',
      { model: 'm', messages: [{ role: 'assistant', tool_calls: [call] }, user] },
      /before the answers to c1/,
    ],
    [
      '/chat/completions',
      { model: 'm', messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }] },
      /answers no call/,
    ],
    ['/responses', { model: 'm', input: [{ ...user, seq: 1 }] }, /unknown field "seq"/],
    ['/responses', { model: 'm', input: [item, user] }, /before the answers to c1/],
    ['/responses', { model: 'm', input: [{ type: 'reasoning', id: 'rs', summary: [] }] }, /without what follows it/],
    ['/messages', { model: 'm', messages: [user] }, /lacks "max_tokens"/],
    [
      '/messages',
      { model: 'm', max_tokens: 1, messages: [user, { role: 'assistant', content: [block] }] },
      /before the answers to c1/,
    ],
    ['/messages', { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: '' }] }, /is empty/],
    ['/m:generateContent', { contents: [{ ...content, id: 'x' }] }, /unknown field "id"/],
    [
      '/m:generateContent',
      { contents: [content, { role: 'model', parts: [part] }, content] },
      /leaves refund without a response/,
    ],
  ];

  test.each(wrong)('refuses at %s %j', async (path, body, why) => {
    await using provider = await openStrictProvider();
    provider.will(done);
    const answer = await fetch(`${provider.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
    expect(provider.refused).toEqual([expect.stringMatching(why)]);
  });
});
