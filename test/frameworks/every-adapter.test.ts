/** The promises of every adapter, checked on each of them with its real framework. */

import { readFileSync } from 'node:fs';
import { setTracingDisabled, ToolCallError } from '@openai/agents';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Message, MessageLike } from '../../src/core/message/message.ts';
import { conversation, type Event, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { littleLines, type Say, Script, worlds } from './adapter-worlds.ts';
import { clientWorlds } from './client-adapter-worlds.ts';

beforeAll(() => setTracingDisabled(true));

let reprise: Reprise;
let session: Session;
beforeEach(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('story');
});
afterEach(() => reprise.close());

const question = 'What did I pay for order 7?';
const lookup = { call: 'c1', input: { order: 7 } } as const;
const told = [`user: ${question}`, 'call: c1 {"order":7}', 'result: c1 {"paid":70}', 'assistant: You paid 70.'];
const story = (): Script => new Script([lookup, 'You paid 70.']);

const eventsOf = (branch = 'main'): Promise<Event[]> => Array.fromAsync(session.at(branch).replay());
const seqOf = (events: readonly Event[], type: string, kind?: string): number =>
  events.find((event) => event.type === type && (kind === undefined || event.data['kind'] === kind))?.seq ?? 0;

/** The packages whose versions each of them tells. */
const frameworks: Readonly<Record<string, readonly string[]>> = {
  'AI SDK': ['ai', '@ai-sdk/provider'],
  'OpenAI Agents': ['@openai/agents'],
  LangGraph: ['@langchain/langgraph', '@langchain/core'],
  'OpenAI chat completions': ['openai'],
  'OpenAI responses': ['openai'],
  'Anthropic messages': ['@anthropic-ai/sdk'],
};
const installed = (name: string): unknown => {
  const path = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: unknown }).version;
};

describe.each(Object.entries({ ...worlds, ...clientWorlds }))('%s', (name, world) => {
  const recorded = async (script = story(), ask = question, before: readonly Message[] = []): Promise<Event[]> => {
    await using recorder = await session.record({ agent: 'support', facts: false });
    await world.record(recorder, script, ask, before);
    const { errors } = await recorder.flush();
    expect(errors).toEqual([]);
    return eventsOf();
  };

  test('wherever it is forked, the model is sent what it was sent before that point: nothing twice, nothing dangling', async () => {
    const events = await recorded();
    const source = await session.locate();
    const asked = events.filter(({ type }) => type === 'message.added' || type === 'call.started')[0]?.seq ?? 0;
    const modelEnd = seqOf(events, 'call.ended', 'model');
    const toolEnd = seqOf(events, 'call.ended', 'tool');
    const answered = events.findLast(({ type }) => type === 'call.ended')?.seq ?? 0;
    for (const { seq } of events.filter((event) => event.seq >= asked)) {
      const script = new Script(['Done.']);
      const branch = await session.fork(`main@${seq}`);
      const more = seq >= answered ? { prompt: 'Really?' } : {};
      await branch.resume(world.agent(script), { effects: 'run', ...more });
      const expected = seq >= answered ? [...told, 'user: Really?'] : told.slice(0, seq < modelEnd ? 1 : 3);
      expect(script.asked, `main@${seq}`).toEqual([expected]);
      // A call that was asked for and not answered is made once; an answer that is recorded is not asked for again.
      expect(script.executed, `main@${seq}`).toEqual(seq >= modelEnd && seq < toolEnd ? [7] : []);
    }
    expect(await session.locate()).toEqual(source);
  });

  test('tools that were asked for at once are taken up one by one, wherever it is forked between them', async () => {
    const both: Say = [lookup, { call: 'c2', input: { order: 8 } }];
    const events = await recorded(new Script([both, 'You paid 150.']));
    const first = [told[0], 'call: c1 {"order":7}', 'call: c2 {"order":8}'];
    const results = ['result: c1 {"paid":70}', 'result: c2 {"paid":80}'];
    const asked = seqOf(events, 'call.ended', 'model');
    const later = events.filter(({ type, data }) => type === 'call.started' && data['kind'] === 'model')[1]?.seq ?? 0;
    for (let seq = asked; seq < later; seq++) {
      const script = new Script(['Done.']);
      await (await session.fork(`main@${seq}`)).resume(world.agent(script), { effects: 'run' });
      const [sent = []] = script.asked;
      expect([sent.slice(0, 3), sent.slice(3).toSorted()], `main@${seq}`).toEqual([first, results]);
      const ended = events.filter((event) => event.seq <= seq && event.type === 'call.ended').length - 1;
      expect(script.executed, `main@${seq}`).toHaveLength(2 - ended);
    }
  });

  test('a call that was decided on and never made has the effect that the agent declares', async () => {
    const seq = seqOf(await recorded(), 'call.ended', 'model');
    const edits = [{ kind: 'toolInput', call: 'c1', input: { order: 8 } }] as const;
    const script = new Script(['Done.']);
    script.effects = { lookup: 'irreversible' };
    const agent = world.agent(script);
    const decided = await session.fork(`main@${seq}`, { edits });
    await expect(decided.resume(agent)).rejects.toMatchObject({ code: 'effect.refused' });
    const { rows } = await session.at(`main@${seq}`).experiment({ variants: [{ name: 'new', edits }], agent });
    expect([rows[0]?.error, script.executed]).toEqual([expect.stringContaining('which is irreversible'), []]);
    expect((await decided.resume(agent, { effects: 'once' })).outcome).toBe('ok');
    expect(script.executed).toEqual([8]);
  });

  // A plain function records with the recorder that it names.
  test.skipIf(name === 'a plain function')(
    'work set up with the first recorder stays on the branch, in the policy and in the budget of the resume it is done in',
    async () => {
      await using first = await session.record({ agent: 'support', facts: false });
      await world.record(first, story(), question, []);
      await first.flush();
      const main = await session.locate();
      const branch = await session.fork('main@1', { name: 'what-if' });
      const script = story();
      const effects = { names: { lookup: { simulate: { paid: 0 } } } };
      const ran = await branch.resume(async () => world.record(first, script, question, []), {
        prompt: 'Go.',
        effects,
      });
      expect([script.asked.length, script.executed, ran.modelCalls, ran.simulated]).toEqual([2, [], 2, 1]);
      expect((await first.flush()).errors).toEqual([]);
      expect(await session.locate()).toEqual(main);
    },
  );

  test('a run says which versions of the framework it was made with, first and resumed', async () => {
    const names = frameworks[name] ?? [];
    const expected = Object.fromEntries(names.map((each) => [each, installed(each)]));
    const recorder = await session.record({ agent: 'support' });
    await world.record(recorder, story(), question, []);
    await recorder.close();
    const seq = seqOf(await eventsOf(), 'call.started', 'model') - 1;
    await (await session.fork(`main@${seq}`, { name: 'again' })).resume(world.agent(new Script(['Done.'])));
    const runs = [...(await eventsOf()), ...(await eventsOf('again'))].filter(({ type }) => type === 'run.started');
    expect(runs.length).toBeGreaterThan(1);
    for (const { data } of runs) {
      const { node, reprise: own, ...others } = data['versions'] as Record<string, string>;
      expect([node, own, others]).toEqual([process.versions.node, expect.any(String), expected]);
    }
  });

  test('T5 what is recorded of a model call is what the model was sent and said, and how it went', async () => {
    const script = story();
    const events = await recorded(script);
    const calls = (type: string) => events.filter(({ type: is, data }) => is === type && data['kind'] === 'model');
    const sent = calls('call.started').map(
      ({ data }) => (data['request'] as unknown as { messages: Message[] }).messages,
    );
    expect(sent.map((messages) => messages.flatMap(littleLines))).toEqual(script.asked);
    const [asking, saying] = calls('call.ended').map(({ data }) => data);
    expect([asking, saying].map((end) => littleLines(end?.['message'] as unknown as Message))).toEqual([
      [told[1]],
      [told[3]],
    ]);
    expect(saying).toMatchObject({ name: 'small-1', outcome: 'ok', latencyMs: expect.any(Number) });
  });

  test('a model that fails is a call that failed, with what it said, and the error is the own one', async () => {
    const failure = Object.assign(new Error('Overloaded'), { status: 529 });
    await using recorder = await session.record({ facts: false });
    await expect(world.record(recorder, new Script([failure]), question)).rejects.toThrow('Overloaded');
    await recorder.flush();
    const ends = (await eventsOf()).filter(({ type }) => type === 'call.ended' || type === 'run.ended');
    expect(ends.map(({ type, data }) => [type, data['outcome']])).toEqual([
      ['call.ended', 'error'],
      ['run.ended', 'error'],
    ]);
    expect(ends[0]?.data['error']).toMatchObject({ message: expect.stringContaining('Overloaded'), status: 529 });
  });

  test('the conversation at any event that the model could be asked at is taken by the framework as it is', async () => {
    const events = await recorded();
    const tool = seqOf(events, 'call.ended', 'tool');
    for (const seq of [tool, events.at(-1)?.seq ?? 0]) {
      const { messages } = await session.at(`main@${seq}`).fold(conversation);
      const more: readonly MessageLike[] = seq === tool ? [] : [{ role: 'user', content: 'Really?' }];
      const script = new Script(['Yes.']);
      await world.handBack(script, [...messages, ...more]);
      expect(script.asked[0]).toEqual(seq === tool ? told.slice(0, 3) : [...told, 'user: Really?']);
    }
  });

  test('every edit in the words of a person is what the agent is resumed with', async () => {
    const events = await recorded();
    const after = `main@${seqOf(events, 'call.ended', 'tool')}`;
    const asked = `main@${seqOf(events, 'call.ended', 'model')}`;
    const answered = async (point: string, edits: Parameters<Session['fork']>[1]) => {
      const script = new Script(['Well.']);
      await (await session.fork(point, edits)).resume(world.agent(script), { effects: 'run' });
      return { sent: script.asked[0], executed: script.executed };
    };
    const prompt = await answered(after, { prompt: 'And order 8?' });
    expect(prompt.sent).toEqual(['user: And order 8?', ...told.slice(1, 3)]);
    const result = await answered(after, { edits: [{ kind: 'toolResult', call: 'c1', output: { paid: 1 } }] });
    expect(result.sent).toEqual([...told.slice(0, 2), 'result: c1 {"paid":1}']);
    const given = await answered(asked, { edits: [{ kind: 'toolResult', call: 'c1', output: { paid: 2 } }] });
    expect([given.sent?.at(-1), given.executed]).toEqual(['result: c1 {"paid":2}', []]);
    const input = await answered(asked, { edits: [{ kind: 'toolInput', call: 'c1', input: { order: 8 } }] });
    expect(input.sent?.slice(1)).toEqual(['call: c1 {"order":8}', 'result: c1 {"paid":80}']);
    expect(input.executed).toEqual([8]);
    const { messages } = await session.at(after).fold(conversation);
    const seq = messages[0]?.seq ?? 0;
    const message = await answered(after, {
      edits: [{ kind: 'message', seq, message: { role: 'user', content: 'And mine?' } }],
    });
    expect(message.sent?.[0]).toBe('user: And mine?');
    const raw = await answered(after, {
      edits: [
        { kind: 'state', key: 'mood', value: 'calm' },
        { kind: 'append', event: { type: 'message.added', data: { message: { role: 'user', content: 'Quick!' } } } },
      ],
    });
    expect(raw.sent).toEqual([...told.slice(0, 3), 'user: Quick!']);
  });

  test('what stops it is told on the branch, which can be resumed again', async () => {
    await recorded();
    const events = await eventsOf();
    const at = `main@${seqOf(events, 'call.started', 'model') - 1 || 1}`;
    const source = await session.locate();
    const printed = vi.spyOn(console, 'error');
    const stop = new AbortController();
    const hang = () => new Promise<never>((_resolve, reject) => setTimeout(() => reject(new Error('too late')), 300));
    const aborting = async () => {
      stop.abort();
      return hang();
    };
    const ways = {
      abort: [new Script([lookup, aborting]), { signal: stop.signal }, 'aborted', 'resume.aborted'],
      time: [new Script([lookup, hang]), { timeoutMs: 60 }, 'aborted', 'resume.timeout'],
      turns: [new Script([lookup, lookup]), { budget: { modelCalls: 1 } }, 'budget', 'budget.exceeded'],
      tokens: [new Script([lookup, lookup]), { budget: { tokens: 1 } }, 'budget', 'budget.exceeded'],
      cost: [new Script([lookup, lookup]), { budget: { costUsd: 0.001 } }, 'budget', 'budget.exceeded'],
      failure: [new Script([lookup, new Error('No connection')]), {}, 'error', undefined],
    } as const;
    for (const [name, [script, limits, outcome, code]] of Object.entries(ways)) {
      const branch = await session.fork(at, { name });
      const stopped = branch.resume(world.agent(script), { effects: 'run', ...limits });
      await expect(stopped, name).rejects.toMatchObject(code === undefined ? { message: /No connection/ } : { code });
      const ended = (await eventsOf(name)).findLast(({ type }) => type === 'run.ended');
      expect(ended?.data, name).toMatchObject({ outcome, error: { message: expect.any(String) } });
      const again = new Script(['At last.']);
      const resumed = await session.branch(name).resume(world.agent(again), { effects: 'run' });
      expect([resumed.outcome, again.asked], name).toEqual(['ok', [told.slice(0, 3)]]);
    }
    expect(await session.locate()).toEqual(source);
    // LangChain prints what a handler throws; a stop is no failure of the recorder.
    expect(printed.mock.calls).toEqual([]);
    printed.mockRestore();
  });

  test('a whole session goes against another model from 0, turn by turn', async () => {
    const answer: Message = { role: 'assistant', content: 'Hello.' };
    await recorded(new Script(['Hello.']), 'Hi');
    await recorded(story(), question, [{ role: 'user', content: 'Hi' }, answer]);
    const script = new Script(['Hello.', 'No idea.']);
    const branch = await session.fork('main@0', { name: 'other' });
    const { comparison } = await branch.resume(world.agent(script), { userTurns: 'recorded' });
    expect(comparison.map(({ resumed, sameAnswer, sameTools }) => [resumed.answer, sameAnswer, sameTools])).toEqual([
      ['Hello.', true, true],
      ['No idea.', false, false],
    ]);
    expect(script.asked).toEqual([['user: Hi'], ['user: Hi', 'assistant: Hello.', `user: ${question}`]]);
  });

  test('options.run is recorded on the run it made', async () => {
    await recorded(new Script(['Hello.']), 'Hi');
    const branch = await session.fork('main', { name: 'on' });
    await branch.resume(world.agent(new Script(['Yes.'])), { prompt: 'Really?', run: world.run.given as never });
    const started = (await eventsOf('on')).findLast(({ type }) => type === 'run.started');
    expect(started?.data['resumed']).toMatchObject({ options: world.run.recorded });
  });

  test('secrets in questions, arguments, answers and results are masked before they are stored', async () => {
    const key = `sk-proj-${'aB3dE5gH7j'.repeat(4)}`;
    const script = new Script([lookup, `Use ${key}.`]);
    script.execute = (order) => ({ paid: order, key }) as never;
    await recorded(script, `My key is ${key}.`);
    expect(script.asked[0]?.[0]).toContain(key);
    const branch = await session.fork('main', { name: 'on' });
    const run = { ...world.run.given, headers: { authorization: 'Bearer hunter2hunter2' } };
    await branch.resume(world.agent(new Script(['Yes.'])), { prompt: `Is it ${key}?`, run: run as never });
    const text = JSON.stringify(await eventsOf('on'));
    expect(text).not.toMatch(/aB3dE5gH7j|hunter2/);
    for (const rule of ['openai-key', 'secret-field']) expect(text).toContain(`[masked ${rule} `);
    const { messages } = await session.fold(conversation);
    expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('an agent does not notice that nothing can be recorded; it is counted', async () => {
    const recorder = await session.record({ facts: false });
    await reprise.close();
    const script = story();
    await world.record(recorder, script, question);
    expect([script.asked[1], script.executed]).toEqual([told.slice(0, 3), [7]]);
    expect((await recorder.close()).failed).toBeGreaterThan(0);
  });

  test('with onFailure "fail" the run that could not be recorded fails, and a tool whose start was not stored is not called', async () => {
    const recorder = await session.record({ facts: false, onFailure: 'fail' });
    await reprise.close();
    const script = story();
    await expect(world.record(recorder, script, question)).rejects.toMatchObject({ code: 'recording.failed' });
    expect([script.asked.length > 0, script.executed]).toEqual([true, []]);
    const streaming = world.stream?.(recorder, story(), question, () => undefined);
    // A stream of OpenAI Agents throws the framework's own error, with ours inside.
    const thrown: unknown = await streaming?.catch((error: unknown) =>
      error instanceof ToolCallError ? error.error : error,
    );
    if (streaming !== undefined) expect(thrown).toMatchObject({ code: 'recording.failed' });
  });

  test('a model without a price has no cost, not one of zero', async () => {
    // A plain function says itself what a call cost.
    if (name === 'a plain function') return;
    const events = await recorded();
    for (const { data } of events.filter(({ type, data }) => type === 'call.ended' && data['kind'] === 'model')) {
      expect(data).not.toHaveProperty('cost');
      expect(data['usage']).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    }
  });

  test.skipIf(world.stream === undefined)('a streamed tool loop is recorded like a whole one', async () => {
    await using recorder = await session.record({ agent: 'support', facts: false });
    const texts: string[] = [];
    const script = story();
    await world.stream?.(recorder, script, question, (text) => texts.push(text));
    await recorder.flush();
    expect([texts, script.asked[1]]).toEqual([['You ', 'paid ', '70.'], told.slice(0, 3)]);
    const events = await eventsOf();
    const calls = events
      .filter(({ type }) => type.startsWith('call.'))
      .map(({ type, data }) => `${type} ${String(data['kind'])}`);
    const pair = (kind: string) => [`call.started ${kind}`, `call.ended ${kind}`];
    expect(calls).toEqual([...pair('model'), ...pair('tool'), ...pair('model')]);
    const { messages } = await session.fold(conversation);
    expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
    const said = events.findLast(({ type }) => type === 'call.ended')?.data;
    expect(said).toMatchObject({ firstTokenMs: expect.any(Number), latencyMs: expect.any(Number) });
    expect(littleLines(said?.['message'] as unknown as Message)).toEqual([told[3]]);
  });

  test.skipIf(world.stream === undefined)(
    'each piece of a stream is there before the model says the next',
    async () => {
      await using recorder = await session.record({ facts: false });
      const read: string[] = [];
      let wake = (_error?: Error): void => undefined;
      // The model says a piece only when the reader has all that came before it: who gathers never gets it.
      const gate = async (piece: number): Promise<void> => {
        const late = setTimeout(() => wake(new Error(`The reader has ${read.length} of ${piece} pieces`)), 60_000);
        while (read.length < piece)
          await new Promise<void>((resolve, reject) => {
            wake = (error) => (error === undefined ? resolve() : reject(error));
          });
        clearTimeout(late);
      };
      const script = new Script(['One two three four.'], gate);
      await world.stream?.(recorder, script, question, (text) => {
        read.push(text);
        wake();
      });
      expect(read).toEqual(['One ', 'two ', 'three ', 'four.']);
    },
  );
});
