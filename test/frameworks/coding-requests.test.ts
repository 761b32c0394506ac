/** Prepared requests of coding sessions, sent by the real clients, which take them as they are. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { recordAnthropic } from '../../src/anthropic.ts';
import type { Prepared } from '../../src/coding.ts';
import { openReprise, type Recorder } from '../../src/index.ts';
import { recordOpenAI } from '../../src/openai.ts';
import { openModelServer } from '../../src/testing.ts';

type Send = (url: string, recorder: Recorder, prepared: Prepared) => Promise<unknown>;

/** The payloads are passed without a cast, so the compiler holds them against the types of the clients. */
const sends: Readonly<Record<string, Send>> = {
  'openai responses': (url, recorder, { openai }) =>
    recordOpenAI(new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 }), recorder).responses.create(openai),
  'anthropic messages': (url, recorder, { anthropic }) =>
    recordAnthropic(new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 }), recorder).messages.create(
      anthropic,
    ),
};

const asksOther = (url: string, recorder: Recorder): Promise<unknown> =>
  recordOpenAI(new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 }), recorder).responses.create({
    model: 'small-1',
    input: 'Name this branch.',
  });

test.each(Object.entries(sends))(
  '%s takes a prepared request, and the receipt says how far our count was from its count',
  async (_name, send) => {
    await using server = await openModelServer([
      { reply: { text: 'Done.', usage: { inputTokens: 99, outputTokens: 4 } } },
    ]);
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('story');
    const { coding } = session;
    await coding.startRun({ run: 'run-1' });
    await coding.constraint({ key: 'edit_tests', text: 'Do not edit tests.' });
    const prepared = await coding.prepareRequest({
      model: 'small-1',
      instructions: 'Be careful.',
      input: 'Go.',
      maxOutputTokens: 256,
    });
    const recorder = await session.record({ facts: false });
    // The recorder has a run of its own, and its first call carries something else.
    await recorder.run({ run: 'recorded' }, async () => {
      await asksOther(server.url, recorder);
      expect((await coding.replay()).receipt.providerCount).toBeNull();
      await send(server.url, recorder, prepared);
    });
    expect((await recorder.close()).errors).toEqual([]);
    const calls = await Array.fromAsync(session.replay({ filter: { types: ['call.started'] } }));
    const counted = prepared.context.tokens + Math.ceil('Be careful.'.length / 4) + 1;
    const { providerCount } = (await coding.replay()).receipt;
    expect(providerCount).toEqual({ call: calls[1]?.seq, counted, provider: 99, difference: 99 - counted });
  },
);

test('coding verbs inside the run of a recorder belong to it, although it is not stored yet when they are called', async () => {
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  const recorder = await session.record();
  await recorder.run({ run: 'recorded', agent: 'coder' }, async () => {
    const goal = await session.coding.goal({ title: 'Fix it' });
    expect([goal.run, goal.agent]).toEqual(['recorded', 'coder']);
    const { event } = await session.coding.prepareRequest({ model: 'm', input: 'Go.' });
    expect(event.run).toBe('recorded');
  });
  expect((await recorder.close()).errors).toEqual([]);
  const types = await Array.fromAsync(session.replay(), ({ type }) => type);
  expect(types).toEqual(['run.started', 'goal.set', 'request.prepared', 'run.ended']);
});
