/** An edited answer reaches the model: on the responses API, an item with an id is read from the provider's own copy. */
import { createOpenAI } from '@ai-sdk/openai';
import { expect, test } from 'vitest';
import { aiSdkAgent, recordAiSdk } from '../../src/ai-sdk.ts';
import { openModelServer } from '../../src/testing.ts';
import { openSession } from './ai-sdk-world.ts';

/** Records a question and an answer on the responses API, and returns the session with the agent that gave it. */
async function recordedOn(url: string) {
  const world = await openSession();
  const bodies: string[] = [];
  const noting: typeof fetch = (input, init) => {
    bodies.push(String(init?.body));
    return fetch(input, init);
  };
  const model = createOpenAI({ baseURL: url, apiKey: 'sk-1', fetch: noting }).responses('gpt-test');
  const recorder = await world.session.record({ agent: 'support', facts: false });
  await recordAiSdk(recorder, { agent: 'support' }).generateText({ model, prompt: 'Where is order 7?' });
  await recorder.close();
  return { ...world, bodies, agent: aiSdkAgent({ model }, { name: 'support' }) };
}

test('an edited answer is sent in full, without the id of the provider, and the repairs say so', async () => {
  await using server = await openModelServer([{ reply: { text: 'It is in Oslo.' } }]);
  const { session, bodies, agent, ...world } = await recordedOn(server.url);
  const events = await Array.fromAsync(session.replay({ filter: { types: ['call.ended'] } }));
  const answer = events.at(-1);
  const said = answer?.data['message'] as { content: { text: string }[] };
  expect(JSON.stringify(said)).toContain('itemId');
  const message = { ...said, content: said.content.map((part) => ({ ...part, text: 'It is in Rome.' })) };
  const branch = await session.fork('main', {
    edits: [{ kind: 'message', seq: answer?.seq ?? 0, message: message as never }],
  });
  const { repairs } = await branch.resume(agent, { prompt: 'Are you sure?' });
  const body = bodies.at(-1);
  expect(body).toContain('It is in Rome.');
  expect(body).not.toContain('item_reference');
  expect(repairs).toContainEqual(expect.objectContaining({ rule: 'provider-ids' }));
  await world[Symbol.asyncDispose]();
});

test('an answer that nobody edited is sent in full too: the provider may have forgotten it', async () => {
  await using server = await openModelServer([{ reply: { text: 'It is in Oslo.' } }]);
  const { session, bodies, agent, ...world } = await recordedOn(server.url);
  const { repairs } = await (await session.fork('main')).resume(agent, { prompt: 'Are you sure?' });
  const body = bodies.at(-1);
  expect(body).toContain('It is in Oslo.');
  expect(body).not.toContain('item_reference');
  expect(repairs.map(({ rule }) => rule)).toContain('provider-ids');
  await world[Symbol.asyncDispose]();
});
