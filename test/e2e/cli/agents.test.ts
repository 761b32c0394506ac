/** Commands that run agents: resume, retry, experiment. The agents are plain functions of a configuration. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Event, openReprise } from '../../../src/index.ts';
import { until } from '../../until.ts';
import { agentConfig, dropFixtures, type Place, refundPlace, writeAgentFiles } from './run.ts';
import { program } from './started.ts';

let place: Place;
beforeEach(async () => {
  place = await refundPlace();
  writeAgentFiles(place);
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

/** Agents beside `support`: one that fails, one that never ends, one that refunds, one that is made when needed. */
const moreAgents = `${agentConfig.replace('export default', 'const held =')}
const refunding = async ({ recorder }) => {
  const input = { order: 7, amount: 500 };
  const output = await recorder.call({ kind: 'tool', name: 'refund', effect: 'irreversible', input }, async () => 'made again');
  return JSON.stringify(output);
};
const waiting = ({ recorder, prompt, signal }) =>
  recorder.call({ kind: 'model', name: 'slow-1', request: { messages: [prompt] } }, () =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
const failing = async (context) => { throw new TypeError('the provider is gone ' + context.branch); };
const made = async () => ({ framework: 'own', name: 'maker', resume: async (context, run) => 'made ' + JSON.stringify(run ?? null) });
const talking = async ({ recorder, prompt, messages, model }) => recorder.call(
  { kind: 'model', name: model ?? 'small-1', request: { messages: [...messages, prompt] } },
  async () => 'I heard ' + (prompt?.content ?? 'nothing'),
  (text) => ({ message: { role: 'assistant', content: text } }));
export default { ...held, agents: { ...held.agents, refunding, waiting, failing, made, talking } };
`;

const errorIn = (stderr: string): { code: string; message: string; hint: string } =>
  (JSON.parse(stderr) as { error: { code: string; message: string; hint: string } }).error;

async function historyOf(ref: string): Promise<string> {
  return (await place.run(['replay', ref, '--json', '--raw'])).stdout;
}

const outcomeOf = async (ref: string): Promise<unknown> =>
  ((await place.json('fold', ref, 'summary'))['value'] as { outcome: unknown }).outcome;

describe('reprise resume', () => {
  test('continues a fork on the agent, records it there, and leaves the source as it was', async () => {
    const before = await historyOf('refund');
    await place.json('fork', 'refund@2', '--name', 'again', '--prompt', 'Only refund what was paid.');
    const { code, stdout, stderr } = await place.run(['resume', 'refund/again', '--with', 'support']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^refund\/again resumed on support: ok, 1 model call, 25 tokens, <\$0\.0001, \d/);
    expect(stdout).toContain('small-1, as ever: Only refund what was paid.');
    expect(stderr).toContain('reprise diff refund refund/again');
    expect(await historyOf('refund')).toBe(before);
    expect(await outcomeOf('refund/again')).toBe('ok');
    expect((await place.json('verify', 'refund/again'))['ok']).toBe(true);
  });

  test('--prompt, --run and the branch itself say what the agent is given', async () => {
    place.write('reprise.config.mjs', moreAgents);
    const said = await place.json('resume', 'refund/careful', '--with', 'support', '--prompt', 'And order 8?');
    expect(said).toMatchObject({
      text: 'small-1, Look the order up first.: And order 8?',
      outcome: 'ok',
      modelCalls: 1,
    });
    const made = await place.json('resume', 'refund/careful', '--with', 'made', '--prompt', 'x', '--run', '{"n":1}');
    expect(made['text']).toBe('made {"n":1}');
  });

  test('--user-turns recorded sends what the user said later on the original, and compares', async () => {
    place.write('reprise.config.mjs', moreAgents);
    await place.json('fork', 'refund@0', '--name', 'whole');
    const { code, stdout } = await place.run([
      'resume',
      'refund/whole',
      '--with',
      'talking',
      '--user-turns',
      'recorded',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/USER +NOW +ANSWER +TOOLS/);
    expect(stdout).toContain('I heard Order 7');
  });

  test('without a terminal, a call that cannot be taken back is refused, and the command that allows it is told', async () => {
    place.write('reprise.config.mjs', moreAgents);
    await place.json('fork', 'refund@2', '--name', 'again');
    const refused = await place.run(['resume', 'refund/again', '--with', 'refunding', '--json']);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(errorIn(refused.stderr)).toMatchObject({ code: 'effect.refused' });
    expect(errorIn(refused.stderr).hint).toContain('--effects refund=run');
    expect(await outcomeOf('refund/again')).toBe('error');
    for (const [policy, text] of [
      ['refund=reuse', '{"paid":50,"refunded":500}'],
      ['run', '"made again"'],
    ] as const) {
      const name = policy.replace('=', '-');
      await place.json('fork', 'refund@2', '--name', name);
      const done = await place.json('resume', `refund/${name}`, '--with', 'refunding', '--effects', policy);
      expect(done).toMatchObject({ outcome: 'ok', text });
    }
  });

  test('an agent that fails is told as its own failure, exit 3, and the branch can be resumed again', async () => {
    place.write('reprise.config.mjs', moreAgents);
    await place.json('fork', 'refund@2', '--name', 'again');
    const failed = await place.run(['resume', 'refund/again', '--with', 'failing']);
    expect([failed.code, failed.stdout]).toEqual([3, '']);
    expect(failed.stderr).toContain('the agent failed: the provider is gone again');
    expect(failed.stderr).toContain('reprise resume refund/again');
    expect(await outcomeOf('refund/again')).toBe('error');
    expect(await place.run(['resume', 'refund/again', '--with', 'support'])).toMatchObject({ code: 0 });
    expect(await outcomeOf('refund/again')).toBe('ok');
  });

  test('time and budget stop it: exit 1, and the branch says which', async () => {
    place.write('reprise.config.mjs', moreAgents);
    await place.json('fork', 'refund@2', '--name', 'again');
    const late = await place.run(['resume', 'refund/again', '--with', 'waiting', '--timeout', '0.2', '--json']);
    expect([late.code, errorIn(late.stderr).code]).toEqual([1, 'resume.timeout']);
    const costly = await place.run([
      'resume',
      'refund/again',
      '--with',
      'support',
      '--budget-model-calls',
      '0',
      '--json',
    ]);
    expect([costly.code, errorIn(costly.stderr).code]).toEqual([1, 'budget.exceeded']);
    expect(await outcomeOf('refund/again')).toBe('budget');
  });

  test('Ctrl-C stops the agent, the branch says so, and the exit code is 130', async () => {
    place.write('reprise.config.mjs', moreAgents);
    await place.json('fork', 'refund@2', '--name', 'again');
    const started = place.start(['resume', 'refund/again', '--with', 'waiting']);
    await until(async () => (await historyOf('refund/again')).includes('slow-1'));
    started.child.kill('SIGINT');
    expect(await started.ended()).toBe(130);
    expect(await outcomeOf('refund/again')).toBe('aborted');
    expect(await place.run(['resume', 'refund/again', '--with', 'support'])).toMatchObject({ code: 0 });
  });

  test.each([
    ['an agent that is not there', ['resume', 'refund', '--with', 'suport'], 1, 'Did you mean "support"?'],
    ['no agent, where there are several', ['resume', 'refund'], 1, '--with support'],
    ['a point in the past', ['resume', 'refund@3', '--with', 'support'], 2, 'reprise fork refund@3'],
    [
      'a policy that does not exist',
      ['resume', 'refund', '--with', 'support', '--effects', 'refund=rnu'],
      2,
      'Did you mean "run"?',
    ],
    ['no JSON', ['resume', 'refund', '--with', 'support', '--run', '{n}'], 2, '--run'],
    ['a time that is not positive', ['resume', 'refund', '--with', 'support', '--timeout', '-1'], 2, 'greater than 0'],
  ])('%s is answered with what to do', async (_, words, code, meant) => {
    place.write('reprise.config.mjs', moreAgents);
    const ran = await place.run(words);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(meant);
  });

  test('a branch on which everything is answered needs a prompt, and says so', async () => {
    await place.json('resume', 'refund/careful', '--prompt', 'x');
    const { code, stderr } = await place.run(['resume', 'refund/careful', '--json']);
    expect([code, errorIn(stderr).code]).toEqual([1, 'resume.nothing']);
  });

  test('the run says what it was started with: git, a digest of the configuration, program and versions', async () => {
    const as = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=trunk'];
    const git = (...words: string[]): string =>
      spawnSync('git', ['-C', place.folder, ...as, ...words], { encoding: 'utf8' }).stdout.trim();
    for (const words of [['init'], ['add', 'reprise.config.mjs'], ['commit', '-m', 'first']]) git(...words);
    await place.run(['fork', 'refund@2', '--name', 'again']);
    expect((await place.runAlone(['resume', 'refund/again', '--with', 'support'])).code).toBe(0);
    const events = (await historyOf('refund/again')).trim().split('\n');
    const started = events.map((line) => JSON.parse(line) as Event).findLast(({ type }) => type === 'run.started');
    const sha256 = createHash('sha256').update(agentConfig).digest('hex');
    expect(started?.data).toMatchObject({
      git: { branch: 'trunk', sha: git('rev-parse', 'HEAD'), dirty: true },
      configDigest: sha256,
      program: { command: expect.stringContaining('node'), arguments: expect.arrayContaining(['resume']) },
      versions: { node: expect.any(String), reprise: expect.any(String) },
    });
  });

  test('a model without a price costs nobody knows what: told as such, not as nothing', async () => {
    await place.run(['fork', 'refund@2', '--name', 'odd', '--model', 'odd-1']);
    const resumed = await place.run(['resume', 'refund/odd', '--with', 'support']);
    expect(resumed.stdout + resumed.stderr).toContain('cost unknown');
    const { stdout } = await place.run(['list', '--branches']);
    expect(stdout.split('\n').find((line) => line.includes('odd'))).toMatch(/ \? /);
    place.write('variants.json', [{ name: 'priced' }, { name: 'odd', model: 'odd-1' }]);
    const table = await place.run(['experiment', 'refund@2', '--variants', 'variants.json']);
    const rows = table.stdout.split('\n').map((line) => line.trim());
    expect(rows.filter((row) => row.startsWith('odd')).every((row) => row.includes(' ? '))).toBe(true);
    expect(rows.filter((row) => row.startsWith('priced')).every((row) => row.includes('$'))).toBe(true);
  });

  test('without a configuration it says so', async () => {
    place.write('reprise.config.mjs', 'export default {};');
    expect((await place.run(['resume', 'refund'])).stderr).toContain('Add it to the agents of the configuration.');
  });
});

/** Types a command at a terminal, as `script` of util-linux makes one, and then an answer. */
function atTerminal(words: string, answer: string): { readonly code: number | null; readonly screen: string } {
  const line = `"${process.execPath}" "${program}" ${words}`;
  // A machine without a terminal does not say which one it has, and unknown ones are not coloured.
  const env = place.env({ TERM: 'xterm-256color' });
  const options = { cwd: place.folder, env, input: `${answer}\n`, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], options);
  return { code: status, screen: stdout };
}

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;

describe.skipIf(!hasScript)('at a terminal', () => {
  test.each([
    ['r', 0, '"made again"'],
    ['u', 0, '"refunded":500'],
    ['n', 1, 'Cannot call "refund"'],
  ])('it asks about a call that cannot be taken back, and %s is done', async (answer, code, told) => {
    place.write('reprise.config.mjs', moreAgents);
    await place.json('fork', 'refund@2', '--name', 'again');
    const ran = atTerminal('resume refund/again --with refunding', answer);
    expect(ran.screen).toMatch(/wants to call tool "refund", which is irreversible:/);
    expect(ran.screen).toMatch(/It was already made at refund@\d, with outcome ok\./);
    expect(ran.screen).toContain(told);
    expect(ran.code).toBe(code);
  });

  test('retry waits for as long as it takes, shows what is going on, and colours what differs', async () => {
    const slow = moreAgents.replace("async () => 'I heard '", "async () => await later(3_000) + 'I heard '");
    const later = "const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms, ''));\n";
    place.write('reprise.config.mjs', later + slow);
    const { code, screen } = atTerminal('retry refund@run:run-1 --with talking --extra-context "It was a gift."', '');
    expect(code).toBe(0);
    expect(screen).toMatch(/\d\.\ds, 1 model call, small-1 …/);
    expect(screen).toMatch(/\u001b\[32m\+.*It was a gift/);
    expect(screen).toContain('\u001b[31m--- refund@7');
  });
});

describe('a person in the loop', () => {
  const cashiers = `${agentConfig.replace('export default', 'const held =')}
const cashier = async ({ recorder, pending }) => {
  for (const { call, name, input } of pending) {
    const said = await recorder.ask({ name: 'approval', about: call, input: { call, name, input } });
    if (said === undefined) return '';
    if (!said.approved) return 'denied: ' + said.reason;
    await recorder.call({ kind: 'tool', name, call, input }, () => 'paid');
  }
  const colour = await recorder.ask({ name: 'question', call: 'colour', input: 'Which colour?' });
  return colour === undefined ? '' : 'paid in ' + colour;
};
export default { ...held, agents: { cashier } };
`;

  /** Records an agent that waits for the approval of a call. */
  async function asking(id: string, agent: string): Promise<void> {
    const wanted = { type: 'tool-call', toolCallId: 'c7', toolName: 'pay', input: { order: 7 } };
    await using reprise = await openReprise(place.url);
    const session = await reprise.session(id, { create: true });
    const recorder = await session.record({ agent, facts: false });
    const message = { role: 'assistant', content: [wanted] } as never;
    await recorder.run({}, async () => {
      recorder.message({ role: 'user', content: 'Pay.' });
      await recorder.call(
        { kind: 'model', name: 'small-1', request: { messages: [] } },
        () => 1,
        () => ({ message }),
      );
      await recorder.ask({ name: 'approval', about: 'c7', input: { call: 'c7', name: 'pay', input: { order: 7 } } });
    });
    await recorder.close();
  }

  test('of two agents that wait for calls with one id, resume goes on with the one that is named', async () => {
    place.write('reprise.config.mjs', cashiers);
    for (const agent of ['cashier', 'clerk']) await asking('both', agent);
    const refused = await place.run(['resume', 'both', '--approve', 'c7']);
    expect(refused.stderr).toContain('"c7" waits for "cashier" and for "clerk"');
    expect(refused.stderr).toContain('--agent');
    const asked = await place.run(['resume', 'both', '--agent', 'cashier', '--approve', 'c7']);
    expect(asked.stdout).toContain('It waits for a person: question colour');
    const { waiting } = await place.json('show', 'both');
    expect(waiting).toMatchObject([
      { agent: 'clerk', about: 'c7' },
      { agent: 'cashier', call: 'colour' },
    ]);
  });

  test('list and show say what waits, and resume decides about it', async () => {
    place.write('reprise.config.mjs', cashiers);
    await asking('desk', 'cashier');
    expect((await place.run(['list'])).stdout).toContain('waiting: approval of "pay" (c7)');
    const shown = await place.run(['show', 'desk']);
    expect(shown.stdout).toContain('Waiting for a person');
    expect(shown.stdout).toContain('approval of "pay" (c7)');
    expect(shown.stderr).toContain('reprise resume desk --approve c7');
    expect((await place.json('show', 'desk'))['waiting']).toMatchObject([{ call: 'approval:c7', about: 'c7' }]);
    const stopped = await place.run(['resume', 'desk', '--json']);
    expect([stopped.code, errorIn(stopped.stderr).code]).toEqual([1, 'resume.waiting']);
    for (const [words, code] of [
      [['--answer', 'c7'], 'option.invalid'],
      [['--answer', 'c7={'], 'option.invalid'],
      [['--approve', 'c8'], 'resume.invalid'],
    ] as const) {
      const refused = await place.run(['resume', 'desk', ...words, '--json']);
      expect(errorIn(refused.stderr).code, words.join(' ')).toBe(code);
    }
    await place.json('fork', 'desk', '--name', 'no');
    expect((await place.json('resume', 'desk/no', '--deny', 'c7=Too late, sorry'))['text']).toBe(
      'denied: Too late, sorry',
    );
    const asked = await place.run(['resume', 'desk', '--approve', 'c7']);
    expect(asked.code).toBe(1);
    expect(asked.stdout).toContain('It waits for a person: question colour');
    expect(asked.stderr).toContain(`--answer 'colour="…"'`);
    expect((await place.json('resume', 'desk', '--answer', 'colour="red"'))['text']).toBe('paid in red');
  });
});

describe('what an agent prints', () => {
  const printing = `
console.log('loading the configuration');
async function support({ recorder }) {
  console.log('working on it');
  process.stdout.write('half a line, ');
  console.info('and the rest');
  setTimeout(() => console.log('too late'), 50);
  return recorder.call({ kind: 'model', name: 'small-1', request: { messages: [] } }, async () => 'Done.',
    (text) => ({ message: { role: 'assistant', content: text } }));
}
export default { agents: { support } };
`;
  const printed = ['loading the configuration', 'working on it', 'half a line, and the rest', 'too late'];

  test.each([
    ['resume', ['resume', 'refund/careful', '--prompt', 'Again.']],
    ['retry', ['retry', 'refund']],
    ['experiment', ['experiment', 'refund@2', '--variants', 'variants.json']],
  ])('goes to stderr: stdout of %s has only the answer', async (_, words) => {
    place.write('reprise.config.mjs', printing);
    const { code, stdout, stderr } = await place.runAlone([...words, '--json=object']);
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.any(Object)]);
    for (const text of printed) expect(stderr).toContain(text);
    const { stdout: read } = await place.runAlone([...words, '--effects', 'run']);
    for (const text of printed) expect(read).not.toContain(text);
  });
});

describe('reprise retry', () => {
  test('tries the run again on a branch of its own and shows both results; the original is untouched', async () => {
    place.write('reprise.config.mjs', moreAgents);
    const before = await historyOf('refund');
    const words = [
      'retry',
      'refund@run:run-1',
      '--with',
      'talking',
      '--model',
      'large-1',
      '--extra-context',
      'It was a gift.',
    ];
    const { code, stdout, stderr } = await place.run(words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^refund\/\S+ resumed on talking: ok/);
    expect(stdout).toContain('+++ refund/');
    expect(stdout).toContain('It was a gift');
    expect(stderr).toContain('The original is unchanged.');
    expect(await historyOf('refund')).toBe(before);
    const branch = /^refund\/(\S+)/.exec(stdout)?.[1] ?? '';
    expect(await historyOf(`refund/${branch}`)).toContain('large-1');
  });

  test('finds a task by its id, in whichever session it is', async () => {
    await using reprise = await place.open();
    const night = await reprise.createSession('night');
    await night.append([{ type: 'task.started', data: { task: 'T-1', prompt: 'Add the index.' } }]);
    await (await reprise.createSession('newer')).append({ type: 'note.added', data: { text: 'x' } });
    const words = ['retry', 'task:T-1', '--extra-context', 'Concurrently.'];
    const said = await place.json(...words);
    expect(said).toMatchObject({ session: 'night', text: 'small-1, as ever: Add the index.\n\nConcurrently.' });
    expect(await place.json('retry', 'night@task:T-1')).toMatchObject({ original: { task: 'T-1' } });
    expect(await place.run(['retry', 'task:T-9'])).toMatchObject({ code: 1, stdout: '' });
  });

  test('claims the task on the branch, ends it there, and compares the results that the ends state', async () => {
    await using reprise = await place.open();
    const night = await reprise.createSession('night');
    const recorder = await night.record({ facts: false });
    await recorder.task({ task: 'T-1', prompt: 'Add the index.' }, () =>
      recorder.run({ agent: 'worker', run: 'r1' }, async () => {
        recorder.message({ role: 'user', content: 'Add the index.' });
        const request = { messages: [{ role: 'user', content: 'Add the index.' }] } as const;
        await recorder.call(
          { kind: 'model', name: 'm', request },
          async () => 'Thinking.',
          (text) => ({ message: { role: 'assistant', content: text } }),
        );
        return 'Added it.';
      }),
    );
    await recorder.close();
    const { code, stdout } = await place.run(['retry', 'task:T-1', '--name', 'again']);
    expect(code).toBe(0);
    expect(stdout).toContain('[-Added-] [-it-].');
    expect(stdout).not.toContain('Thinking');
    const events = (await place.run(['replay', 'night/again', '--after', '3', '--json'])).stdout.trim().split('\n');
    const told = events.map(
      (line) => JSON.parse(line) as { type: string; causeSeq?: number; data: { result?: string } },
    );
    expect(told.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['task.claimed', 'run.started', 'run.ended', 'task.ended']),
    );
    expect(told.at(-1)).toMatchObject({ type: 'task.ended', data: { task: 'T-1', outcome: 'ok' } });
    expect(told.at(-1)?.data.result).toBe('small-1, as ever: Add the index.');
    expect(told.find(({ type }) => type === 'run.started')).toMatchObject({ causeSeq: 1 });
  });
});

describe('reprise experiment', () => {
  const words = ['experiment', 'refund@2', '--variants', 'variants.json'];

  test('runs every variant as often as asked for and tells outcome, cost, divergence and pass counts', async () => {
    const before = await historyOf('refund');
    const { code, stdout, stderr } = await place.run([...words, '--repeats', '2', '--check', 'grep -q pool']);
    expect(code).toBe(0);
    for (const branch of ['as-is-1', 'as-is-2', 'brief-1', 'brief-2']) expect(stdout).toContain(branch);
    expect(stdout).toMatch(/^as-is +2\/2 +0\/2 +0–66% +baseline/m);
    expect(stdout).toMatch(/^brief +2\/2 +2\/2 +34–100% +too few: 4 repeats needed/m);
    expect(stderr).toMatch(/reprise experiment show [0-9a-f]{12}/);
    expect(await historyOf('refund')).toBe(before);
  });

  test('in JSON there is a line for each branch, and then the variants', async () => {
    const { stdout } = await place.run([...words, '--json']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      lines
        .slice(0, -1)
        .map(({ branch }) => branch)
        .sort(),
    ).toEqual(['as-is-1', 'brief-1']);
    const sessions = [{ session: 'refund', point: { branch: 'main', seq: 2 }, original: 'refund', error: null }];
    expect(lines.at(-1)).toMatchObject({ total: 2, sessions });
  });

  test('variants may name agents of their own, and a failing one spoils no other', async () => {
    place.write('reprise.config.mjs', moreAgents);
    place.write('variants.json', {
      variants: [
        { name: 'one', with: 'support' },
        { name: 'two', with: 'failing' },
      ],
      repeats: 1,
      check: 'true',
    });
    const { code, stdout } = await place.run([...words, '--json']);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(code).toBe(0);
    expect(rows.find(({ variant }) => variant === 'one')).toMatchObject({ outcome: 'ok', passed: true, error: null });
    expect(rows.find(({ variant }) => variant === 'two')).toMatchObject({ outcome: 'error' });
  });

  test('of which no branch came to a result is not done: 3 if the agent failed, 1 if it was stopped', async () => {
    place.write('reprise.config.mjs', moreAgents);
    place.write('variants.json', [{ name: 'one', with: 'failing' }]);
    const failed = await place.run([...words, '--json']);
    expect(failed.code).toBe(3);
    expect(failed.stdout).toContain('"error":"the provider is gone one-1"');
    place.write('variants.json', [{ name: 'two', with: 'waiting' }]);
    expect((await place.run([...words, '--timeout', '0.1'])).code).toBe(1);
    expect((await place.run(['experiment', '--help'])).stdout).toContain('3 if an agent failed');
  });

  test.each([
    ['a file that is not there', 'gone.json', 'Cannot read "gone.json"'],
    ['a field that is misspelt', [{ name: 'a', promt: 'x' }], '"variants[0].promt" is not a field'],
    ['no JSON', '[', 'not JSON'],
  ])('%s is wrong usage', async (_, held, told) => {
    const file = held === 'gone.json' ? held : place.write('bad.json', held);
    const { code, stderr } = await place.run(['experiment', 'refund@2', '--variants', file]);
    expect(code).toBe(2);
    expect(stderr).toContain(told);
  });
});

describe('reprise tree', () => {
  test('shows who grew from whom, why, and with which edits; with a branch only its own line', async () => {
    await place.json('fork', 'refund/careful@4', '--name', 'deeper', '--reason', 'still wrong', '--drop', '4');
    await place.json('fork', 'refund@1', '--name', 'aside');
    const { stdout } = await place.run(['tree', 'refund', '--edits']);
    expect(stdout).toMatch(/├─ careful @2 .*it guessed .*settings\.changed {2}system: Look the order/);
    expect(stdout).toMatch(/│ {2}└─ deeper @4 .*still wrong .*event\.reverted/);
    expect(stdout).toMatch(/└─ aside @1/);
    const own = (await place.run(['tree', 'refund/deeper'])).stdout;
    expect(own).not.toContain('aside');
    expect(own).toMatch(/refund[^]*careful[^]*deeper/);
  });
});
