import assert from 'node:assert/strict';
import { limits } from '../../src/core/limits.ts';
import type { AgentFunction, ResumeContext } from '../../src/core/recording/agent.ts';
import { conversation } from '../../src/projections/conversation.ts';
import { asks, littleAgent, refunding, says } from './little-agent.ts';
import { lastRun, refunded } from './refund-story.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** The cases of `session.resume` when a run does not finish. */
export const stopping: readonly VerbCase[] = [
  onSession('resume() that fails leaves a branch that says so and can be resumed again', async (session) => {
    const digest = await refunded(session);
    const branch = await session.fork('main@2', { name: 'x' });
    const broken = littleAgent({ model: () => Promise.reject(new Error('overloaded')) });
    await assert.rejects(branch.resume(broken), /overloaded/);
    const failed = await lastRun(session, 'x');
    assert.deepEqual([failed?.status, failed?.resumed?.['run']], ['error', 'run-1']);
    assert.equal((await session.locate()).digest, digest);
    const again = await branch.resume(littleAgent({ model: () => says('Done.') }));
    assert.equal(again.result, 'Done.');
    assert.equal((await session.at('x').fold(conversation)).messages.length, 2);
  }),

  onSession(
    'resume() that is aborted or out of time leaves a branch that says so and can be resumed again',
    async (session) => {
      const digest = await refunded(session);
      const stop = new AbortController();
      const waiting = littleAgent({
        tools: {
          refund: {
            effect: 'idempotent',
            call: (_, signal) =>
              new Promise((_resolve, reject) => {
                signal?.addEventListener('abort', () => reject(new Error('gone')));
                // During the run, however slow the store is.
                stop.abort(new Error('enough'));
              }),
          },
        },
        model: refunding(),
      });
      const branch = await session.fork('main@2', { name: 'x' });
      const aborted = await refuses('resume.aborted', () => branch.resume(waiting, { signal: stop.signal }));
      assert.match(aborted.message, /enough/);
      assert.equal((await lastRun(session, 'x'))?.status, 'aborted');
      const late = await refuses('resume.timeout', () =>
        branch.resume(waiting, { timeoutMs: 50, prompt: 'Try again.' }),
      );
      assert.deepEqual(late.details, { session: 'demo', branch: 'x', timeoutMs: 50 });
      assert.equal((await lastRun(session, 'x'))?.status, 'aborted');
      await refuses('resume.aborted', () => branch.resume(waiting, { signal: AbortSignal.abort() }));
      assert.equal((await session.locate()).digest, digest);
      const done = await branch.resume(littleAgent({ model: () => says('Done.') }), { prompt: 'Never mind.' });
      assert.equal(done.result, 'Done.');
    },
  ),

  onSession('resume() does not wait for an agent that does not stop', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@2', { name: 'x' });
    await refuses('resume.timeout', () => branch.resume(() => new Promise(() => undefined), { timeoutMs: 200 }));
    assert.equal((await lastRun(session, 'x'))?.status, 'aborted');
  }),

  ...(
    [
      ['model calls', { modelCalls: 2 }, /2 of 2 model calls/],
      ['tokens', { tokens: 200 }, /220 of 200 tokens/],
      ['cost', { costUsd: 0.02 }, /0\.02 of 0\.02 dollars/],
    ] as const
  ).map(([what, budget, message]) =>
    onSession(`resume() stops at its budget of ${what}, says so, and can be resumed again`, async (session) => {
      await refunded(session);
      const branch = await session.fork('main@2', { name: 'x' });
      let asked = 0;
      const endless = littleAgent({
        tools: { look: { effect: 'pure', call: () => 'nothing' } },
        model: () => asks('look', { at: ++asked }, `l${asked}`),
      });
      const error = await refuses('budget.exceeded', () => branch.resume(endless, { budget }));
      assert.match(error.message, message);
      assert.equal(asked, 2);
      assert.equal((await lastRun(session, 'x'))?.status, 'budget');
      const done = await branch.resume(littleAgent({ model: () => says('Done.') }));
      assert.equal(done.result, 'Done.');
    }),
  ),

  onSession('resume() cannot keep to a cost that it does not know', async (session) => {
    await refunded(session);
    const agent: AgentFunction = async ({ recorder }) => {
      const ask = () => recorder.call({ kind: 'model', name: 'unpriced' }, () => 'x');
      await ask();
      await ask();
    };
    const branch = await session.fork('main@2');
    const error = await refuses('budget.exceeded', () => branch.resume(agent, { budget: { costUsd: 1 } }));
    assert.match(error.message, /price of a call is unknown/);
  }),

  onSession('resume() says when an agent that swallowed the end of its budget came to a result', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@2', { name: 'x' });
    const agent: AgentFunction<string> = async ({ recorder }) =>
      recorder.call({ kind: 'model', name: 'm' }, () => 'x').catch(() => 'stopped early');
    const resumed = await branch.resume(agent, { budget: { modelCalls: 0 } });
    assert.deepEqual([resumed.outcome, resumed.result], ['budget', 'stopped early']);
    assert.equal((await lastRun(session, 'x'))?.status, 'budget');
  }),

  onSession('resume() counts what could not be recorded, and fails for it only if told to', async (session) => {
    await refunded(session);
    const agent: AgentFunction<string> = async ({ recorder }) => {
      recorder.event({ type: 'branch.forked' });
      return 'done';
    };
    const { report, result } = await (await session.fork('main@2')).resume(agent);
    assert.deepEqual([report.failed, result], [1, 'done']);
    const failing = await session.fork('main@2');
    await refuses('recording.failed', () => failing.resume(agent, { onFailure: 'fail' }));
  }),

  onSession('resume() lets an agent that was left behind make no more calls (T10)', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@2', { name: 'x' });
    const made: string[] = [];
    const late = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<unknown>();
    const agent: AgentFunction = async ({ recorder }) => {
      await late.promise;
      const start = { kind: 'tool', name: 'charge', effect: 'irreversible', input: { order: 8 } } as const;
      await recorder.call(start, () => made.push('charge')).then(refused.resolve, refused.resolve);
    };
    await refuses('resume.timeout', () => branch.resume(agent, { timeoutMs: 20 }));
    late.resolve();
    assert.equal(((await refused.promise) as { readonly code?: string }).code, 'resume.timeout');
    assert.deepEqual(made, []);
  }),

  onSession('resume() runs with options that are too large to record', async (session) => {
    await refunded(session);
    const branch = await session.fork('main@2', { name: 'x' });
    const run = { picture: 'x'.repeat(limits.appendBytesMax + 1) };
    const { result } = await branch.resume(async (_, options: typeof run) => options.picture.length, { run });
    assert.equal(result, limits.appendBytesMax + 1);
    const { resumed } = (await lastRun(session, 'x')) ?? {};
    assert.deepEqual([resumed?.['run'], resumed?.['options']], ['run-1', '[not recorded: too large]']);
  }),

  onSession('resume() keeps the end of a call that was under way when another one was refused', async (session) => {
    await session.append({
      type: 'message.added',
      agent: 'support',
      data: { message: { role: 'user', content: 'Go.' } },
    });
    const sent = Promise.withResolvers<string>();
    const agent = async ({ recorder }: ResumeContext): Promise<unknown> => {
      const mail = recorder.call({ kind: 'tool', name: 'mail', call: 'c1', input: {} }, () => sent.promise);
      const pay = recorder.call({ kind: 'tool', name: 'pay', effect: 'irreversible', input: {} }, () => 'paid');
      return Promise.all([mail, pay.finally(() => setTimeout(() => sent.resolve('sent'), 5))]);
    };
    await refuses('effect.refused', () => session.resume(agent));
    const events = await all(session.replay());
    assert.deepEqual(
      events.slice(-2).map(({ type, data }) => [type, data['call'], data['outcome']]),
      [
        ['call.ended', 'c1', 'ok'],
        ['run.ended', undefined, 'error'],
      ],
    );
  }),
];
