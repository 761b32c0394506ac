/** Who continues a chat of agents that hand off: the one whose run it is, wherever earlier runs ended. */
import { Agent, MemorySession, Runner, setTracingDisabled } from '@openai/agents';
import { beforeAll, expect, test } from 'vitest';
import { conversation, type Session } from '../../src/index.ts';
import { openaiAgent, recordRunner } from '../../src/openai-agents.ts';
import { asks, recorded, SayingModel, says } from './openai-agents-world.ts';

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
  (await session.findLast({ types: ['message.added'] }))?.seq ?? 0;

test('a run begins with what its session holds, and a fork at its question hands that over', async () => {
  const session = await chat();
  const { messages } = await session.stateAt(`main@${await lastQuestion(session)}`, conversation);
  expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
});

test('the second run goes on with triage: the handoff of the first is over', async () => {
  const session = await chat();
  const model = new SayingModel([says('Hi.'), says('Hi.')]);
  const agent = openaiAgent(triage, { runner: runnerOf(model) });
  await (await session.fork(`main@${await lastQuestion(session)}`)).resume(agent);
  await session.retry('main', agent);
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
  await session.resume('main', agent, { prompt: 'For order 7.' });
  expect(model.sent(0)).toMatchObject([{ content: 'What do I owe?' }, {}, { content: 'For order 7.' }]);
  const runs = await Array.fromAsync(session.replay({ filter: { types: ['run.started'] } }));
  expect(runs.map((run) => run.agent)).toEqual(['triage', 'notes', 'triage']);
});
