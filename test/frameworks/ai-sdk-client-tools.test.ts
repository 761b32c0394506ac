/** Tools of the AI SDK without `execute`: the caller of the model answers them, also after a fork. */
import { stepCountIs, tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { aiSdkAgent, recordAiSdk } from '../../src/ai-sdk.ts';
import { type Message, type RepriseError, runs, type Session } from '../../src/index.ts';
import { asks, eventsOf, openSession, said, scripted, weatherTools } from './ai-sdk-world.ts';

const choose = tool({
  description: 'Lets the user choose.',
  inputSchema: z.object({ of: z.string() }),
  outputSchema: z.string(),
});
const prompt = 'Where to?';

/** Records a run whose model asks for a tool of the caller's, and perhaps for one that is executed here. */
async function asked(session: Session, executed: string[], both = false): Promise<void> {
  await using recorder = await session.record({ agent: 'guide', facts: false });
  const parts = [asks('choose', { of: 'cities' }, 't0'), ...(both ? [asks('weather', { city: 'Oslo' }, 't1')] : [])];
  const tools = { choose, ...weatherTools(executed) };
  const model = scripted([said(...parts)]);
  const result = await recordAiSdk(recorder).generateText({ model, tools, prompt, stopWhen: stepCountIs(3) });
  expect(result.toolCalls.map(({ toolName }) => toolName)).toContain('choose');
}

const answer: Message = {
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: 't0', toolName: 'choose', output: 'Oslo' }],
};

const refusal = async (what: Promise<unknown>): Promise<RepriseError> => (await what.catch((e) => e)) as RepriseError;

test('a call that waits for the caller is not executed and not answered: nothing is written, and the hint says how', async () => {
  await using world = await openSession();
  await asked(world.session, []);
  const branch = await world.session.fork('main', { name: 'on' });
  const model = scripted([said('Oslo it is.')]);
  const agent = aiSdkAgent({ model, tools: { choose } });
  const { code, message, hint } = await refusal(branch.resume(agent));
  expect([code, message]).toEqual([
    'resume.waiting',
    'Cannot resume "ai/on": "choose" (t0) waits for an answer from the caller',
  ]);
  expect(hint).toContain("role: 'tool'");
  expect(model.doGenerateCalls).toHaveLength(0);
  expect((await world.session.branch('on').locate()).head).toBe(branch.head);
});

test('answered by the caller, in the prompt or by an edit, the agent goes on from it', async () => {
  await using world = await openSession();
  await asked(world.session, []);
  const models = [scripted([said('Oslo it is.')]), scripted([said('Oslo it is.')])] as const;
  const told = await world.session.fork('main', { name: 'told' });
  const one = await told.resume(aiSdkAgent({ model: models[0], tools: { choose } }), { prompt: answer });
  const edits = [{ kind: 'toolResult', call: 't0', output: 'Oslo' }] as const;
  const edited = await world.session.fork('main', { name: 'edited', edits });
  const two = await edited.resume(aiSdkAgent({ model: models[1], tools: { choose } }));
  expect([one.text, two.text]).toEqual(['Oslo it is.', 'Oslo it is.']);
  for (const model of models) {
    const sent = model.doGenerateCalls[0]?.prompt ?? [];
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(sent.at(-1)?.content).toMatchObject([{ toolCallId: 't0', output: { type: 'text', value: 'Oslo' } }]);
  }
  expect((await refusal(told.resume(aiSdkAgent({ model: models[0] }), { prompt: answer }))).code).toBe(
    'resume.invalid',
  );
});

test('what can be executed is, and then the run waits: the branch says so, and the answer ends it', async () => {
  await using world = await openSession();
  const executed: string[] = [];
  await asked(world.session, executed, true);
  const events = await eventsOf(world.session);
  const end = events.find(({ type, data }) => type === 'call.ended' && data['kind'] === 'model');
  const branch = await world.session.fork(`main@${end?.seq}`, { name: 'both' });
  const model = scripted([said('Cold there.')]);
  const agent = aiSdkAgent({ model, tools: { choose, ...weatherTools(executed) } });
  executed.length = 0;
  expect((await refusal(branch.resume(agent, { effects: 'run' }))).code).toBe('resume.waiting');
  expect([executed, model.doGenerateCalls.length]).toEqual([['Oslo'], 0]);
  expect((await world.session.at('both').fold(runs)).runs.at(-1)?.status).toBe('waiting');
  expect((await branch.resume(agent, { prompt: answer })).text).toBe('Cold there.');
  expect(executed).toEqual(['Oslo']);
  const sent = model.doGenerateCalls[0]?.prompt ?? [];
  expect(sent.map(({ role, content }) => [role, content.length])).toEqual([
    ['user', 1],
    ['assistant', 2],
    ['tool', 2],
  ]);
});

test('a user who says something else instead is answered; the call nobody answered is taken out', async () => {
  await using world = await openSession();
  await asked(world.session, []);
  const model = scripted([said('As you like.')]);
  const branch = await world.session.fork('main', { name: 'else' });
  const { repairs, text } = await branch.resume(aiSdkAgent({ model, tools: { choose } }), { prompt: 'Never mind.' });
  expect(text).toBe('As you like.');
  expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual(['user', 'user']);
  const end = (await eventsOf(world.session)).find(({ type }) => type === 'call.ended');
  expect(repairs).toContainEqual({ rule: 'call-without-result', seq: end?.seq, what: 'the call t0 of "choose"' });
});
