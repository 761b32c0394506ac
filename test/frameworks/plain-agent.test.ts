/** An agent of no framework, the one of `reprise demo`: recorded by hand, resumed as a function. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { demoAgent } from '../../src/cli/demo/demo-agent.ts';
import { careful, complaint, hasty } from '../../src/cli/demo/demo-model.ts';
import {
  conversation,
  type Message,
  openReprise,
  type Recorder,
  type Reprise,
  type ResumeContext,
  type Session,
} from '../../src/index.ts';

let reprise: Reprise;
let session: Session;

beforeEach(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('refund');
  await using recorder = await session.record({ agent: 'support', onFailure: 'fail' });
  const prompt = { role: 'user', content: complaint } as const;
  await recorder.run({ title: 'Refund of order 7' }, () => {
    recorder.message(prompt);
    const { signal } = new AbortController();
    return demoAgent({ recorder, messages: [], pending: [], prompt, model: null, system: null, signal });
  });
});
afterEach(() => reprise.close());

const toolsOf = async (branch: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const { data } of session.at(branch).replay({ filter: { types: ['call.started'], kind: 'tool' } }))
    found.push(`${String(data['name'])} ${JSON.stringify(data['input'])}`);
  return found;
};

test('it records what it did: the question, each call with what was sent and said, and the end', async () => {
  const types: string[] = [];
  for await (const { type } of session.replay()) types.push(type);
  const call = ['call.started', 'call.ended'];
  expect(types).toEqual(['run.started', 'message.added', ...call, ...call, ...call, 'run.ended']);
  expect(await toolsOf('main')).toEqual(['refund {"amount":500,"order":7}']);
  const { messages, model, system, tools } = await session.fold(conversation);
  expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
  expect([model, system, tools?.length]).toEqual(['small-1', hasty, 2]);
});

test('the text of a run that stops after a tool asked a model on its own is not what that model said', async () => {
  const ask = (recorder: Recorder, message: Message): Promise<unknown> =>
    recorder.call(
      { kind: 'model', name: 'small-1', request: { messages: [{ role: 'user', content: 'Well?' }] } },
      () => undefined,
      () => ({ message }),
    );
  const call = { type: 'tool-call', toolCallId: 't1', toolName: 'read', input: {} } as const;
  const said = [{ type: 'text', text: 'I read it.' }, call] as const;
  const agent = async ({ recorder }: ResumeContext) => {
    await ask(recorder, { role: 'assistant', content: said });
    const summed = (): Promise<unknown> => ask(recorder, { role: 'assistant', content: 'A sum.' });
    await recorder.call({ kind: 'tool', name: 'read', call: 't1', effect: 'pure' }, summed);
    await recorder.ask({ name: 'question', input: 'Shall I go on?' });
  };
  const branch = await session.fork('main', { name: 'asked' });
  const { outcome, text, modelCalls } = await branch.resume(agent, { prompt: 'Read it.' });
  expect([outcome, text, modelCalls]).toEqual(['waiting', 'I read it.', 2]);
});

test('the text of a run is what the agent said, whatever a judge is asked about it later', async () => {
  const ask = (recorder: Recorder, content: string, message?: Message): Promise<unknown> =>
    recorder.call(
      { kind: 'model', name: 'small-1', request: { messages: [{ role: 'user', content }] } },
      () => undefined,
      () => (message === undefined ? {} : { message }),
    );
  const agent = async ({ recorder }: ResumeContext) => {
    await ask(recorder, 'Well?', { role: 'assistant', content: 'The answer.' });
    await ask(recorder, 'Is "The answer." polite?');
  };
  const branch = await session.fork('main', { name: 'judged' });
  expect((await branch.resume(agent, { prompt: 'Well?' })).text).toBe('The answer.');
});

test('a run that ended stays ended when it is stopped while a call that it left is waited for', async () => {
  const stop = new AbortController();
  const agent = async ({ recorder }: ResumeContext) => {
    const started = Promise.withResolvers<void>();
    const slow = async ({ aborted }: { readonly aborted: Promise<void> }): Promise<string> => {
      started.resolve();
      await aborted;
      return 'late';
    };
    const aborted = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
    void recorder.call({ kind: 'tool', name: 'mail', input: {} }, () => slow({ aborted }));
    await started.promise;
    setTimeout(() => stop.abort(), 20);
    return 'answer';
  };
  const branch = await session.fork('main', { name: 'left' });
  const { outcome, text } = await branch.resume(agent, { prompt: 'Well?', signal: stop.signal });
  expect([outcome, text]).toEqual(['ok', 'answer']);
});

describe('a fork of it, resumed', () => {
  test('does something else when it is told something else', async () => {
    const branch = await session.fork('main@2', { name: 'careful', system: careful });
    const { result, outcome, modelCalls, cost } = await branch.resume(demoAgent, { effects: 'once' });
    expect([result, outcome, modelCalls]).toEqual(['I refunded 50. Sorry for the trouble!', 'ok', 3]);
    expect(cost).toBeGreaterThan(0);
    expect(await toolsOf('careful')).toEqual(['lookup {"order":7}', 'refund {"amount":50,"order":7}']);
    expect(await toolsOf('main'), 'the original is as it was').toEqual(['refund {"amount":500,"order":7}']);
    expect((await branch.verify()).ok).toBe(true);
  });

  test('does something else when the customer writes something else', async () => {
    const branch = await session.fork('main@2', { prompt: `${complaint} Check what I paid.` });
    expect((await branch.resume(demoAgent, { effects: 'once' })).text).toBe('I refunded 50. Sorry for the trouble!');
  });

  test('does not pay the same money back twice', async () => {
    const branch = await session.fork('main@2', { name: 'same' });
    await expect(branch.resume(demoAgent)).rejects.toMatchObject({ code: 'effect.refused' });
    expect(await toolsOf('same')).toEqual([]);
    const again = await session.fork('main@2', { name: 'allowed' });
    expect((await again.resume(demoAgent, { effects: 'run' })).text).toContain('I refunded 500.');
  });

  test('goes on from another result of a tool', async () => {
    const branch = await session.fork('main@6', {
      edits: [{ kind: 'toolResult', call: 'call_1', output: { refunded: 0, paid: 50 } }],
    });
    expect((await branch.resume(demoAgent, { effects: 'once' })).text).toBe('I refunded 0. Sorry for the trouble!');
  });

  test('makes the call that was asked for and not made', async () => {
    const branch = await session.fork('main@4', { name: 'asked' });
    const { text } = await branch.resume(demoAgent, { effects: 'run' });
    expect(text).toBe('I refunded 500. Sorry for the trouble!');
    expect(await toolsOf('asked')).toEqual(['refund {"amount":500,"order":7}']);
  });

  test('answers another customer in the same conversation', async () => {
    const branch = await session.fork('main', { name: 'more' });
    const { text } = await branch.resume(demoAgent, { prompt: 'Check order 9 and refund it too.', effects: 'once' });
    expect(text).toBe('I refunded 50. Sorry for the trouble!');
  });
});
