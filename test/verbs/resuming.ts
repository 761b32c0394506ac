import assert from 'node:assert/strict';
import { given } from '../../src/core/json.ts';
import { type Message, textOf, toolCallsIn } from '../../src/core/message/message.ts';
import type { ResumeContext } from '../../src/core/recording/agent.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { countedRefund, littleAgent, recordLoop, refunding, runLoop, says } from './little-agent.ts';
import { noting, own, question, refunded, types } from './refund-story.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** The cases of `session.resume` and `branch.resume`. */
export const resume: readonly VerbCase[] = [
  onSession('resume() sends the prompt once, and records it once', async (session) => {
    const digest = await refunded(session);
    const branch = await session.fork('main@2', { name: 'again', reason: 'try' });
    const agent = noting();
    const resumed = await branch.resume(agent);
    assert.equal(agent.seen[0]?.prompt?.content, question);
    assert.deepEqual(agent.seen[0]?.messages, []);
    assert.deepEqual([resumed.result, resumed.text, resumed.outcome], [`heard ${question}`, `heard ${question}`, 'ok']);
    assert.deepEqual(types(await own(session, 'again')), ['branch.forked', 'run.started', 'run.ended']);
    assert.deepEqual(
      resumed.repairs.map(({ rule }) => rule),
      ['prompt-once'],
    );
    assert.equal((await session.locate()).digest, digest, 'the source is untouched');
  }),

  onSession('resume() hands over the edited history, and what happens is on the branch alone', async (session) => {
    const digest = await refunded(session);
    const branch = await session.fork('main@2', {
      name: 'careful',
      prompt: 'Refund order 7, at most 50.',
      system: 'Be careful.',
      model: 'large-1',
      reason: 'too much',
    });
    const refund = countedRefund();
    const resumed = await branch.resume(littleAgent({ model: refunding(), tools: { refund } }));
    assert.deepEqual(refund.made, [{ order: 7, amount: 50 }]);
    assert.equal(resumed.result, 'Done for: Refund order 7, at most 50.');
    const [model] = await all(
      session.at('careful').replay({ filter: { types: ['call.started'], kind: 'model', name: 'large-1' } }),
    );
    assert.equal((model?.data['request'] as { system: string } | undefined)?.system, 'Be careful.');
    assert.deepEqual(
      [resumed.modelCalls, resumed.usage, resumed.cost],
      [2, { inputTokens: 200, outputTokens: 20 }, 0.02],
    );
    assert.deepEqual(resumed.lineage.parent, { branch: 'main', seq: 2 });
    assert.equal(resumed.lineage.reason, 'too much');
    assert.deepEqual(
      resumed.lineage.edits.map(({ type }) => type),
      ['event.replaced', 'settings.changed', 'settings.changed'],
    );
    assert.equal(resumed.ref, 'demo/careful');
    assert.equal((await session.locate()).digest, digest);
    const [child] = (await session.tree()).children;
    assert.deepEqual(
      [child?.branch, child?.parent, child?.reason],
      ['careful', { branch: 'main', seq: 2 }, 'too much'],
    );
  }),

  onSession(
    'resume() says nothing of model and system where the branch does not: the agent has its own',
    async (session) => {
      await refunded(session);
      const agent = noting();
      await (await session.fork('main@2')).resume(agent);
      const { model, system, tools, settings } = agent.seen[0] as ResumeContext;
      assert.deepEqual([model, system, tools, settings], [null, null, null, null]);
    },
  ),

  onSession('resume() keeps the settings of the branch however often it is resumed', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@2', { model: 'large-1', system: 'Be careful.' });
    const loop = { model: () => says('Done.') };
    const agent = noting();
    await branch.resume((context) => runLoop(loop, context));
    await branch.resume(agent, { prompt: 'And order 8?' });
    assert.deepEqual([agent.seen[0]?.model, agent.seen[0]?.system], ['large-1', 'Be careful.']);
    assert.deepEqual(
      agent.seen[0]?.messages.map(({ role }) => role),
      ['user', 'assistant'],
    );
  }),

  onSession(
    'resume() continues the conversation of the run: a second one goes on where the first ended',
    async (session) => {
      await refunded(session);
      const { branch } = await (await session.fork('main@2', { name: 'x' })).resume(
        littleAgent({ model: refunding(), tools: { refund: countedRefund() } }),
        { effects: 'run' },
      );
      const agent = noting();
      await session.branch(branch).resume(agent, { prompt: 'Thanks.' });
      assert.deepEqual(
        agent.seen[0]?.messages.map(({ role }) => role),
        ['user', 'assistant', 'tool', 'assistant'],
      );
      assert.equal(agent.seen[0]?.prompt?.content, 'Thanks.');
      const { messages, lanes } = await session.at('x').fold(conversation);
      assert.deepEqual([messages.length, lanes.length], [5, 1]);
      const started = await all(session.at('x').replay({ filter: { types: ['run.started'] } }));
      const resumed = started.map(({ data }) => data['resumed'] as { run: string; framework: string } | undefined);
      assert.deepEqual(
        resumed.map((held) => held?.framework),
        [undefined, 'little', 'function'],
      );
      assert.equal(resumed[1]?.run, 'run-1');
      assert.equal(resumed[2]?.run, started[1]?.run);
    },
  ),

  onSession('resume() between a call and its result executes the pending call, and records it', async (session) => {
    await refunded(session);
    // 1 run, 2 message, 3 and 4 the model asks for the tool
    const branch = await session.fork('main@4', { name: 'x' });
    const refund = countedRefund();
    const models: number[] = [];
    const loop = {
      tools: { refund },
      model: ({ messages }: { messages: readonly Message[] }) => {
        models.push(messages.length);
        return says('Done.');
      },
    };
    const { result, reused } = await branch.resume(littleAgent(loop), { effects: 'run' });
    assert.deepEqual([result, reused, refund.made.length], ['Done.', 0, 1]);
    assert.deepEqual(models, [3], 'question, call and result');
    const { messages } = await session.at('x').fold(conversation);
    assert.deepEqual(
      messages.map(({ message }) => message?.['role']),
      ['user', 'assistant', 'tool', 'assistant'],
    );
  }),

  onSession('resume() sends the answer that an edit gave to a pending call, and does not make it', async (session) => {
    await refunded(session);
    const refund = countedRefund();
    const branch = await session.fork('main@5', {
      edits: [{ kind: 'toolResult', call: 'c1', output: { refunded: false } }],
    });
    const seen: Message[] = [];
    const loop = {
      tools: { refund },
      model: ({ messages }: { messages: readonly Message[] }) => {
        seen.push(...messages);
        return says('It was refused.');
      },
    };
    await branch.resume(littleAgent(loop));
    assert.equal(refund.made.length, 0);
    assert.deepEqual(seen.at(-1), {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'refund', output: { refunded: false } }],
    });
  }),

  onSession('resume() takes the edited answer of a call that the model asked for and nobody began', async (session) => {
    await refunded(session);
    const refund = countedRefund();
    const edits = [{ kind: 'toolResult', call: 'c1', output: { refunded: false } }] as const;
    const branch = await session.fork('main@4', { edits });
    const agent = noting();
    await branch.resume(agent);
    assert.deepEqual([agent.seen[0]?.pending, refund.made], [[], []]);
    assert.deepEqual(agent.seen[0]?.messages.at(-1), {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'refund', output: { refunded: false } }],
    });
    assert.equal((await branch.verify()).ok, true);
  }),

  onSession(
    'resume() executes a pending call with its edited arguments, and the model reads those',
    async (session) => {
      await refunded(session);
      for (const point of ['main@4', 'main@5']) {
        const edits = [{ kind: 'toolInput', call: 'c1', input: { order: 7, amount: 50 } }] as const;
        const branch = await session.fork(point, { edits });
        const refund = countedRefund();
        const asked: Message[] = [];
        const model = ({ messages }: { messages: readonly Message[] }) => {
          asked.push(...messages);
          return says('Done.');
        };
        await branch.resume(littleAgent({ model, tools: { refund } }), { effects: 'run' });
        assert.deepEqual(refund.made, [{ order: 7, amount: 50 }], point);
        assert.deepEqual(toolCallsIn(asked[1] ?? null)[0]?.input, { order: 7, amount: 50 }, point);
      }
      const later = await session.fork('main@8', { edits: [{ kind: 'toolInput', call: 'c1', input: { order: 8 } }] });
      const { messages } = await later.fold(conversation);
      assert.deepEqual(
        toolCallsIn(messages[1]?.message ?? null)[0]?.input,
        { order: 8 },
        'in every list that holds it',
      );
    },
  ),

  onSession('resume() gives pending calls to an agent that cannot execute one by itself', async (session) => {
    await refunded(session);
    const agent = noting();
    await (await session.fork('main@4')).resume(agent);
    assert.deepEqual(agent.seen[0]?.pending, [{ call: 'c1', name: 'refund', input: { order: 7, amount: 500 } }]);
    assert.equal(agent.seen[0]?.prompt, undefined);
  }),

  onSession(
    'resume() tells the model of a pending call that failed, or of a tool that is not there',
    async (session) => {
      await refunded(session);
      const failing = { call: () => Promise.reject(new Error('no connection')) };
      const seen: (Message | undefined)[] = [];
      const model = ({ messages }: { messages: readonly Message[] }) => {
        seen.push(messages.at(-1));
        return says('Sorry.');
      };
      await (await session.fork('main@4')).resume(littleAgent({ model, tools: { refund: failing } }), {
        effects: 'run',
      });
      await (await session.fork('main@4')).resume(littleAgent({ model }, { callTool: () => undefined }), {
        effects: 'run',
      });
      const outputs = seen.map(
        (message) => (message?.content as { output: { message: string }; isError: boolean }[] | undefined)?.[0],
      );
      assert.deepEqual(
        outputs.map((part) => [part?.isError, part?.output.message]),
        [
          [true, 'no connection'],
          [true, 'There is no tool "refund"'],
        ],
      );
    },
  ),

  onSession('resume() takes out what an edit left dangling, and says so (T15 included)', async (session) => {
    const thought = {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Which order?' },
      ],
    };
    const asked = { role: 'user', content: 'Refund it.' };
    await session.append(
      [
        { type: 'run.started' },
        { type: 'message.added', data: { message: asked } },
        { type: 'call.started', data: { call: 'm1', kind: 'model', name: 'a', request: { messages: [asked] } } },
        { type: 'call.ended', data: { call: 'm1', kind: 'model', name: 'a', outcome: 'ok', message: thought } },
        { type: 'message.added', data: { message: { role: 'user', content: 'Order 7.' } } },
      ].map((event) => ({ agent: 'support', run: 'r', ...event })),
    );
    const handed = async (options: { model?: string }, own?: string) => {
      const seen: ResumeContext[] = [];
      const resume = async (context: ResumeContext) => void seen.push(context);
      await (await session.fork('main', options)).resume({
        framework: 'x',
        resume,
        ...given({ model: own }),
      });
      return seen[0] as ResumeContext;
    };
    const rules = ({ repairs }: ResumeContext) => repairs.map(({ rule }) => rule);
    assert.deepEqual((await handed({})).messages[1], thought, 'the model that wrote it reads it');
    const other = await handed({ model: 'b' });
    assert.deepEqual(rules(other), ['foreign-reasoning', 'prompt-once']);
    assert.deepEqual(other.messages[1], { role: 'assistant', content: [{ type: 'text', text: 'Which order?' }] });
    assert.deepEqual(
      rules(await handed({}, 'b')),
      ['foreign-reasoning', 'prompt-once'],
      'also where the agent has its own',
    );
    assert.deepEqual(rules(await handed({ model: 'a' }, 'b')), ['prompt-once']);
  }),

  onSession('resume() refuses where nothing waits for an answer, and what is no agent', async (session) => {
    await refunded(session);
    const empty = await session.fork('main@0');
    await refuses('resume.nothing', () => empty.resume(noting()));
    await refuses('resume.nothing', () => session.resume(noting()));
    await refuses('agent.invalid', () => session.resume({} as never));
    await refuses('branch.not-found', () => session.branch('main@2').resume(noting()));
    assert.equal((await session.branch(empty.name).resume(noting(), { prompt: 'Hello.' })).text, 'heard Hello.');
    const alone = { framework: 'x', goesOnAlone: true, resume: async () => 'went on' };
    assert.equal((await session.resume(alone)).result, 'went on');
  }),

  onSession('resume() gives run to the agent unchanged, and records what of it is JSON', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@2');
    const given = { maxRetries: 2, schema: () => 'not JSON' };
    let handed: unknown;
    const agent = {
      framework: 'x',
      name: 'other',
      resume: async (_: ResumeContext, run: typeof given) => void (handed = run),
    };
    await branch.resume(agent, { run: given });
    assert.equal(handed, given);
    const [started] = await all(branch.replay({ after: 3, filter: { types: ['run.started'] } }));
    const { options, framework, with: name, run } = (started?.data['resumed'] ?? {}) as Record<string, unknown>;
    assert.deepEqual([framework, name, run], ['x', 'other', 'run-1']);
    assert.equal((options as { maxRetries: number }).maxRetries, 2);
    assert.equal(started?.agent, 'support', 'it goes on as the agent whose conversation it is');
  }),

  onSession('resume() at the question of a later run hands over the conversation before it', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['One?', 'Two?']);
    const asked = await (await session.findLast({ types: ['message.added'] }))?.locate();
    const agent = noting();
    await (await session.at({ seq: asked?.seq ?? 0 }).fork({ prompt: 'Three?' })).resume(agent);
    assert.deepEqual(
      agent.seen[0]?.messages.map((message) => textOf(message)),
      ['One?', 'Yes.'],
    );
    assert.equal(agent.seen[0]?.prompt?.content, 'Three?');
  }),

  onSession('resume() hands it over again when the first try failed before it asked anything', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['One?', 'Two?']);
    const asked = await (await session.findLast({ types: ['message.added'] }))?.locate();
    const branch = await session.at({ seq: asked?.seq ?? 0 }).fork();
    const agent = noting();
    const broken = (): Promise<never> => Promise.reject(new Error('no connection'));
    await assert.rejects(branch.resume(broken), /no connection/);
    await assert.rejects(branch.resume(broken, { prompt: 'Three?' }), /no connection/);
    await branch.resume(agent);
    assert.deepEqual(
      [...(agent.seen[0]?.messages ?? []), agent.seen[0]?.prompt ?? null].map((message) => textOf(message)),
      ['One?', 'Yes.', 'Two?', 'Three?'],
    );
  }),

  onSession('resume() says something new after what was pending, not in between', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@4', { name: 'x' });
    const seen: string[] = [];
    const model = ({ messages }: { messages: readonly Message[] }) => {
      seen.push(messages.map(({ role }) => role).join(' '));
      return says('Done.');
    };
    const agent = littleAgent({ model, tools: { refund: countedRefund() } });
    const { repairs } = await branch.resume(agent, { prompt: 'And hurry.', effects: 'run' });
    await branch.resume(agent, { prompt: 'Thanks.' });
    assert.deepEqual([seen, repairs], [['user assistant tool user', 'user assistant tool user assistant user'], []]);
  }),

  onSession('resume() masks what it records', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@2');
    const mask = (event: { data?: unknown }) => JSON.parse(JSON.stringify(event).replaceAll('secret', '***'));
    await branch.resume(noting(), { prompt: 'The secret is out.', run: { key: 'secret' }, mask });
    assert.equal(JSON.stringify(await own(session, branch.name)).includes('secret'), false);
  }),
];
