import assert from 'node:assert/strict';
import type { Message } from '../../src/core/message/message.ts';
import type { ExperimentProgress } from '../../src/engine/experimenting/experiment-result.ts';
import { asks, countedRefund, lastOf, littleAgent, recordLoop, refunding, says } from './little-agent.ts';
import { noting, own, refunded } from './refund-story.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** The cases of `session.retry`. */
export const retry: readonly VerbCase[] = [
  onSession('retry() forks at the start of the run, adds to its prompt, and compares', async (session) => {
    const digest = await refunded(session);
    const refund = countedRefund();
    const agent = littleAgent({ model: refunding(), tools: { refund } });
    const extraContext = 'Refund at most 50.';
    const retried = await session.at('@run:run-1').retry(agent, { extraContext, model: 'large-1', name: 'again' });
    assert.deepEqual(refund.made, [{ order: 7, amount: 50 }]);
    assert.equal(retried.text, 'Done for: Refund order 7.\n\nRefund at most 50.');
    assert.equal(retried.original.text, 'Done for: Refund order 7.');
    assert.deepEqual([retried.original.run, retried.original.ref, retried.branch], ['run-1', 'demo@9', 'again']);
    assert.equal(retried.lineage.reason, 'retry of run run-1');
    assert.equal(retried.diff.identical, false);
    assert.equal(retried.diff.divergedAt?.left, 2);
    assert.equal((await session.locate()).digest, digest);
  }),

  onSession('retry() without a change does the same again, and says so', async (session) => {
    await refunded(session);
    const agent = littleAgent({ model: refunding(), tools: { refund: countedRefund() } });
    const { diff, reused } = await session.retry(agent);
    assert.deepEqual([diff.identical, diff.divergedAt, reused], [true, null, 1]);
  }),

  onSession('retry() finds the run at a point, and a later run with the conversation before it', async (session) => {
    await recordLoop(session, { model: (asked) => says(`${lastOf(asked).question} ${asked.messages.length}`) }, [
      'One?',
      'Two?',
    ]);
    const agent = noting();
    await session.at('main@3').retry(agent);
    await session.retry(agent, { extraContext: 'Really.' });
    assert.deepEqual(
      agent.seen.map(({ prompt, messages }) => [prompt?.content, messages.length]),
      [
        ['One?', 0],
        ['Two?\n\nReally.', 2],
      ],
    );
  }),

  onSession('retry() finds a prompt that only the first model call holds', async (session) => {
    const recorder = await session.record({ agent: 'support', facts: false });
    const prompt: Message = { role: 'user', content: 'Hello?' };
    await recorder.run({ run: 'r' }, () =>
      recorder.call(
        { kind: 'model', name: 'm', request: { messages: [prompt] } },
        () => says('Hello.'),
        (message) => ({ message }),
      ),
    );
    await recorder.close();
    const agent = noting();
    await session.at('@run:r').retry(agent, { extraContext: 'In French.' });
    assert.equal(agent.seen[0]?.prompt?.content, 'Hello?\n\nIn French.');
    assert.deepEqual(agent.seen[0]?.messages, []);
  }),

  onSession('retry() tries a task again by what it led to, also among others', async (session) => {
    const recorder = await session.record({ facts: false });
    const work = (task: string) =>
      recorder.task({ task, prompt: `Do ${task}.` }, () =>
        recorder.run({ agent: task, run: `run-${task}` }, async () => {
          recorder.message({ role: 'user', content: `Do ${task}.` });
          await recorder.call(
            { kind: 'model', name: 'm', request: { messages: [{ role: 'user', content: `Do ${task}.` }] } },
            () => says(`Did ${task}.`),
            (message) => ({ message }),
          );
        }),
      );
    await Promise.all([work('t1'), work('t2')]);
    await recorder.close();
    const agent = noting();
    const retried = await session.retry(agent, { task: 't2', extraContext: 'Well.' });
    assert.equal(agent.seen[0]?.prompt?.content, 'Do t2.\n\nWell.');
    assert.deepEqual([retried.original.task, retried.original.text], ['t2', 'Did t2.']);
    assert.equal(retried.lineage.reason, 'retry of task t2');
  }),

  onSession('retry() gives the prompt of a task that never asked a model', async (session) => {
    await session.append({ type: 'task.started', data: { task: 't1', prompt: 'Fix it.' } });
    const agent = noting();
    await session.retry(agent, { task: 't1', extraContext: 'Soon.' });
    assert.equal(agent.seen[0]?.prompt?.content, 'Fix it.\n\nSoon.');
  }),

  onSession('retry() compares the results that the ends state, and claims and ends the task', async (session) => {
    const recorder = await session.record({ facts: false });
    const prompt: Message = { role: 'user', content: 'Add 2 and 3.' };
    await recorder.task({ task: 't1', prompt: 'Add 2 and 3.' }, () =>
      recorder.run({ agent: 'worker', run: 'r1' }, async () => {
        recorder.message(prompt);
        const start = { kind: 'model', name: 'm', request: { messages: [prompt] } } as const;
        await recorder.call(
          start,
          () => says('Thinking.'),
          (message) => ({ message }),
        );
        return { sum: 5 };
      }),
    );
    await recorder.close();
    const run = await session.at('@run:r1').retry(async () => ({ sum: 5 }));
    assert.deepEqual([run.original.text, run.text], ['{"sum":5}', '{"sum":5}']);
    const task = await session.retry(
      { framework: 'little', name: 'second', resume: async () => 'Five.' },
      { task: 't1' },
    );
    assert.deepEqual([task.original.text, task.text], ['{"sum":5}', 'Five.']);
    const told = (await own(session, task.branch)).filter(({ type }) => type.startsWith('task.'));
    assert.deepEqual(
      told.map(({ type, agent, data }) => [type, agent, data['task'], data['outcome'], data['result']]),
      [
        ['task.claimed', 'second', 't1', undefined, undefined],
        ['task.ended', 'second', 't1', 'ok', 'Five.'],
      ],
    );
    const failing = (): Promise<never> => Promise.reject(new Error('no connection'));
    await assert.rejects(session.retry(failing, { task: 't1', name: 'failed' }), /no connection/);
    const failed = (await own(session, 'failed')).at(-1);
    assert.deepEqual([failed?.type, failed?.data['outcome']], ['task.ended', 'error']);
  }),

  onSession(
    'retry() records the run of a task as its consequence, so that it can be retried again',
    async (session) => {
      const recorder = await session.record({ facts: false });
      await recorder.task({ task: 't1', prompt: 'Add 2 and 3.' }, async () => {
        recorder.event({ type: 'task.claimed', agent: 'worker', data: { task: 't1' } });
        await recorder.run({ agent: 'worker', run: 'r1' }, async () => {
          const request = { messages: [{ role: 'user', content: 'Add 2 and 3.' }] } as const;
          await recorder.call(
            { kind: 'model', name: 'm', request },
            () => says('Five.'),
            (message) => ({ message }),
          );
        });
      });
      await recorder.close();
      const [handed] = await all(session.replay({ filter: { types: ['task.started'] } }));
      const same = await session.retry(async () => 'Five.', { task: 't1', name: 'same', agentName: 'worker' });
      const events = await own(session, same.branch);
      assert.equal(events.find(({ type }) => type === 'run.started')?.cause, handed?.id);
      // The view already says that this agent took the task.
      assert.equal(events.filter(({ type }) => type === 'task.claimed').length, 0);
      const other = await session
        .at('same')
        .retry(async () => 'V.', { task: 't1', name: 'other', agentName: 'second' });
      assert.deepEqual([other.original.text, other.text], ['Five.', 'V.']);
      const claims = (await own(session, 'other')).filter(({ type }) => type === 'task.claimed');
      assert.deepEqual(
        claims.map(({ agent }) => agent),
        ['second'],
      );
    },
  ),

  onSession('retry() ends a task whose run could not begin, and masks what it says of a failure', async (session) => {
    await session.append({ type: 'task.started', data: { task: 't1', prompt: 'Fix it.' } });
    const stopped = AbortSignal.abort(new Error('not now'));
    await assert.rejects(session.retry(noting(), { task: 't1', name: 'unbegun', signal: stopped }));
    const unbegun = (await own(session, 'unbegun')).at(-1);
    assert.deepEqual([unbegun?.type, unbegun?.data['outcome']], ['task.ended', 'aborted']);
    const failing = (): Promise<never> => Promise.reject(new Error('refused: password=hunter2-hunter2'));
    await assert.rejects(session.retry(failing, { task: 't1', name: 'failed' }), /refused/);
    const failed = (await own(session, 'failed')).at(-1);
    assert.equal(failed?.type, 'task.ended');
    assert.match(JSON.stringify(failed.data['error']), /refused/);
    assert.doesNotMatch(JSON.stringify(failed.data), /hunter2/);
  }),

  onSession('retry() refuses what is not there', async (session) => {
    await session.append({ type: 'note.added', data: { text: 'x' } });
    await refuses('point.out-of-range', () => session.at('@run:none').retry(noting()));
    await refuses('point.out-of-range', () => session.retry(noting(), { task: 'none' }));
    await refuses('point.out-of-range', () => session.retry(noting()));
    await refuses('branch.not-found', () => session.at('other@run:x').retry(noting()));
  }),
];

/** The cases of `session.experiment`. */
export const experiment: readonly VerbCase[] = [
  onSession(
    'experiment() makes a branch for each variant and repeat, compares them, and leaves the original',
    async (session) => {
      const digest = await refunded(session);
      const refund = countedRefund();
      const progress: ExperimentProgress[] = [];
      const result = await session.at('main@2').experiment({
        variants: [
          { name: 'as-is' },
          { name: 'limited', prompt: 'Refund order 7, at most 50.' },
          { name: 'hot', settings: { temperature: 1 }, system: 'Be bold.', model: 'large-1' },
        ],
        repeats: 2,
        agent: littleAgent({ model: refunding(), tools: { refund } }),
        check: ({ text, outcome }) => outcome === 'ok' && text.includes('at most 50'),
        onProgress: (told) => progress.push(told),
        reason: 'too much',
      });
      assert.deepEqual(
        result.rows.map(({ branch, outcome, passed, modelCalls }) => [branch, outcome, passed, modelCalls]),
        [
          ['as-is-1', 'ok', false, 2],
          ['limited-1', 'ok', true, 2],
          ['hot-1', 'ok', false, 2],
          ['as-is-2', 'ok', false, 2],
          ['limited-2', 'ok', true, 2],
          ['hot-2', 'ok', false, 2],
        ],
      );
      assert.deepEqual(result.rows[0]?.divergedAt, null, 'unchanged, it did the same');
      assert.deepEqual(result.rows[1]?.divergedAt, { left: 2, right: 4 });
      const [asIs, limited] = result.variants;
      assert.deepEqual(
        [asIs?.verdict, limited?.verdict, limited?.passed, limited?.checked],
        ['baseline', 'tooFew', 2, 2],
      );
      assert.ok((limited?.interval?.low ?? 1) < 0.5, 'two repeats do not say much');
      assert.deepEqual([limited?.mean.modelCalls, limited?.mean.tokens, limited?.mean.cost], [2, 220, 0.02]);
      assert.equal(progress.length, 12);
      assert.deepEqual([progress.at(-1)?.done, progress.at(-1)?.total], [6, 6]);
      assert.equal(refund.made.length, 1, 'what one variant did, no other repeats');
      const hot = await all(session.at('hot-1').replay({ filter: { types: ['settings.changed'] } }));
      assert.deepEqual(
        hot.map(({ data }) => data),
        [{ system: 'Be bold.' }, { model: 'large-1' }, { settings: { temperature: 1 } }],
      );
      const tree = await session.tree();
      assert.deepEqual(tree.children.find(({ branch }) => branch === 'limited-2')?.reason, 'too much: limited, 2 of 2');
      assert.equal((await session.locate()).digest, digest);
    },
  ),

  onSession('experiment() tells a difference from flapping', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    let flaps = 0;
    const model = ({ system }: { readonly system: string | null }) =>
      says(system === 'bad' ? 'No.' : system === 'flapping' && flaps++ % 2 === 0 ? 'No.' : 'Yes.');
    const { variants } = await session.at('main@2').experiment({
      variants: [{ name: 'good' }, { name: 'bad', system: 'bad' }, { name: 'flapping', system: 'flapping' }],
      repeats: 6,
      agent: littleAgent({ model }),
      check: ({ text }) => text === 'Yes.',
    });
    assert.deepEqual(
      variants.map(({ passed, flapping, verdict }) => [passed, flapping, verdict]),
      [
        [6, false, 'baseline'],
        [0, false, 'worse'],
        [3, true, 'undecided'],
      ],
    );
  }),

  onSession('experiment() goes on with the others when one branch fails, and names are free', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    await session.fork('main@2', { name: 'good-1' });
    const { rows } = await session.at('main@2').experiment({
      variants: [
        { name: 'good' },
        { name: 'bad', with: 'broken' },
        { name: 'odd', edits: [{ kind: 'drop', seq: 99 }] },
      ],
      agent: littleAgent({ model: () => says('Yes.') }),
      agents: { broken: () => Promise.reject(new Error('overloaded')) },
      check: ({ outcome }) => outcome === 'ok',
    });
    assert.deepEqual(
      rows.map(({ branch, outcome, passed, error }) => [branch, outcome, passed, error?.slice(0, 16) ?? null]),
      [
        ['good-1-2', 'ok', true, null],
        ['bad-1', 'error', false, 'overloaded'],
        ['odd-1', 'error', null, 'Cannot find seq '],
      ],
    );
  }),

  onSession('experiment() runs no more at a time than it may, and stops when told to', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    let now = 0;
    let most = 0;
    const stop = new AbortController();
    let isFull = (): void => undefined;
    const full = new Promise<void>((resolve) => (isFull = resolve));
    const agent = async (): Promise<string> => {
      most = Math.max(most, ++now);
      if (now === 3) isFull();
      await full;
      now--;
      return 'Yes.';
    };
    const { rows } = await session.at('main@2').experiment({
      variants: [{ name: 'a' }],
      repeats: 9,
      parallel: 3,
      agent,
      signal: stop.signal,
      onProgress: ({ done }) => void (done === 6 && stop.abort()),
    });
    assert.equal(most, 3);
    assert.equal(rows.filter(({ outcome }) => outcome === 'ok').length >= 6, true);
    assert.equal(rows.at(-1)?.outcome, 'aborted');
  }),

  onSession('experiment() makes an irreversible call only if its policy says so, and then once', async (session) => {
    await recordLoop(session, { model: () => says('Which order?') }, ['Refund it.']);
    const made: string[] = [];
    const refund = {
      effect: 'irreversible',
      call: async () => {
        made.push('refund');
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 'done';
      },
    } as const;
    const agent = (context: Parameters<ReturnType<typeof littleAgent>['resume']>[0]) => {
      const script = [asks('refund', { order: 7 }, `${context.branch}-call`), says('Done.')];
      return littleAgent({ model: () => script.shift() as Message, tools: { refund } }).resume(context, undefined);
    };
    const three = { repeats: 3, parallel: 3, agent };
    const refused = await session.at('main@2').experiment({ variants: [{ name: 'a' }], ...three });
    assert.deepEqual(
      refused.rows.map(({ outcome, errorCode }) => [outcome, errorCode]),
      Array(3).fill(['error', 'effect.refused']),
    );
    assert.match(refused.rows[0]?.error ?? '', /an experiment does not make it either/);
    assert.equal(made.length, 0);
    const once = await session.at('main@2').experiment({ variants: [{ name: 'b' }], ...three, effects: 'once' });
    const again = await session.at('main@2').experiment({ variants: [{ name: 'c' }], ...three });
    for (const { rows } of [once, again]) assert.ok(rows.every(({ outcome }) => outcome === 'ok'));
    assert.equal(made.length, 1, 'and every other branch is answered from the record');
  }),

  onSession('experiment() refuses what is not well formed before it makes a branch', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    const agent = noting();
    const run = (options: object) =>
      session.at('main@2').experiment({ variants: [{ name: 'a' }], agent, ...options } as never);
    await refuses('experiment.invalid', () => run({ variants: [] }));
    await refuses('experiment.invalid', () => run({ repeats: 0 }));
    await refuses('experiment.invalid', () => run({ agent: undefined }));
    await refuses('agent.not-found', () => run({ variants: [{ name: 'a', with: 'nobody' }] }));
    await refuses('agent.invalid', () => run({ agent: {} }));
    await refuses('limit.exceeded', () => run({ repeats: 1_001 }));
    await refuses('limit.exceeded', () => run({ parallel: 65 }));
    assert.deepEqual((await session.tree()).children, []);
  }),

  onSession('experiment() continues when its progress callback fails', async (session) => {
    await refunded(session);
    const onProgress = (): void => {
      throw new Error('no terminal');
    };
    const variants = [{ name: 'a' }, { name: 'b' }];
    const { rows } = await session.at('main@2').experiment({ variants, agent: noting(), onProgress });
    assert.deepEqual(
      rows.map(({ variant, outcome, error }) => [variant, outcome, error]),
      [
        ['a', 'ok', null],
        ['b', 'ok', null],
      ],
    );
  }),

  onSession('experiment() keeps what came of a branch that cannot be compared', async (session) => {
    await refunded(session);
    const check = async (): Promise<boolean> => {
      await session.delete({ confirm: session.id });
      return true;
    };
    const { rows } = await session.at('main@2').experiment({ variants: [{ name: 'a' }], agent: noting(), check });
    assert.deepEqual([rows[0]?.outcome, rows[0]?.passed, rows[0]?.divergedAt], ['ok', true, null]);
  }),
];
