import assert from 'node:assert/strict';
import type { RepriseError } from '../../src/core/error.ts';
import { coding } from '../../src/projections/coding.ts';
import { cliTest, parserTest, recordStory } from './coding-story.ts';
import { onSession, refuses, type VerbCase } from './verb-case.ts';

/** The cases of recording a coding session. */
export const codingRecords: readonly VerbCase[] = [
  onSession(
    'the verbs of a coding session give events, and the fold gives failures, constraints and risks',
    async (session) => {
      await recordStory(session.coding);
      const known = await session.fold(coding);
      assert.equal(known.goal?.title, 'Fix parser and CLI failures');
      assert.deepEqual(
        known.constraints.map(({ key, value, strength }) => [key, value, strength]),
        [['edit_tests', false, 'hard']],
      );
      assert.deepEqual(
        known.failures.map(({ test, status, how, patchCount }) => [test, status, how, patchCount]),
        [
          [parserTest, 'resolved', 'absent', 1],
          [cliTest, 'active', 'failed', 0],
        ],
      );
      assert.deepEqual(known.failures[0]?.settledBy, { seq: 9, run: 'run-2' });
      assert.deepEqual(
        known.runs.map(({ run, agent, title, outcome }) => [run, agent, title, outcome]),
        [
          ['run-1', 'coder', 'Fix the parser', 'ok'],
          ['run-2', 'coder', 'Fix the CLI', 'ok'],
        ],
      );
      assert.deepEqual([known.files.length, known.decisions.length, known.risks.length, known.testRuns], [1, 1, 1, 3]);
      const first = await session.at('@run:run-1').fold(coding);
      assert.deepEqual(
        first.failures.map(({ status }) => status),
        ['active'],
      );
    },
  ),

  onSession(
    'every recording verb returns its event, in the run that is named, else the open one, else in none',
    async (session) => {
      const { coding: verbs } = session;
      assert.equal((await verbs.fact({ text: 'Outside any run.' })).run, undefined);
      const started = await verbs.startRun({ title: 'Look around' });
      assert.deepEqual([started.type, started.data['title']], ['run.started', 'Look around']);
      const events = [
        await verbs.goal({ title: 'Look' }),
        await verbs.constraint({ key: 'k', text: 'Keep it.', strength: 'soft' }),
        await verbs.testRun({ command: 'make', exitCode: null, failures: [{ testId: 'a::x' }] }),
        await verbs.patch({ file: 'a.ts', diff: '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-a\n+b\n' }),
        await verbs.decision({ decision: 'Go' }),
        await verbs.procedure({ title: 'Test', text: 'make check' }),
        await verbs.evidence({ title: 'Log', content: { line: 3 } }),
        await verbs.risk({ title: 'Bad' }),
        await verbs.fact({ text: 'In the run.' }),
      ];
      assert.deepEqual(new Set(events.map(({ run }) => run)), new Set([started.run]));
      assert.deepEqual(
        events.map(({ type }) => type).join(' '),
        'goal.set constraint.set tests.ran file.patched decision.made procedure.added evidence.added risk.quarantined note.added',
      );
      assert.deepEqual([events[2]?.data['exitCode'], events[2]?.data['finished']], [128, false]);
      const ended = await verbs.endRun({ outcome: 'error', result: 'stopped' });
      assert.deepEqual([ended.data['outcome'], ended.data['result'], ended.run], ['error', 'stopped', started.run]);
      assert.match(String(ended.data['fingerprint']), /^rf1:/);
      assert.equal((await verbs.as('reviewer').fact({ text: 'Mine.' })).agent, 'reviewer');
    },
  ),

  onSession('command() records a process call, and one that ran tests is no change of files', async (session) => {
    const { coding: verbs } = session;
    const fails = { command: 'npm test', exitCode: 1, failures: [{ testId: 'a::x' }] };
    const passes = { command: 'npm test', exitCode: 0, passed: ['a::x'] };
    const status = async (): Promise<unknown> => (await session.fold(coding)).failures[0]?.status;
    await verbs.testRun(fails);
    const tests = await verbs.command({ command: ['npm', 'test'] });
    const ended = await tests.end({ exitCode: 0, output: 'ok' });
    assert.deepEqual([ended.data['outcome'], ended.data['output']], ['ok', { exitCode: 0, text: 'ok' }]);
    await verbs.testRun({ ...passes, call: tests.call });
    assert.equal(await status(), 'flaky');
    await verbs.testRun(fails);
    const other = await verbs.command({ command: ['make', 'fix'] });
    await other.end({ exitCode: null, signal: 'SIGKILL' });
    await verbs.testRun(passes);
    assert.equal(await status(), 'resolved');
    await refuses('option.invalid', () => verbs.command({ command: [] }));
  }),

  onSession('coding of a branch records on it, and what it records stays there', async (session) => {
    await session.coding.goal({ title: 'One' });
    const branch = await session.fork('main', { name: 'other' });
    await branch.coding.goal({ title: 'Two' });
    const { coding: verbs } = session;
    assert.equal((await session.at('other').fold(coding)).goal?.title, 'Two');
    assert.equal((await session.fold(coding)).goal?.title, 'One');
    assert.match((await session.branch('other').coding.context()).text, /Two/);
    assert.doesNotMatch((await verbs.context()).text, /Two/);
  }),

  onSession('a rewind, a revert and an edit of a test run change what is failing', async (session) => {
    await recordStory(session.coding);
    await session.revert(10);
    assert.deepEqual(
      (await session.fold(coding)).failures.map(({ status }) => status),
      ['resolved'],
    );
    await session.redo();
    assert.deepEqual((await session.fold(coding)).failures.length, 2);
    await session.edit({
      kind: 'replace',
      seq: 4,
      event: { type: 'tests.ran', data: { command: 'pytest', exitCode: 0, passed: [] } },
    });
    assert.deepEqual(
      (await session.fold(coding)).failures.map(({ test }) => test),
      [cliTest],
    );
  }),
];

/** The cases of bad input. */
export const codingRefusals: readonly VerbCase[] = [
  onSession('a coding verb refuses two open runs, an unknown run and one that has ended', async (session) => {
    const { coding: verbs } = session;
    await refuses('run.not-found', () => verbs.endRun());
    await verbs.startRun({ run: 'a' });
    await verbs.startRun({ run: 'b' });
    const several = await refuses('run.ambiguous', () => verbs.goal({ title: 'Which?' }));
    assert.match(String(several.hint), /a, b/);
    assert.equal((await verbs.goal({ title: 'This one', run: 'b' })).run, 'b');
    await verbs.endRun({ run: 'a' });
    assert.equal((await verbs.goal({ title: 'The open one' })).run, 'b');
    await refuses('run.not-found', () => verbs.goal({ title: 'Late', run: 'a' }));
    await refuses('run.not-found', () => verbs.goal({ title: 'Nowhere', run: 'c' }));
    await refuses('run.exists', () => verbs.startRun({ run: 'a' }));
    const open = await refuses('run.exists', () => verbs.startRun({ run: 'b' }));
    assert.match(`${open.message} ${open.hint}`, /open already.*end it first/);
    for (const look of [
      () => verbs.replayRun('c'),
      () => verbs.diffRuns('a', 'c'),
      () => verbs.exportRun('c', 'nowhere'),
    ])
      await refuses('run.not-found', look);
  }),

  onSession(
    'verbs that run at the same time: one of two starts and ends of a run, and every prepared request',
    async (session) => {
      const { coding: verbs } = session;
      const codes = async (attempts: readonly Promise<unknown>[]): Promise<string[]> =>
        (await Promise.allSettled(attempts))
          .map((each) => (each.status === 'rejected' ? (each.reason as RepriseError).code : 'ok'))
          .sort();
      const start = { run: 'same' };
      assert.deepEqual(await codes([verbs.startRun(start), verbs.startRun(start)]), ['ok', 'run.exists']);
      const requests = [1, 2, 3, 4, 5].map((each) => verbs.prepareRequest({ model: 'm', input: `Part ${each}.` }));
      assert.deepEqual(new Set(await codes(requests)), new Set(['ok']));
      assert.deepEqual(await codes([verbs.endRun(start), verbs.endRun(start)]), ['ok', 'run.not-found']);
      assert.equal((await session.locate()).seq, 7);
    },
  ),

  onSession(
    'a coding verb refuses a failure without an id, and everything else that it cannot mean',
    async (session) => {
      const { coding: verbs } = session;
      const run = { command: 'npm test', exitCode: 1 };
      const bad: readonly (() => Promise<unknown>)[] = [
        () => verbs.testRun({ ...run, failures: [{ testId: '' }] }),
        () => verbs.testRun({ ...run, failures: [{ name: 'adds' } as never] }),
        () => verbs.testRun({ ...run, failures: ['a::x' as never] }),
        () => verbs.testRun({ ...run, exitCode: 0.5 }),
        () => verbs.testRun({ ...run, exitCode: null, finished: true }),
        () => verbs.testRun({ ...run, selection: 7 as never }),
        () => verbs.testRun({ ...run, selection: ['a', 7 as never] }),
        () => verbs.testRun({ ...run, failurs: [] } as never),
        () => verbs.testRun({ ...run, command: ' ' }),
        () => verbs.goal({ title: '' }),
        () => verbs.constraint({ key: 'a', strength: 'firm' as never }),
        () => verbs.patch({ file: 'a' }),
        () =>
          verbs.patch({ file: 'a', diff: '--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- b\n+++ b\n@@ -1 +1 @@\n-a\n+b\n' }),
        () => verbs.patch({ file: 'a', after: 7 as never }),
        () => verbs.evidence({}),
        () => verbs.context({ budgetTokens: -1 }),
        () => verbs.context({ counter: { name: '' } as never }),
        () => verbs.context({ currentGoal: 'x', counter: { name: 'own', count: () => Number.NaN } }),
        () => verbs.files({ paths: [7 as never] }),
        () => verbs.prepareRequest({ model: 'm', input: 'x', maxOutputTokens: 0 }),
        () => verbs.exportRun('a', ''),
        () => verbs.configure({ budgetTokens: 1.5 }),
        () => verbs.replay({ modle: 'x' } as never),
      ];
      for (const attempt of bad) await refuses('option.invalid', attempt);
      const cyclic: Record<string, unknown> = {};
      cyclic['self'] = cyclic;
      await refuses('json.cyclic', () => verbs.evidence({ content: cyclic as never }));
      await refuses('event.not-found', () => verbs.risk({ title: 'Sets nothing aside', event: 'unknown' }));
      await refuses('limit.exceeded', () => verbs.risk({ title: 'Huge', content: 'x'.repeat(2_000_000) }));
      assert.equal((await session.locate()).seq, 0);
    },
  ),

  onSession(
    'an exit code against the list: a listed failure is active, and silence after trouble says nothing',
    async (session) => {
      const { coding: verbs } = session;
      const status = async (): Promise<unknown> => (await session.fold(coding)).failures.map((held) => held.status);
      await verbs.testRun({ command: 'npm test', exitCode: 0, failures: [{ testId: 'a::x' }] });
      assert.deepEqual(await status(), ['active']);
      await verbs.patch({ file: 'a', after: 'b' });
      await verbs.testRun({ command: 'npm test', exitCode: 1 });
      await verbs.testRun({ command: 'npm test; true', exitCode: 0 });
      assert.deepEqual(await status(), ['active']);
      await verbs.testRun({ command: 'npm test', exitCode: 0 });
      assert.deepEqual(await status(), ['resolved']);
    },
  ),
];
