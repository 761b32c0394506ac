/**
 * Who continues a chat of agents that hand off: the one whose run it is, wherever earlier runs ended. And agents that run
 * inside a tool: their calls are recorded and guarded like those of the agent that has the tool.
 */
import { Agent, MemorySession, Runner, setTracingDisabled, tool } from '@openai/agents';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conversation, type Session } from '../../src/index.ts';
import { openaiAgent, recordAgent, recordRunner } from '../../src/openai-agents.ts';
import { asks, dataOf, recorded, SayingModel, says } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

const billing = new Agent({ name: 'billing', model: 'small-1', instructions: 'You bill.' });
const triage = new Agent({ name: 'triage', model: 'small-1', instructions: 'You sort.', handoffs: [billing] });
const runnerOf = (model: SayingModel): Runner =>
  new Runner({ modelProvider: { getModel: () => model }, tracingDisabled: true });

/** Records two runs in one memory: triage hands the first off to billing, and answers the second itself. */
async function chat(): Promise<Session> {
  const model = new SayingModel([[asks('c1', 'transfer_to_billing', {})], says('You owe 7.'), says('Hello again.')]);
  const { session } = await recorded(async (recorder) => {
    const runner = recordRunner(runnerOf(model), recorder);
    const memory = new MemorySession();
    await runner.run(triage, 'What do I owe?', { session: memory });
    await runner.run(triage, 'Hello?', { session: memory });
  });
  return session;
}

const lastQuestion = async (session: Session): Promise<number> =>
  (await (await session.findLast({ types: ['message.added'] }))?.locate())?.seq ?? 0;

test('a run begins with what its session holds, and a fork at its question hands that over', async () => {
  const session = await chat();
  const { messages } = await session.at(`main@${await lastQuestion(session)}`).fold(conversation);
  expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
});

test('the second run goes on with triage: the handoff of the first is over', async () => {
  const session = await chat();
  const model = new SayingModel([says('Hi.'), says('Hi.')]);
  const agent = openaiAgent(triage, { runner: runnerOf(model) });
  await (await session.fork(`main@${await lastQuestion(session)}`)).resume(agent);
  await session.retry(agent);
  expect(model.requests.map(({ systemInstructions }) => systemInstructions)).toEqual(['You sort.', 'You sort.']);
});

test('inside the first run, the handoff counts: after it billing continues, before it triage', async () => {
  const session = await chat();
  const events = await Array.fromAsync(session.replay());
  const handedOff = events.find(({ type, data }) => type === 'call.ended' && data['kind'] === 'tool')?.seq ?? 0;
  const asked = events.find(({ type }) => type === 'message.added')?.seq ?? 0;
  for (const [seq, prompt] of [
    [handedOff, 'You bill.'],
    [asked, 'You sort.'],
  ] as const) {
    const model = new SayingModel([says('Fine.')]);
    await (await session.fork(`main@${seq}`)).resume(openaiAgent(triage, { runner: runnerOf(model) }));
    expect(model.requests[0]?.systemInstructions).toBe(prompt);
  }
});

test('a system edit that names an agent is for that agent alone, also when it gets the floor later', async () => {
  const session = await chat();
  const model = new SayingModel([[asks('c9', 'transfer_to_billing', {})], says('You owe 8.')]);
  const branch = await session.fork(`main@${await lastQuestion(session)}`, {
    edits: [{ kind: 'system', text: 'You bill slowly.', agent: 'billing' }],
  });
  await branch.resume(openaiAgent(triage, { runner: runnerOf(model) }), { effects: 'run' });
  expect(model.requests.map(({ systemInstructions }) => systemInstructions)).toEqual(['You sort.', 'You bill slowly.']);
});

test('a system edit that names no agent is for the one that continues', async () => {
  const session = await chat();
  const model = new SayingModel([[asks('c9', 'transfer_to_billing', {})], says('You owe 8.')]);
  const branch = await session.fork(`main@${await lastQuestion(session)}`, { system: 'You sort fast.' });
  await branch.resume(openaiAgent(triage, { runner: runnerOf(model) }), { effects: 'run' });
  expect(model.requests.map(({ systemInstructions }) => systemInstructions)).toEqual(['You sort fast.', 'You bill.']);
});

test('a conversation of an agent that no handoff leads to is not handed over', async () => {
  const notes = new Agent({ name: 'notes', model: 'small-1', instructions: 'You note.' });
  const said = new SayingModel([says('What do you owe?'), says('Noted.')]);
  const { session } = await recorded(async (recorder) => {
    const runner = recordRunner(runnerOf(said), recorder);
    await runner.run(triage, 'What do I owe?');
    await runner.run(notes, 'Sum the customer up for the manager.');
  });
  const model = new SayingModel([says('7.')]);
  const agent = openaiAgent(triage, { runner: runnerOf(model) });
  await session.resume(agent, { prompt: 'For order 7.' });
  expect(model.sent(0)).toMatchObject([{ content: 'What do I owe?' }, {}, { content: 'For order 7.' }]);
  const runs = await Array.fromAsync(session.replay({ filter: { types: ['run.started'] } }));
  expect(runs.map((run) => run.agent)).toEqual(['triage', 'notes', 'triage']);
});

describe('an agent inside a tool', () => {
  const inside = (needsApproval: boolean) => {
    const paid: number[] = [];
    const refund = tool({
      name: 'refund',
      description: 'Refunds',
      parameters: z.object({ amount: z.number() }),
      needsApproval,
      execute: async ({ amount }) => `Paid ${paid.push(amount)}.`,
    });
    const cashier = new Agent({ name: 'cashier', model: 'small-1', tools: [refund] });
    const desk = new Agent({ name: 'desk', model: 'small-1', tools: [cashier.asTool({ toolName: 'pay' })] });
    return { paid, desk, cashier };
  };
  const asking = [[asks('c1', 'pay', { input: 'Pay 5.' })], [asks('c2', 'refund', { amount: 5 })]];
  const effects = { refund: 'irreversible' } as const;
  const storyOf = (desk: Agent, sayings: ConstructorParameters<typeof SayingModel>[0]) =>
    recorded(async (recorder) => {
      await recordRunner(runnerOf(new SayingModel(sayings)), recorder, { effects }).run(desk, 'It broke.');
    });

  test('has its calls recorded, and guarded on a resume, also if its own call is pending', async () => {
    const { paid, desk } = inside(false);
    const { session, events } = await storyOf(desk, [...asking, says('Paid.'), says('Done.')]);
    const tools = events.filter(({ data }) => data['kind'] === 'tool');
    expect(tools.map(({ type, agent, data }) => [type, agent, data['name'], data['effect']])).toEqual([
      ['call.started', 'desk', 'pay', 'unknown'],
      ['call.started', 'cashier', 'refund', 'irreversible'],
      ['call.ended', 'cashier', 'refund', undefined],
      ['call.ended', 'desk', 'pay', undefined],
    ]);
    const refused = openaiAgent(desk, { runner: runnerOf(new SayingModel(asking)), effects });
    const again = (await session.fork('main@2')).resume(refused, { effects: { names: { pay: 'run' } } });
    await expect(again).rejects.toMatchObject({ code: 'effect.refused', message: /"refund"/ });
    const [, second = []] = asking;
    const runner = runnerOf(new SayingModel([second, says('Paid 0.'), says('Done.')]));
    const branch = await session.fork('main@4', { name: 'pending' });
    const names = { pay: 'run', refund: { simulate: 'Not really.' } } as const;
    const resumed = await branch.resume(openaiAgent(desk, { runner, effects }), { effects: { names } });
    expect([resumed.text, resumed.simulated, paid]).toEqual(['Done.', 1, [5]]);
    const ends = dataOf(await Array.fromAsync(session.at('pending').replay()), 'call.ended', 'tool');
    expect(ends.map(({ output }) => output)).toEqual(['Not really.', 'Paid 0.']);
  });

  test('is guarded also if it was made to record elsewhere, with the effect classes of then', async () => {
    const { paid, cashier } = inside(false);
    await recorded(async (elsewhere) => {
      const tools = [recordAgent(cashier, elsewhere, { effects }).asTool({ toolName: 'pay' })];
      const desk = new Agent({ name: 'desk', model: 'small-1', tools });
      const { session } = await storyOf(desk, [says('Hello.')]);
      const branch = await session.fork('main@2');
      const resumed = branch.resume(openaiAgent(desk, { runner: runnerOf(new SayingModel(asking)) }));
      await expect(resumed).rejects.toMatchObject({ code: 'effect.refused', message: /"refund"/ });
    });
    expect(paid).toEqual([]);
  });

  test('that waits for a person leaves its call open, and is approved in its own conversation', async () => {
    const { paid, desk, cashier } = inside(true);
    const { session, events } = await storyOf(desk, asking);
    expect(dataOf(events, 'call.ended', 'tool')).toMatchObject([{ name: 'pay', outcome: 'waiting' }]);
    const runner = runnerOf(new SayingModel([says('Paid 5.'), says('Done.')]));
    const approve = ['c2'];
    const front = openaiAgent(desk, { runner, effects });
    await expect(session.resume(front, { approve })).rejects.toMatchObject({
      code: 'resume.invalid',
      message: /"c2" waits in the conversation of "cashier"/,
    });
    const { text } = await session.resume(openaiAgent(cashier, { runner, effects }), { approve });
    expect([text, paid]).toEqual(['Paid 5.', [5]]);
    const answer = { type: 'tool-result', toolCallId: 'c1', toolName: 'pay', output: text } as const;
    const done = await session.resume(front, { prompt: { role: 'tool', content: [answer] } });
    expect([done.text, done.modelCalls, paid]).toEqual(['Done.', 1, [5]]);
  });

  test('that begins to wait in a resume stops it', async () => {
    const { paid, desk } = inside(true);
    const { session } = await storyOf(desk, asking);
    const [, second = []] = asking;
    const agent = openaiAgent(desk, { runner: runnerOf(new SayingModel([second])), effects });
    const branch = await session.fork('main@4');
    await expect(branch.resume(agent, { effects: 'run' })).rejects.toMatchObject({ code: 'resume.waiting' });
    const ends = dataOf(await Array.fromAsync(session.at(branch.name).replay()), 'call.ended', 'tool');
    expect([ends.map(({ outcome }) => outcome), paid]).toEqual([['waiting'], []]);
  });
});
