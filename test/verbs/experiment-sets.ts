import assert from 'node:assert/strict';
import { given } from '../../src/core/json.ts';
import { textOf } from '../../src/core/message/message.ts';
import type { ResumeContext } from '../../src/core/recording/agent.ts';
import type { Judge } from '../../src/engine/experimenting/experiment-options.ts';
import type { ExperimentProgress } from '../../src/engine/experimenting/experiment-result.ts';
import type { Reprise } from '../../src/engine/reprise.ts';
import { countedRefund, littleAgent, recordLoop, refunding, says } from './little-agent.ts';
import { all, onSession, refuses, type VerbCase } from './verb-case.ts';

/** Records a question in each of so many sessions, `s1`, `s2` and so on. */
async function questions(reprise: Reprise, count: number): Promise<readonly string[]> {
  const sessions = Array.from({ length: count }, (_, index) => `s${index + 1}`);
  for (const id of sessions)
    await recordLoop(await reprise.createSession(id), { model: () => says('Yes.') }, [`Is it ${id}?`]);
  return sessions;
}

/** An agent that answers with its system prompt and the question, and counts its runs. */
function echoing(): { readonly agent: (context: ResumeContext) => Promise<string>; runs: number } {
  const counted = {
    runs: 0,
    agent: async ({ prompt, system }: ResumeContext) => {
      counted.runs++;
      return `${system ?? 'plain'}: ${prompt === undefined ? '' : textOf(prompt)}`;
    },
  };
  return counted;
}

const two = [{ name: 'as-is' }, { name: 'brief', system: 'brief' }] as const;

/** The cases of experiments that score, judge, run on sets, and are continued. */
export const experimentSets: readonly VerbCase[] = [
  onSession('experiment() takes passes, scores and reasons from a check', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    const answers = [true, { passed: false, reason: 'too long', scores: { brief: 0.25 } }, 0.5, { brief: 1, kind: 2 }];
    const variants = answers.map((_, index) => ({ name: `v${index}` }));
    const { rows, variants: summaries } = await session.at('main@2').experiment({
      variants,
      agent: echoing().agent,
      check: ({ variant }) => answers[Number(variant.slice(1))] ?? false,
    });
    assert.deepEqual(
      rows.map(({ passed, scores, reason }) => [passed, scores, reason]),
      [
        [true, {}, null],
        [false, { brief: 0.25 }, 'too long'],
        [null, { score: 0.5 }, null],
        [null, { brief: 1, kind: 2 }, null],
      ],
    );
    const [brief] = summaries[1]?.scores ?? [];
    assert.deepEqual([brief?.name, brief?.mean, brief?.low, brief?.count], ['brief', 0.25, null, 1]);
  }),

  onSession('experiment() counts an answer that is nonsense as neither pass nor failure', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    const answers = [undefined, 'yes', Number.NaN, { passed: 'maybe' }];
    const variants = answers.map((_, index) => ({ name: `v${index}` }));
    for (const ask of ['check', 'judge'] as const) {
      const { rows, variants: summaries } = await session.at('main@2').experiment({
        variants,
        agent: echoing().agent,
        [ask]: ({ variant }: { readonly variant: string }) => answers[Number(variant.slice(1))] as never,
      });
      for (const row of rows) assert.deepEqual([row.outcome, row.passed, row.errorCode], ['ok', null, 'check.invalid']);
      assert.ok(summaries.every(({ checked, verdict }) => checked === 0 && verdict === 'unchecked'));
    }
  }),

  onSession('experiment() records the calls of a judge on a branch of its own, within its budget', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    const judge: Judge = async ({ text }, { recorder }) => {
      const messages = [{ role: 'user' as const, content: `Is this good? ${text}` }];
      const ask = () =>
        recorder.call(
          { kind: 'model', name: 'judge-1', request: { messages } },
          () => says('good'),
          (message) => ({ message, usage: { inputTokens: 10, outputTokens: 1 }, cost: 0.01 }),
        );
      await ask();
      if (text.startsWith('brief')) await ask();
      return { passed: true, reason: 'it is good', scores: { good: 1 } };
    };
    const options = { variants: two, agent: echoing().agent, judge, judgeBudget: { modelCalls: 1 } };
    const { rows } = await session.at('main@2').experiment(options);
    assert.deepEqual(
      rows.map(({ passed, reason, scores, judge: by, errorCode }) => [passed, reason, scores, by, errorCode]),
      [
        [true, 'it is good', { good: 1 }, { branch: 'as-is-1-judge', modelCalls: 1, cost: 0.01 }, null],
        [null, null, {}, { branch: 'brief-1-judge', modelCalls: 1, cost: 0.01 }, 'budget.exceeded'],
      ],
    );
    const judged = await all(session.at('as-is-1-judge').replay({ filter: { agent: 'judge' } }));
    assert.deepEqual(
      judged.map(({ type }) => type),
      ['run.started', 'call.started', 'call.ended', 'run.ended'],
    );
    assert.equal((await all(session.at('as-is-1').replay({ filter: { agent: 'judge' } }))).length, 0);
  }),

  onSession('reprise.experiment() compares variants session by session', async (_session, reprise) => {
    const sessions = await questions(reprise, 7);
    const { agent } = echoing();
    const progress: ExperimentProgress[] = [];
    const result = await reprise.experiment({
      sessions,
      variants: [...two, { name: 'again' }],
      agent,
      parallel: 3,
      check: ({ text }) => ({ passed: text.startsWith('brief'), scores: { length: -text.length } }),
      onProgress: (now) => progress.push(now),
    });
    assert.deepEqual([result.total, result.rows.length, result.sessions.length], [21, 21, 7]);
    const [first, brief, again] = result.variants;
    assert.deepEqual([first?.verdict, brief?.verdict, again?.verdict], ['baseline', 'tooFew', 'tooFew']);
    assert.deepEqual(brief?.paired, { better: 7, worse: 0, equal: 0 });
    assert.deepEqual(again?.paired, { better: 0, worse: 0, equal: 7 });
    assert.equal(brief?.needed, 8, 'four comparisons with seven sessions cannot decide');
    assert.deepEqual([brief?.interval?.rate, brief?.scores[0]?.name, brief?.scores[0]?.count], [1, 'length', 7]);
    assert.equal(progress.length, 42);
    assert.deepEqual([progress[0]?.leftMs, progress.at(-1)?.leftMs, progress.at(-1)?.done], [null, 0, 21]);
    const decided = await reprise.experiment({
      sessions,
      variants: two,
      agent,
      check: ({ text }) => text.startsWith('brief'),
    });
    assert.deepEqual([decided.variants[1]?.verdict, decided.variants[1]?.flapping], ['better', false]);
  }),

  onSession(
    'reprise.experiment() finds the point of each session, and says where there is none',
    async (_session, reprise) => {
      const refund = countedRefund();
      const asked = await reprise.createSession('asked');
      await recordLoop(asked, { model: refunding(), tools: { refund } }, ['Hello.', 'Refund order 7.']);
      await questions(reprise, 1);
      const sessions = ['asked', 's1', 'gone'];
      const run = (at: Parameters<typeof reprise.experiment>[0]['at']) =>
        reprise.experiment({
          sessions,
          variants: [{ name: 'a' }],
          agent: littleAgent({ model: () => says('Ok.') }),
          ...given({ at }),
        });
      const first = await run(undefined);
      assert.deepEqual(
        first.sessions.map(({ point, errorCode }) => [point?.seq ?? null, errorCode]),
        [
          [2, null],
          [2, null],
          [null, 'session.not-found'],
        ],
      );
      assert.deepEqual(
        first.rows.map(({ session: id, outcome }) => [id, outcome]),
        [
          ['asked', 'ok'],
          ['s1', 'ok'],
        ],
      );
      const before = await run({ beforeCall: 'refund' });
      assert.deepEqual(
        before.sessions.map(({ point, errorCode }) => [point?.seq ?? null, errorCode]),
        [
          [2, null],
          [null, 'point.out-of-range'],
          [null, 'session.not-found'],
        ],
        'before the model call that asked for it, which is at 3',
      );
      const filter = { types: ['message.added'], text: 'Refund' };
      const after = await run({ after: filter });
      const seq = (await (await asked.find(filter))?.locate())?.seq ?? 0;
      assert.equal(after.sessions[0]?.point?.seq, seq);
      assert.equal((await run({ before: filter })).sessions[0]?.point?.seq, seq - 1);
      assert.equal((await run({ point: 'main@1' })).sessions[1]?.point?.seq, 1);
      await refuses('experiment.invalid', () =>
        reprise.experiment({ sessions: [], variants: two, agent: async () => '' }),
      );
      await refuses('option.invalid', () =>
        reprise.experiment({ sessions, variants: two, agent: async () => '', att: 1 } as never),
      );
    },
  ),

  onSession(
    'findExperiment() rebuilds the result from the receipts, which a fork does not inherit',
    async (session, reprise) => {
      const sessions = await questions(reprise, 2);
      const check = ({ text }: { readonly text: string }) => text.startsWith('brief');
      const result = await reprise.experiment({ sessions, variants: two, repeats: 2, agent: echoing().agent, check });
      const found = await reprise.findExperiment(result.id);
      const sorted = (rows: typeof result.rows) =>
        rows.toSorted((a, b) => `${a.session} ${a.branch}`.localeCompare(`${b.session} ${b.branch}`));
      assert.deepEqual(sorted(found.rows), sorted(result.rows));
      assert.deepEqual(found.variants, result.variants);
      const first = await reprise.session('s1');
      assert.ok('reprise.experiment' in (await first.at('brief-1').metadata()));
      const fork = await first.fork('brief-1', { name: 'fork' });
      assert.deepEqual(await first.branch(fork.name).metadata(), {});
      assert.equal((await reprise.findExperiment(result.id)).rows.length, 8);
      await refuses('experiment.not-found', () => reprise.findExperiment('none'));
      assert.equal(session.id, 'demo');
    },
  ),

  onSession(
    'a stopped experiment is continued, and no branch with a result is run again',
    async (_session, reprise) => {
      const sessions = await questions(reprise, 3);
      const echo = echoing();
      const stop = new AbortController();
      let id = '';
      const options = { sessions, variants: two, repeats: 2, parallel: 1, check: () => true };
      const stopped = await reprise.experiment({
        ...options,
        agent: async (context, run) => {
          if (echo.runs === 5) {
            stop.abort();
            await new Promise(() => undefined);
          }
          void run;
          return echo.agent(context);
        },
        signal: stop.signal,
        onProgress: (now) => {
          id = now.id;
        },
      });
      assert.equal(stopped.rows.filter(({ outcome }) => outcome === 'ok').length, 5);
      assert.equal(stopped.rows.filter(({ errorCode }) => errorCode === 'resume.aborted').length, 7);
      const dones: number[] = [];
      const finished = await reprise.experiment({
        ...options,
        agent: echo.agent,
        continue: id,
        onProgress: ({ done }) => void dones.push(done),
      });
      assert.deepEqual([echo.runs, finished.rows.length, dones[0], dones.at(-1)], [12, 12, 5, 12]);
      assert.ok(finished.rows.every(({ outcome }) => outcome === 'ok'));
      assert.equal(finished.id, id);
      const again = await reprise.experiment({ ...options, agent: echo.agent, continue: id });
      assert.deepEqual([echo.runs, again.rows.length], [12, 12]);
      const more = await reprise.experiment({ ...options, repeats: 3, agent: echo.agent, continue: id });
      assert.deepEqual([echo.runs, more.rows.length], [18, 18]);
      assert.equal((await reprise.findExperiment(id)).rows.length, 18);
    },
  ),

  onSession('an experiment is continued only with the variants it began with', async (session, reprise) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    const { agent } = echoing();
    const { id } = await session.at('main@2').experiment({ variants: two, agent });
    const other = [{ name: 'as-is' }, { name: 'brief', system: 'briefer' }];
    await refuses('experiment.changed', () =>
      session.at('main@2').experiment({ variants: other, agent, continue: id }),
    );
    await refuses('experiment.changed', () => session.at('main@1').experiment({ variants: two, agent, continue: id }));
    await refuses('experiment.not-found', () =>
      session.at('main@2').experiment({ variants: two, agent, continue: 'x' }),
    );
    assert.equal((await reprise.findExperiment(id)).rows.length, 2);
  }),

  onSession('a budget for the whole stops what is left, and a larger one continues it', async (session) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    const agent = littleAgent({ model: () => says('Ok.') });
    const options = { variants: two, repeats: 2, parallel: 2, agent };
    const short = await session.at('main@2').experiment({ ...options, budgetTotal: { modelCalls: 3 } });
    const outcomes = short.rows.map(({ outcome }) => outcome).sort();
    assert.deepEqual(outcomes, ['budget', 'ok', 'ok', 'ok']);
    const { rows } = await session.at('main@2').experiment({
      ...options,
      continue: short.id,
      budgetTotal: { modelCalls: 4 },
    });
    assert.deepEqual(
      rows.map(({ outcome, modelCalls }) => [outcome, modelCalls]),
      Array(4).fill(['ok', 1]),
    );
    await refuses('option.invalid', () =>
      session.at('main@2').experiment({ ...options, budgetTotal: { calls: 1 } as never }),
    );
  }),

  onSession('what an experiment keeps of a branch is masked', async (session, reprise) => {
    await recordLoop(session, { model: () => says('Yes.') }, ['Well?']);
    const secret = 'AKIAIOSFODNN7EXAMPLE';
    const masking = await session.masker();
    const isMasked = JSON.stringify(masking({ type: 'note.added', data: { text: secret } })).includes(secret) === false;
    const { id } = await session.at('main@2').experiment({
      variants: [{ name: 'a' }],
      agent: async () => `The key is ${secret}.`,
      check: () => ({ passed: false, reason: `It says ${secret}` }),
    });
    const [row] = (await reprise.findExperiment(id)).rows;
    assert.equal(JSON.stringify(row).includes(secret), !isMasked);
  }),
];
