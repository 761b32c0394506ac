/** OpenAI Agents, recorded: the real framework, with scripted models. No network. */
import {
  Agent,
  handoff,
  MemorySession,
  type ModelResponse,
  type RunContext,
  Runner,
  type StreamEvent,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conversation, type Recorder } from '../../src/index.ts';
import { recordAgent, recordModels, recordSession } from '../../src/openai-agents.ts';
import { asks, dataOf, recorded, SayingModel, says } from './openai-agents-world.ts';

beforeAll(() => setTracingDisabled(true));

const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, celsius: 7 }),
});

/** The framework notes who acts in two ways, by whether its own tracing is on for the run. */
const runnerOf = (model: SayingModel, recorder: Recorder, tracingDisabled = true) =>
  new Runner({ modelProvider: recordModels({ getModel: () => model }, recorder), tracingDisabled });

const forecaster = new Agent({ name: 'forecaster', instructions: 'Be brief.', tools: [weather], model: 'small-1' });
const asksAndSays = () => new SayingModel([[asks('c1', 'weather', { city: 'Oslo' })], says('It is 7 degrees.')]);

describe('a tool loop', () => {
  test.each([true, false])('is recorded whole (the framework traces nothing: %s)', async (tracingDisabled) => {
    const { events, session } = await recorded(async (recorder) => {
      const result = await recorder.run({ title: 'weather' }, () =>
        runnerOf(asksAndSays(), recorder, tracingDisabled).run(recordAgent(forecaster, recorder), 'How is Oslo?'),
      );
      expect(result.finalOutput).toBe('It is 7 degrees.');
    });
    expect(events.map(({ type, data }) => [type, data['kind']].join(' ').trim())).toEqual([
      'run.started',
      'call.started model',
      'call.ended model',
      'call.started tool',
      'call.ended tool',
      'call.started model',
      'call.ended model',
      'run.ended',
    ]);
    const [first, second] = dataOf(events, 'call.started', 'model');
    expect(first).toMatchObject({
      name: 'small-1',
      request: { system: 'Be brief.', messages: [{ role: 'user', content: 'How is Oslo?' }] },
    });
    expect(first?.['request']).toHaveProperty('tools.0.name', 'weather');
    expect(dataOf(events, 'call.ended', 'model')[0]).toMatchObject({
      outcome: 'ok',
      message: { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', input: { city: 'Oslo' } }] },
      usage: { inputTokens: 10, outputTokens: 4, totalTokens: 14 },
      provider: { responseId: 'resp_1' },
    });
    expect(dataOf(events, 'call.started', 'tool')[0]).toMatchObject({ call: 'c1', input: { city: 'Oslo' } });
    expect(dataOf(events, 'call.ended', 'tool')[0]).toMatchObject({ output: { celsius: 7, city: 'Oslo' } });
    expect(second?.['request']).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool', content: [{ toolCallId: 'c1', output: { celsius: 7, city: 'Oslo' } }] },
      ],
    });
    expect(new Set(events.slice(1, -1).map(({ agent }) => agent))).toEqual(new Set(['forecaster']));
    // The tool is inside the model call that asked for it, and of its turn.
    expect(events[3]).toMatchObject({ cause: events[1]?.id, turn: events[1]?.turn });
    const seen = await session.fold(conversation);
    expect(seen.messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
    // The result in the second list is the answer of the tool itself, and keeps its seq.
    expect(seen.messages[2]?.seq).toBe(5);
    expect(seen.openCalls).toEqual([]);
  });

  test('leaves the agent that was given as it is, and its listeners hear of the run', async () => {
    const heard: string[] = [];
    const before = { tools: [...forecaster.tools], invoke: weather.invoke, handoffs: forecaster.handoffs };
    const listen = (): void => void heard.push('started');
    forecaster.on('agent_start', listen);
    await recorded(async (recorder) => {
      await runnerOf(asksAndSays(), recorder).run(recordAgent(forecaster, recorder), 'How is Oslo?');
    });
    forecaster.off('agent_start', listen);
    expect(heard).toEqual(['started']);
    expect({ tools: forecaster.tools, invoke: weather.invoke, handoffs: forecaster.handoffs }).toEqual(before);
    expect(forecaster.tools[0]).toBe(weather);
  });

  test.each([
    ['that work', { city: 'Oslo' }],
    ['that are not what the tool takes', { town: 'Oslo' }],
  ])('gives the same result as without recording, with arguments %s', async (_what, input) => {
    const sayings = [[asks('c1', 'weather', input)], says('It is 7 degrees.')];
    const plain = new SayingModel(sayings);
    const alone = await new Runner({ modelProvider: { getModel: () => plain } }).run(forecaster, 'How is Oslo?');
    const told = new SayingModel(sayings);
    const { events } = await recorded(async (recorder) => {
      const result = await runnerOf(told, recorder).run(recordAgent(forecaster, recorder), 'How is Oslo?');
      expect(result.history).toEqual(alone.history);
    });
    expect(told.requests.map(({ input: sent }) => sent)).toEqual(plain.requests.map(({ input: sent }) => sent));
    const outcome = 'city' in input ? 'ok' : 'error';
    expect(dataOf(events, 'call.ended', 'tool')).toMatchObject([{ outcome }]);
  });

  test('of a copy that recorded elsewhere is recorded here alone', async () => {
    const elsewhere = await recorded(async (other) => {
      const copy = recordAgent(forecaster, other).clone({ name: 'copy' });
      const { events } = await recorded(async (recorder) => {
        await runnerOf(asksAndSays(), recorder).run(recordAgent(copy, recorder), 'How is Oslo?');
      });
      expect(dataOf(events, 'call.ended', 'tool')).toHaveLength(1);
    });
    expect(elsewhere.events).toEqual([]);
  });

  test('with parallel tools keeps each answer with its call', async () => {
    const model = new SayingModel([
      [asks('c1', 'weather', { city: 'Oslo' }), asks('c2', 'weather', { city: 'Rome' })],
      says('Both are fine.'),
    ]);
    const { events } = await recorded(async (recorder) => {
      await runnerOf(model, recorder).run(recordAgent(forecaster, recorder), 'Oslo and Rome?');
    });
    const ended = dataOf(events, 'call.ended', 'tool').map(({ call, output }) => [call, output]);
    expect(Object.fromEntries(ended)).toEqual({
      c1: { city: 'Oslo', celsius: 7 },
      c2: { city: 'Rome', celsius: 7 },
    });
  });
});

describe('a tool that fails', () => {
  const broken = tool({
    name: 'broken',
    description: 'Fails',
    parameters: z.object({ how: z.string() }),
    execute: async ({ how }) => {
      if (how === 'well') return 'fine';
      throw new Error(`It broke ${how}`);
    },
  });

  test.each([true, false])(
    'is recorded as failed though the model is told a text, beside one that is not (no traces: %s)',
    async (tracingDisabled) => {
      const model = new SayingModel([
        [asks('c1', 'broken', { how: 'badly' }), asks('c2', 'broken', { how: 'well' })],
        says('One failed.'),
      ]);
      const agent = new Agent({ name: 'tester', tools: [broken] });
      const { events, session } = await recorded(async (recorder) => {
        await runnerOf(model, recorder, tracingDisabled).run(recordAgent(agent, recorder), 'Try both');
      });
      const outcomes = dataOf(events, 'call.ended', 'tool').map(({ call, outcome }) => [call, outcome]);
      expect(Object.fromEntries(outcomes)).toEqual({ c1: 'error', c2: 'ok' });
      const text = 'An error occurred while running the tool. Please try again.';
      expect(dataOf(events, 'call.ended', 'tool').find(({ call }) => call === 'c1')).toMatchObject({
        output: text,
        error: { message: text },
      });
      const results = (await session.fold(conversation)).messages.slice(2, 4);
      expect(results.map(({ message }) => message?.['content'])).toMatchObject([
        [{ toolCallId: 'c1', output: text, isError: true }],
        [{ toolCallId: 'c2', output: 'fine' }],
      ]);
    },
  );

  test('says how it failed where the program lets the framework tell it', async () => {
    const telling = tool({
      name: 'telling',
      description: 'Fails and tells',
      parameters: z.object({}),
      errorFunction: (_context, error) => `Sorry: ${(error as Error).message}`,
      execute: async () => {
        throw new Error('No stock');
      },
    });
    const model = new SayingModel([[asks('c1', 'telling', {})], says('Sorry.')]);
    const { events } = await recorded(async (recorder) => {
      await runnerOf(model, recorder, false).run(
        recordAgent(new Agent({ name: 'a', tools: [telling] }), recorder),
        'Go',
      );
    });
    expect(dataOf(events, 'call.ended', 'tool')[0]).toMatchObject({
      outcome: 'error',
      output: 'Sorry: No stock',
      error: { message: 'Error: No stock' },
    });
  });

  test('after its time is up, ends then', async () => {
    const slow = tool({
      name: 'slow',
      description: 'Takes long',
      parameters: z.object({}),
      timeoutMs: 20,
      execute: () => new Promise<string>(() => undefined),
    });
    const model = new SayingModel([[asks('c1', 'slow', {})], says('Too slow.')]);
    const { events } = await recorded(async (recorder) => {
      const agent = recordAgent(new Agent({ name: 'a', tools: [slow] }), recorder);
      expect((await runnerOf(model, recorder).run(agent, 'Go')).finalOutput).toBe('Too slow.');
    });
    expect(dataOf(events, 'call.ended', 'tool')[0]).toMatchObject({
      outcome: 'error',
      error: { name: 'ToolTimeoutError' },
    });
  });
});

describe('handoffs', () => {
  const refunds = new Agent({ name: 'refunds', instructions: 'You refund.' });

  test('are recorded as the tool calls they are, and whoever acts is on the events', async () => {
    const handed: unknown[] = [];
    const desk = new Agent({
      name: 'desk',
      handoffs: [
        handoff(refunds, {
          inputType: z.object({ why: z.string() }),
          onHandoff: (_context: RunContext, input) => void handed.push(input),
        }),
      ],
    });
    const model = new SayingModel([[asks('c1', 'transfer_to_refunds', { why: 'broken' })], says('Refunded.')]);
    const { events } = await recorded(async (recorder) => {
      const result = await runnerOf(model, recorder).run(recordAgent(desk, recorder), 'Order 7 broke');
      expect(result.lastAgent?.name).toBe('refunds');
    });
    expect(handed).toEqual([{ why: 'broken' }]);
    expect(
      events.filter(({ type }) => type === 'call.started').map(({ agent, data }) => [agent, data['name']]),
    ).toEqual([
      ['desk', expect.any(String)],
      ['desk', 'transfer_to_refunds'],
      ['refunds', expect.any(String)],
    ]);
    expect(dataOf(events, 'call.started', 'tool')[0]).toMatchObject({
      call: 'c1',
      effect: 'pure',
      input: { why: 'broken' },
    });
    expect(dataOf(events, 'call.started', 'model')[0]?.['request']).toMatchObject({
      tools: [{ name: 'transfer_to_refunds', handoff: true }],
    });
  });

  test('in circles, and tools of those who are handed to, are recorded', async () => {
    const back = new Agent({ name: 'back', tools: [weather] });
    const front = new Agent({ name: 'front', handoffs: [back] });
    back.handoffs.push(front);
    const model = new SayingModel([
      [asks('c1', 'transfer_to_back', {})],
      [asks('c2', 'weather', { city: 'Oslo' })],
      [asks('c3', 'transfer_to_front', {})],
      says('Done.'),
    ]);
    const { events } = await recorded(async (recorder) => {
      await runnerOf(model, recorder).run(recordAgent(front, recorder), 'Go');
    });
    const tools = events.filter(({ type, data }) => type === 'call.ended' && data['kind'] === 'tool');
    expect(tools.map(({ agent, data }) => [agent, data['name']])).toEqual([
      ['front', 'transfer_to_back'],
      ['back', 'weather'],
      ['back', 'transfer_to_front'],
    ]);
  });

  test('an agent that is a tool has its model calls inside the call', async () => {
    const boss = new Agent({
      name: 'boss',
      tools: [refunds.asTool({ toolName: 'ask_refunds', toolDescription: 'Asks' })],
    });
    const model = new SayingModel([
      [asks('c1', 'ask_refunds', { input: 'order 7' })],
      says('50.'),
      says('You get 50.'),
    ]);
    const { events } = await recorded(async (recorder) => {
      await runnerOf(model, recorder).run(recordAgent(boss, recorder), 'How much?');
    });
    const started = events.filter(({ type }) => type === 'call.started');
    expect(started.map(({ agent }) => agent)).toEqual(['boss', 'boss', 'refunds', 'boss']);
    expect(started[2]?.cause).toBe(started[1]?.id);
  });
});

describe('a stream', () => {
  test('passes event by event, and is recorded once with the whole answer', async () => {
    const { events } = await recorded(async (recorder) => {
      const result = await runnerOf(asksAndSays(), recorder).run(recordAgent(forecaster, recorder), 'How is Oslo?', {
        stream: true,
      });
      const deltas: string[] = [];
      for await (const event of result)
        if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
          deltas.push(event.data.delta);
      await result.completed;
      expect(deltas).toEqual(['It ', 'is ', '7 ', 'degrees.']);
    });
    const [, answer] = dataOf(events, 'call.ended', 'model');
    expect(answer).toMatchObject({
      outcome: 'ok',
      message: { content: [{ type: 'text', text: 'It is 7 degrees.' }] },
      firstTokenMs: expect.any(Number),
      usage: { totalTokens: 14 },
    });
    expect(events).toHaveLength(6);
    const [asking, asked] = events.filter(({ type }) => type === 'call.started');
    expect(asked?.cause).toBe(asking?.id);
  });

  class CutModel extends SayingModel {
    override async *getStreamedResponse(): AsyncIterable<StreamEvent> {
      yield { type: 'output_text_delta', delta: 'It is' };
      yield { type: 'output_text_delta', delta: ' seven' };
    }
  }
  class FailingModel extends SayingModel {
    override async *getStreamedResponse(): AsyncIterable<StreamEvent> {
      yield { type: 'output_text_delta', delta: 'It is' };
      throw new Error('The line broke');
    }
  }
  const streamed = async (model: SayingModel) => {
    const { events } = await recorded(async (recorder) => {
      const wrapped = await recordModels({ getModel: () => model }, recorder).getModel('m');
      const request = {
        input: 'Hi',
        tools: [],
        handoffs: [],
        modelSettings: {},
        outputType: 'text',
        tracing: false,
      } as const;
      try {
        for await (const event of wrapped.getStreamedResponse({ ...request, tools: [], handoffs: [] }))
          if (event.type === 'response_started') break;
      } catch {
        // Only the record counts here.
      }
    });
    return dataOf(events, 'call.ended', 'model')[0];
  };

  test('that is cut is recorded as interrupted, with what had been said', async () => {
    expect(await streamed(new CutModel([]))).toMatchObject({
      outcome: 'interrupted',
      message: { content: 'It is seven' },
    });
  });

  test('that fails is recorded with its error and what had been said', async () => {
    expect(await streamed(new FailingModel([]))).toMatchObject({
      outcome: 'error',
      message: { content: 'It is' },
      error: { message: 'The line broke' },
    });
  });

  test('that its reader leaves is recorded as aborted', async () => {
    expect(await streamed(asksAndSays())).toMatchObject({ outcome: 'aborted' });
  });
});

describe('what goes wrong', () => {
  test('a guardrail that trips is thrown as it is, and the run says so', async () => {
    const guarded = new Agent({
      name: 'guarded',
      inputGuardrails: [
        {
          name: 'no',
          runInParallel: false,
          execute: async () => ({ tripwireTriggered: true, outputInfo: { reason: 'no' } }),
        },
      ],
    });
    const { events } = await recorded(async (recorder) => {
      const run = recorder.run({}, () =>
        runnerOf(new SayingModel([says('Hi')]), recorder).run(recordAgent(guarded, recorder), 'Hello'),
      );
      await expect(run).rejects.toMatchObject({ name: 'InputGuardrailTripwireTriggered' });
    });
    expect(dataOf(events, 'run.ended')[0]).toMatchObject({
      outcome: 'error',
      error: { name: 'InputGuardrailTripwireTriggered' },
    });
  });

  test('too many turns are thrown as they are, with everything recorded until then', async () => {
    const again = (id: string) => [asks(id, 'weather', { city: 'Oslo' })];
    const model = new SayingModel([again('c1'), again('c2'), again('c3')]);
    const { events } = await recorded(async (recorder) => {
      const run = recorder.run({}, () =>
        runnerOf(model, recorder).run(recordAgent(forecaster, recorder), 'Again', { maxTurns: 2 }),
      );
      await expect(run).rejects.toMatchObject({ name: 'MaxTurnsExceededError' });
    });
    expect(dataOf(events, 'call.ended', 'tool').map(({ call }) => call)).toEqual(['c1', 'c2']);
    expect(dataOf(events, 'run.ended')[0]).toMatchObject({ outcome: 'error' });
  });

  test('a model that fails is recorded with its error, and each try is a call', async () => {
    const model = new SayingModel([Object.assign(new Error('Overloaded'), { status: 529 }), says('Now it works.')]);
    const agent = new Agent({
      name: 'patient',
      modelSettings: {
        retry: {
          maxRetries: 1,
          policy: () => ({ retry: true, approveUnsafeReplay: true }),
          backoff: { initialDelayMs: 1 },
        },
      },
    });
    const { events } = await recorded(async (recorder) => {
      const result = await runnerOf(model, recorder).run(recordAgent(agent, recorder), 'Hello');
      expect(result.finalOutput).toBe('Now it works.');
    });
    expect(dataOf(events, 'call.ended', 'model')).toMatchObject([
      { outcome: 'error', error: { message: 'Overloaded', status: 529 } },
      { outcome: 'ok' },
    ]);
  });

  test('an abort is recorded as one', async () => {
    const control = new AbortController();
    class SlowModel extends SayingModel {
      override getResponse(): Promise<ModelResponse> {
        return new Promise((_resolve, reject) => {
          control.signal.addEventListener('abort', () => reject(control.signal.reason as Error));
          setImmediate(() => control.abort());
        });
      }
    }
    const { events } = await recorded(async (recorder) => {
      const run = runnerOf(new SlowModel([]), recorder).run(recordAgent(forecaster, recorder), 'Hi', {
        signal: control.signal,
      });
      await expect(run).rejects.toThrow(/abort/i);
    });
    expect(dataOf(events, 'call.ended', 'model')[0]).toMatchObject({ outcome: 'aborted' });
  });
});

describe('what stands before a call', () => {
  test('an answer from the record is given instead of calling the tool', async () => {
    let called = 0;
    const refund = tool({
      name: 'refund',
      description: 'Refunds',
      parameters: z.object({ order: z.number() }),
      execute: async () => {
        called++;
        return 'live';
      },
    });
    const model = new SayingModel([[asks('c1', 'refund', { order: 7 })], says('Refunded.')]);
    const { events } = await recorded(
      async (recorder) => {
        const agent = recordAgent(new Agent({ name: 'a', tools: [refund] }), recorder, {
          effects: { refund: 'irreversible' },
        });
        await runnerOf(model, recorder).run(agent, 'Refund order 7');
      },
      {
        guards: [
          {
            before: ({ name }) =>
              name === 'refund' ? { outcome: 'ok', output: { refunded: 50 }, error: undefined } : undefined,
          },
        ],
      },
    );
    expect(called).toBe(0);
    expect(dataOf(events, 'call.started', 'tool')[0]).toMatchObject({ effect: 'irreversible' });
    expect(dataOf(events, 'call.ended', 'tool')[0]).toMatchObject({ reused: true, output: { refunded: 50 } });
    expect(model.sent(1).at(-1)).toMatchObject({ output: { type: 'text', text: '{"refunded":50}' } });
  });

  test('a call that is refused is not made, and the refusal reaches the caller', async () => {
    let called = 0;
    const refund = tool({
      name: 'refund',
      description: 'Refunds',
      parameters: z.object({}),
      execute: async () => called++,
    });
    const model = new SayingModel([[asks('c1', 'refund', {})], says('Refunded.')]);
    await recorded(
      async (recorder) => {
        const agent = recordAgent(new Agent({ name: 'a', tools: [refund] }), recorder);
        await expect(runnerOf(model, recorder).run(agent, 'Refund')).rejects.toThrow(/refused here/);
      },
      {
        guards: [
          {
            before: async ({ kind }) => {
              if (kind === 'tool') throw new Error('refused here');
              return undefined;
            },
          },
        ],
      },
    );
    expect(called).toBe(0);
  });
});

describe('sessions', () => {
  test('what the program adds is recorded once, what the framework adds is not recorded again', async () => {
    const model = new SayingModel([says('Noted.'), says('It is order 7.')]);
    const agent = new Agent({ name: 'desk' });
    const { events, session } = await recorded(async (recorder) => {
      const memory = recordSession(new MemorySession(), recorder);
      await memory.addItems([{ role: 'user', content: 'My order is 7.' }]);
      const runner = runnerOf(model, recorder);
      await runner.run(recordAgent(agent, recorder), 'Remember it.', { session: memory });
      await runner.run(recordAgent(agent, recorder), 'Which one?', { session: memory });
      expect(await memory.getItems()).toHaveLength(5);
    });
    expect(dataOf(events, 'message.added')).toHaveLength(1);
    const { messages } = await session.fold(conversation);
    expect(messages.map(({ message }) => message?.['role'])).toEqual([
      'user',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(messages[0]?.seq).toBe(1);
  });
});
