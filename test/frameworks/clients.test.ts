/** The real clients of three providers, recorded, against the scripted model server over HTTP. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  conversation,
  type Event,
  openReprise,
  type Recorder,
  type RecordOptions,
  recordTools,
  type Session,
} from '../../src/index.ts';
import {
  type FromProtocol,
  fromAnthropicMessages,
  fromChatCompletions,
  fromGeminiContent,
  fromResponses,
  type ToProtocol,
  toAnthropicMessages,
  toChatCompletions,
  toGeminiContent,
  toResponses,
} from '../../src/protocols.ts';
import { type ModelScript, type ModelServer, openModelServer } from '../../src/testing.ts';
import { clientWorlds } from './client-worlds.ts';
import { dataOf } from './openai-agents-world.ts';

interface Stage {
  readonly server: ModelServer;
  readonly session: Session;
  readonly recorder: Recorder;
}

/** Records while a function runs, against a scripted model, and gives the events. */
async function recorded(
  script: ModelScript,
  body: (stage: Stage) => Promise<unknown>,
  options: RecordOptions = {},
): Promise<readonly Event[]> {
  await using server = await openModelServer(script);
  await using reprise = await openReprise('memory:');
  const session = await reprise.createSession('story');
  const recorder = await session.record({ facts: false, ...options });
  await body({ server, session, recorder });
  expect((await recorder.close()).errors).toEqual([]);
  return await Array.fromAsync(session.replay());
}

const models = (events: readonly Event[], type: 'call.started' | 'call.ended') => dataOf(events, type, 'model');

const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error as Error,
  );

const packages: Readonly<Record<string, string>> = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  'anthropic-messages': '@anthropic-ai/sdk',
  'gemini-content': '@google/genai',
};
const read = (path: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, '../..', path), 'utf8'));
const installed = (name: string): unknown =>
  (read(`node_modules/${name}/package.json`) as { version: unknown }).version;

/** Answers of which the only part is one that nobody knows. */
const unknownAnswers: Readonly<Record<string, object>> = {
  'openai-chat': {
    choices: [
      { index: 0, message: { role: 'assistant', content: [{ type: 'dream', sheep: 7 }] }, finish_reason: 'stop' },
    ],
  },
  'openai-responses': { object: 'response', status: 'completed', output: [{ type: 'dream', id: 'dr_1', sheep: 7 }] },
  'anthropic-messages': { type: 'message', content: [{ type: 'dream', sheep: 7 }], stop_reason: 'end_turn' },
  'gemini-content': {
    candidates: [{ content: { role: 'model', parts: [{ dream: { sheep: 7 } }] }, finishReason: 'STOP' }],
  },
};

const converters: Readonly<Record<string, { readonly from: FromProtocol; readonly to: ToProtocol }>> = {
  'openai-chat': { from: fromChatCompletions, to: toChatCompletions },
  'openai-responses': { from: fromResponses, to: toResponses },
  'anthropic-messages': { from: fromAnthropicMessages, to: toAnthropicMessages },
  'gemini-content': { from: fromGeminiContent, to: toGeminiContent },
};

const refunding: ModelScript = [
  { when: { answered: 'refund' }, reply: ({ results }) => ({ text: `Done: ${String(results[0]?.output)}` }) },
  {
    when: { text: /\b50\b/ },
    reply: { reasoning: 'They said how much.', toolCalls: [{ name: 'refund', input: { order: 7, amount: 50 } }] },
  },
  { when: { text: /refund/i }, reply: { toolCalls: [{ name: 'refund', input: { order: 7, amount: 500 } }] } },
];

const refunds = () => {
  const made: unknown[] = [];
  const refund = async ({ amount }: { readonly order: number; readonly amount: number }) => {
    made.push(amount);
    return { refunded: amount };
  };
  return { made, functions: recordTools({ refund }, { effects: { refund: 'irreversible' } }) };
};

describe.each(Object.entries(clientWorlds))('%s', (protocol, world) => {
  test('records what was really sent and said, with tokens, cached ones, the finish reason and the cost', async () => {
    const usage = { inputTokens: 9, outputTokens: 4, cachedInputTokens: 3 };
    const costOf = () => 0.25;
    const events = await recorded(
      [{ reply: { reasoning: 'Hm.', text: 'Hello, you.', usage } }],
      async ({ server, recorder }) => {
        const client = world.record(world.open(server.url), recorder, 'support');
        expect(await world.ask(client, 'Hello?')).toBe('Hello, you.');
      },
      { prices: { costOf } },
    );
    expect(models(events, 'call.started')).toMatchObject([{ name: 'small-1', effect: 'pure' }]);
    expect(models(events, 'call.ended')).toMatchObject([
      {
        outcome: 'ok',
        finishReason: 'stop',
        usage: { inputTokens: 9, outputTokens: 4, cachedInputTokens: 3 },
        cost: 0.25,
        provider: { name: protocol },
      },
    ]);
    expect(events.every(({ agent }) => agent === 'support')).toBe(true);
    const [{ message } = {}] = models(events, 'call.ended');
    expect(message).toMatchObject({ role: 'assistant' });
    expect(JSON.stringify(message)).toContain('Hello, you.');
  });

  test('a stream passes piece by piece, and is the same record as the whole', async () => {
    const script: ModelScript = [
      { reply: { reasoning: 'Hm.', text: ['One ', 'two ', 'three'], usage: { inputTokens: 5, outputTokens: 6 } } },
    ];
    const pieces: string[] = [];
    const streamed = await recorded(script, async ({ server, recorder }) => {
      await world.stream(world.record(world.open(server.url), recorder), 'Count.', (text) => void pieces.push(text));
    });
    const whole = await recorded(script, async ({ server, recorder }) => {
      await world.ask(world.record(world.open(server.url), recorder), 'Count.');
    });
    expect(pieces).toEqual(['One ', 'two ', 'three']);
    const [a] = models(streamed, 'call.ended');
    const [b] = models(whole, 'call.ended');
    expect(a).toMatchObject({ outcome: 'ok', finishReason: 'stop', firstTokenMs: expect.any(Number) });
    expect(a?.['usage']).toEqual(b?.['usage']);
    const text = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/"refusal":null,?/g, ''));
    expect(text(a?.['message'])).toEqual(text(b?.['message']));
  });

  test('a loop with a tool is one conversation: the tool call is the one that the model asked for', async () => {
    const { functions, made } = refunds();
    const events = await recorded(refunding, async ({ server, recorder }) => {
      const agent = world.agent(world.open(server.url), functions);
      expect(await agent.run(recorder, 'Refund order 7.', { title: 'Refund' })).toBe('Done: {"refunded":500}');
    });
    expect(made).toEqual([500]);
    expect(events.map(({ type, data }) => `${type} ${String(data['name'] ?? '')}`.trim())).toEqual([
      'run.started',
      'message.added',
      'call.started small-1',
      'call.ended small-1',
      'call.started refund',
      'call.ended refund',
      'call.started small-1',
      'call.ended small-1',
      'run.ended',
    ]);
    const [asked] = events.filter(({ data }) => data['name'] === 'refund');
    expect(asked).toMatchObject({ causeSeq: 3, data: { effect: 'irreversible', input: { order: 7, amount: 500 } } });
    const [said] = models(events, 'call.ended');
    expect(JSON.stringify(said?.['message'])).toContain(`"toolCallId":${JSON.stringify(asked?.data['call'])}`);
    const [, second] = models(events, 'call.started');
    expect(second?.['request']).toMatchObject({
      system: 'Resolve refunds.',
      tools: [{ type: 'function', name: 'refund' }],
    });
  });

  test('a fork is resumed live, with the history in the provider’s own form', async () => {
    await using server = await openModelServer(refunding);
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('story');
    const { functions, made } = refunds();
    const agent = world.agent(world.open(server.url), functions);
    const recorder = await session.record({ facts: false });
    await agent.run(recorder, 'Refund order 7.');
    await recorder.close();

    const better = await session.fork('main@2', { name: 'better', prompt: 'Refund the 50 of order 7.' });
    expect(await better.resume(agent, { effects: 'run' })).toMatchObject({
      text: 'Done: {"refunded":50}',
      outcome: 'ok',
    });
    const pending = await session.fork('main@4', { name: 'pending' });
    expect(await pending.resume(agent, { effects: 'reuse' })).toMatchObject({
      text: 'Done: {"refunded":500}',
      reused: 1,
    });
    const [, , , , , answered] = await Array.fromAsync(session.at('main@6').replay());
    const call = String(answered?.data['call']);
    const edits = [{ kind: 'toolResult' as const, call, output: { refunded: 7 } }];
    const edited = await session.fork('main@6', { name: 'edited', edits });
    expect(await edited.resume(agent)).toMatchObject({ text: 'Done: {"refunded":7}' });
    expect(made).toEqual([500, 50]);
    const { messages } = await session.at('better').fold(conversation);
    expect(messages.map(({ message }) => message?.['role'])).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(server.requests.every(({ outcome }) => outcome === 'answered')).toBe(true);
  });

  test('what the client tries again is told in the call', async () => {
    const busy = { error: { status: 429, retryAfter: 0.01, message: 'Slow down' } };
    const broken = { error: { status: 500, message: 'Overloaded' } };
    for (const streams of [false, true]) {
      const events = await recorded([{ reply: [busy, broken, { text: 'Yes.' }] }], async ({ server, recorder }) => {
        const client = world.record(world.open(server.url, { maxRetries: 2 }), recorder);
        if (streams) await world.stream(client, 'Well?', () => undefined);
        else expect(await world.ask(client, 'Well?')).toBe('Yes.');
        expect(server.requests).toHaveLength(3);
      });
      expect(models(events, 'call.ended')).toMatchObject([
        { outcome: 'ok', attempts: 3, failedAttempts: [{ status: 429 }, { status: 500 }] },
      ]);
    }
  });

  test('a refused request fails as without a recorder, and says why in the record', async () => {
    const refused = { error: { status: 400, message: 'Bad request indeed' } };
    for (const streams of [false, true]) {
      const events = await recorded([{ reply: refused }], async ({ server, recorder }) => {
        const client = world.record(world.open(server.url), recorder);
        const plain = await failure(world.ask(world.open(server.url), 'Hello?'));
        const error = await failure(
          streams ? world.stream(client, 'Hello?', () => undefined) : world.ask(client, 'Hello?'),
        );
        expect(error).toMatchObject({ message: plain.message, constructor: plain.constructor, status: 400 });
      });
      expect(models(events, 'call.ended')).toMatchObject([{ outcome: 'error', error: { status: 400 } }]);
      expect(JSON.stringify(models(events, 'call.ended'))).toContain('Bad request indeed');
    }
  });

  test('a stream that is cut in the middle fails, and what had arrived is in the record', async () => {
    const pieces: string[] = [];
    const events = await recorded(
      [{ reply: { text: ['One ', 'two ', 'three'], cutAfter: 2 } }],
      async ({ server, recorder }) => {
        const client = world.record(world.open(server.url), recorder);
        await failure(world.stream(client, 'Count.', (text) => void pieces.push(text)));
      },
    );
    expect(pieces.join('')).toBe('One two ');
    const [end] = models(events, 'call.ended');
    expect(end).toMatchObject({ outcome: 'error', error: { message: expect.any(String) } });
    expect(JSON.stringify(end?.['message'])).toContain('One two ');
  });

  test('a reader that leaves, and one that aborts, end the call as aborted', async () => {
    const script: ModelScript = [{ reply: { text: ['One ', 'two ', 'three'], pieceMs: 30 } }];
    const left = await recorded(script, async ({ server, recorder }) => {
      const client = world.record(world.open(server.url), recorder);
      await world.stream(client, 'Count.', () => false);
      await expect.poll(() => recorder.flush().then(({ stored }) => stored)).toBe(2);
    });
    const aborted = await recorded(script, async ({ server, recorder }) => {
      const client = world.record(world.open(server.url), recorder);
      const controller = new AbortController();
      await world
        .stream(client, 'Count.', () => controller.abort(), { signal: controller.signal })
        .catch(() => undefined);
      await expect.poll(() => recorder.flush().then(({ stored }) => stored)).toBe(2);
    });
    const early = await recorded(script, async ({ server, recorder }) => {
      const client = world.record(world.open(server.url), recorder);
      await failure(world.ask(client, 'Count.', { signal: AbortSignal.abort() }));
    });
    for (const events of [left, aborted]) {
      const [end] = models(events, 'call.ended');
      expect(end).toMatchObject({ outcome: 'aborted' });
      expect(JSON.stringify(end?.['message'])).toContain('One ');
    }
    expect(models(early, 'call.ended')).toMatchObject([{ outcome: 'aborted' }]);
  });

  test('arguments that are not JSON are kept as the text that arrived', async () => {
    const script: ModelScript = [{ reply: { toolCalls: [{ name: 'refund', id: 'c1', arguments: '{"order": 7' }] } }];
    for (const streams of [false, true]) {
      const events = await recorded(script, async ({ server, recorder }) => {
        const client = world.record(world.open(server.url), recorder);
        await (streams ? world.stream(client, 'Hello?', () => undefined) : world.ask(client, 'Hello?')).catch(
          () => undefined,
        );
      });
      const [end] = models(events, 'call.ended');
      expect(end).toMatchObject({ outcome: 'ok', message: { content: [{ type: 'tool-call', input: '{"order": 7' }] } });
    }
  });

  test('a part of an unknown kind reaches the program, is in the record, and is sent back to the same provider', async () => {
    const answer = unknownAnswers[protocol];
    const { from, to } = converters[protocol] ?? {};
    const events = await recorded([{ reply: { malformed: JSON.stringify(answer) } }], async ({ server, recorder }) => {
      await world.ask(world.record(world.open(server.url), recorder), 'Dream.');
    });
    const [end] = models(events, 'call.ended');
    expect(end).toMatchObject({ outcome: 'ok', message: { content: [{ type: 'provider-part' }] } });
    expect(to?.messages([end?.['message'] as never])).toEqual(
      to?.messages([from?.answer(answer ?? {}).message as never]),
    );
    expect(JSON.stringify(to?.messages([end?.['message'] as never]))).toContain('"sheep":7');
  });

  test('an answer that is not JSON fails as without a recorder, and the record says so', async () => {
    const events = await recorded([{ reply: { malformed: '{"id": "x", "choi' } }], async ({ server, recorder }) => {
      const plain = await failure(world.ask(world.open(server.url), 'Hello?'));
      const error = await failure(world.ask(world.record(world.open(server.url), recorder), 'Hello?'));
      expect(error.message).toBe(plain.message);
    });
    expect(models(events, 'call.ended')).toMatchObject([
      { outcome: 'error', error: { message: 'The answer is not JSON' } },
    ]);
  });

  test('after the recorder was closed the client works, and the recorder says what it missed', async () => {
    await using server = await openModelServer([{ reply: { text: 'Yes.' } }]);
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('story');
    const errors: string[] = [];
    const recorder = await session.record({ facts: false, onError: ({ message }) => void errors.push(message) });
    const client = world.record(world.open(server.url), recorder);
    await recorder.close();
    expect(await world.ask(client, 'Well?')).toBe('Yes.');
    await world.stream(client, 'Well?', () => undefined);
    expect(errors[0]).toContain('the recorder was closed');
    expect(await Array.fromAsync(session.replay())).toEqual([]);
  });

  test('two recorders on one client record apart, and a recorded client is recorded elsewhere, not twice', async () => {
    await using server = await openModelServer([{ reply: { text: 'Yes.' } }]);
    await using reprise = await openReprise('memory:');
    const sessions = [await reprise.createSession('a'), await reprise.createSession('b')];
    const [first, second] = await Promise.all(sessions.map((session) => session.record({ facts: false })));
    if (first === undefined || second === undefined) throw new Error('No recorder');
    const client = world.open(server.url);
    const inFirst = world.record(client, first);
    const inSecond = world.record(inFirst, second);
    expect(world.record(inFirst, first)).toBe(inFirst);
    await Promise.all([
      world.ask(inFirst, '1'),
      world.ask(inFirst, '2'),
      world.ask(inSecond, '3'),
      world.ask(client, '4'),
    ]);
    expect((await first.close()).stored).toBe(4);
    expect((await second.close()).stored).toBe(2);
    expect(server.requests).toHaveLength(4);
  });

  test('a budget stops the loop, and the client does not try again', async () => {
    await using server = await openModelServer(refunding);
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('story');
    const { functions } = refunds();
    const agent = world.agent(world.open(server.url, { maxRetries: 2 }), functions);
    const branch = session.branch('main');
    const error = await failure(
      branch.resume(agent, { prompt: 'Refund order 7.', budget: { modelCalls: 1 }, effects: 'run' }),
    );
    expect(error).toMatchObject({ code: 'budget.exceeded' });
    expect(server.requests).toHaveLength(1);
  });

  test('a run has the version of the client, and a resumed one the options of `run`', async () => {
    await using server = await openModelServer(refunding);
    await using reprise = await openReprise('memory:');
    const session = await reprise.createSession('story');
    const agent = world.agent(world.open(server.url), refunds().functions);
    const recorder = await session.record();
    await agent.run(recorder, 'Refund order 7.');
    await recorder.close();
    const branch = await session.fork('main@2', { name: 'again' });
    await branch.resume(agent, { run: { retries: 2 }, effects: 'run' });
    const types = ['run.started'];
    const runs = await Array.fromAsync(session.at('again').replay({ filter: { types } }));
    const packageName = packages[protocol] ?? '';
    expect(runs.map(({ data }) => data['versions'])).toEqual(
      [1, 2].map(() => expect.objectContaining({ [packageName]: installed(packageName) })),
    );
    expect(runs[1]?.data['resumed']).toMatchObject({ with: 'support', options: { retries: 2 } });
  });
});

test('the guide states the versions that are tested', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/record.md'), 'utf8');
  const { peerDependencies } = read('package.json') as { peerDependencies: Record<string, string> };
  for (const name of new Set(Object.values(packages))) {
    const [row = ''] = guide.split('\n').filter((line) => line.startsWith(`| \`${name}\``));
    const version = String(installed(name));
    expect(row).toContain(`| ${version} |`);
    expect(row).toContain(`\`${name}\` ${version.split('.')[0]} |`);
    expect(peerDependencies[name]).toBe(`^${version.split('.')[0]}.0.0`);
  }
});
