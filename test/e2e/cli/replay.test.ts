/** `replay`: which events, in which order, at which pace, as a table and as JSON; the list and filter lines of the seeds' B4. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../../../src/index.ts';
import { demoPlace, dropFixtures, type Place, refundEvents, shapeOf, skipOnServer } from './run.ts';

let place: Place;

beforeAll(async () => {
  place = await demoPlace();
  await using reprise = await place.open();
  const session = await reprise.createSession('refund', { metadata: { owner: 'ada' } });
  await session.append(refundEvents());
  await session.append({ type: 'note.added', agent: 'support-2', data: { text: 'A "quoted", text\nof two lines' } });
  await session.revert(6, { reason: 'it guessed' });
  await recordShifts(await reprise.createSession('shifts'));
});
afterAll(() => {
  place[Symbol.dispose]();
  dropFixtures();
});

const longTask = 'migrate-the-orders-2026-04-15';
const longAgent = 'backend-engineer-of-the-night-4f2a';
const longText = `${'It took a while. '.repeat(9)}The end.`;

/** Two tasks at once, of which one fails: 14 events. */
async function recordShifts(session: Session): Promise<void> {
  const recorder = await session.record({ facts: false });
  recorder.event({ type: 'agent.spawned', agent: longAgent, data: { role: 'backend' } });
  const work = (task: string, run: string, outcome: 'ok' | 'error'): Promise<unknown> =>
    recorder
      .task({ task, prompt: 'Do it.' }, () =>
        recorder.run({ agent: longAgent, run }, async () => {
          await recorder.call({ kind: 'tool', name: 'psql', input: { task } }, async () => 'done');
          if (outcome === 'error') throw new Error('lock timeout');
          return longText;
        }),
      )
      .catch(() => undefined);
  await Promise.all([work(longTask, 'shift-1', 'ok'), work('T-2', 'shift-2', 'error')]);
  recorder.event({ type: 'agent.ended', agent: longAgent, data: { outcome: 'aborted' } });
  await recorder.close();
}

interface Shown {
  readonly seq: number;
  readonly type: string;
  readonly branch: string;
  readonly data: Record<string, unknown>;
}

async function events(...words: readonly string[]): Promise<Shown[]> {
  const { code, stdout, stderr } = await place.run(['replay', ...words, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Shown);
}

const seqs = async (...words: readonly string[]): Promise<number[]> =>
  (await events(...words)).map((event) => event.seq);

describe('which events', () => {
  test.each<[string, string[], number[]]>([
    ['a session, through its view', ['refund'], [1, 2, 3, 4, 5, 8, 9]],
    ['a point of it', ['refund@4'], [1, 2, 3, 4]],
    ['before a seq', ['refund@before:3'], [1, 2]],
    ['a turn', ['demo@turn:1'], [1, 2, 3, 4, 5, 6]],
    ['a run', ['refund@run:run-1'], [1, 2, 3, 4, 5, 6, 7, 8]],
    ['the beginning', ['refund@0'], []],
    ['the last session', ['latest@2'], [1, 2]],
    ['--raw has the marker and what it took out', ['refund', '--raw'], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['--event-type, several', ['refund', '--event-type', 'run.started,note.added'], [2, 9]],
    ['--agent is exact', ['refund', '--agent', 'support'], [2, 3, 4, 5, 8]],
    ['--agent with ~ is a part', ['refund', '--agent', '~PORT-'], [9]],
    ['--run', ['demo', '--run', 'nobody'], []],
    ['--turn', ['demo', '--turn', '2'], [7, 8, 9, 10, 11]],
    ['--kind', ['demo', '--kind', 'tool', '--turn', '2'], [10, 11]],
    ['--tool', ['demo', '--tool', 'small-1', '--turn', '3'], [13, 14]],
    ['--outcome', ['demo', '--outcome', 'error'], [21]],
    ['--search, over the whole event', ['refund', '--search', 'RESOLVE refunds'], [4]],
    ['--search with a quote', ['refund', '--search', '"quoted"'], [9]],
    ['--filter with a dotted path', ['demo', '--filter', 'input.q=^3$'], [15]],
    ['--filter, all must hold', ['demo', '--filter', 'type=^CALL,outcome=err'], [21]],
    ['--filter with an escaped comma', ['refund', '--filter', 'text=quoted"\\, t'], [9]],
    [
      '--since and --until',
      ['refund', '--since', '2026-11-15T10:00:00.500Z', '--until', '2026-11-15T10:00:00.750Z'],
      [4, 5],
    ],
    ['--after and --through', ['refund', '--after', '3', '--through', '8'], [4, 5, 8]],
    ['--limit counts after filtering', ['demo', '--kind', 'tool', '--limit', '2'], [5, 6]],
    ['--limit 0', ['demo', '--limit', '0'], []],
    ['--tail', ['demo', '--tail', '3'], [25, 26, 27]],
    ['--tail counts after filtering', ['demo', '--kind', 'tool', '--tail', '2'], [25, 26]],
    ['--reverse', ['refund', '--reverse'], [9, 8, 5, 4, 3, 2, 1]],
    ['--tail with --reverse', ['refund', '--tail', '2', '--reverse'], [9, 8]],
    ['--limit with --reverse is from the end', ['refund', '--limit', '2', '--reverse'], [9, 8]],
    [
      'filters compose with tail and reverse',
      ['demo', '--event-type', 'call.ended', '--outcome', 'ok', '--tail', '2', '--reverse'],
      [26, 24],
    ],
  ])('%s', async (_, words, expected) => {
    expect(await seqs(...words)).toEqual(expected);
  });

  test('a fork shows its own story from the parent on', async () => {
    const shown = await events('demo/careful', '--after', '15');
    expect(shown.map(({ branch, seq }) => `${branch}@${seq}`)).toEqual([
      'main@16',
      'careful@18',
      'careful@19',
      'careful@20',
      'careful@21',
      'careful@22',
    ]);
  });

  test('a run or a task is named where a session is, and stands for what belongs to it', async () => {
    const told = async (...words: readonly string[]): Promise<string[]> =>
      (await events(...words)).map(({ type, data }) => `${type} ${String(data['task'] ?? '')}`.trim());
    const run = ['run.started', 'call.started', 'call.ended', 'run.ended'];
    expect(await told('shift-1')).toEqual(run);
    const task = [`task.started ${longTask}`, ...run, `task.ended ${longTask}`];
    expect(await told(`task:${longTask}`)).toEqual(task);
    expect(await told(`shifts@task:${longTask}`)).toEqual(task);
    expect(await told('shifts', '--task', longTask)).toEqual(task);
    expect(await told('shifts', '--task', longTask, '--kind', 'tool')).toEqual(['call.started', 'call.ended']);
    expect(await told('shifts', '--task', longTask, '--limit', '2')).toEqual(task.slice(0, 2));
    expect(await told('shifts', '--task', longTask, '--tail', '2')).toEqual(task.slice(-2));
    expect(await told('shifts', '--task', longTask, '--reverse', '--limit', '2')).toEqual(task.slice(-2).reverse());
    const object = await place.run(['replay', 'task:T-2', '--limit', '1', '--json=object']);
    expect(JSON.parse(object.stdout)).toMatchObject({ totalMatched: 6, events: [{ type: 'task.started' }] });
    expect(await place.json('show', 'shift-2')).toMatchObject({ ref: 'shifts@run:shift-2' });
    expect(await place.json('fingerprint', 'task:T-2')).toMatchObject({ ref: expect.stringMatching(/^shifts@\d+$/) });
    expect(await place.run(['replay', 'task:T-9'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Cannot find task "T-9": no session has it'),
    });
    expect(await place.run(['replay', 'refund@task:T-2'])).toMatchObject({ code: 1, stdout: '' });
    expect((await place.run(['replay', 'shifts', '--task', 'T-2', '--ops'])).code).toBe(2);
  });

  test('a run is no session where one is changed', async () => {
    expect(await place.run(['delete-session', 'shift-1', '--yes'])).toMatchObject({ code: 1 });
    expect(await place.run(['rewind', 'shift-1@2'])).toMatchObject({ code: 1 });
    expect((await events('shifts')).length).toBe(14);
  });

  test('"list" lists, with all its options', async () => {
    for (const words of [
      ['--outcome', 'ok'],
      ['--all-namespaces', '--json'],
    ]) {
      const listed = await place.run(['replay', 'list', ...words]);
      expect([listed.code, listed.stdout]).toEqual([0, (await place.run(['list', ...words])).stdout]);
    }
    expect((await place.run(['replay', '--json', 'list'])).stdout).toBe((await place.run(['list', '--json'])).stdout);
  });
});

describe('the table', () => {
  skipOnServer('it is about what is printed');

  test('has a header that says which history it is, and columns for people', async () => {
    const { stdout, stderr } = await place.run(['replay', 'demo/careful'], { env: { COLUMNS: '140' } });
    const { fingerprint, digest } = await place.json('fingerprint', 'demo/careful');
    expect(stdout).toMatch(/^session {5}demo {2}careful@22 {2}Five questions\n/);
    expect(stdout).toContain('lineage     careful ← main@16 “it was not”\n');
    expect(stdout).toContain(`digest      ${String(digest)}\nfingerprint ${String(fingerprint)}\n`);
    expect(stdout).toMatch(/\nSEQ +TIME {2}EVENT +AGENT +TURN +DETAIL\n/);
    expect(stdout).toMatch(/\n 16 {2}\+\S+ {2}call\.ended +support +3 +search {2}ok {2}\{"found":3\}\n/);
    expect(stderr).toBe('next: reprise show demo/careful@22\n');
  });

  test('shows when it started, how long it took and how it ended, where the code was, and offsets', async () => {
    const { stdout } = await place.run(['replay', 'orchestration'], { env: { COLUMNS: '140' } });
    expect(stdout).toContain('started     2026-04-15 14:30:22 UTC, took 1m 36s, ok\ngit         main 1a2b3c4d\n');
    expect(stdout).toMatch(/\+1:01\.000 {2}verification\.failed {3}backend-4f2a {7}0 {2}T-1 +failed: tests\n/);
    expect(stdout).toMatch(/\+0:02\.000 {2}agent\.spawned .* role backend\n/);
  });

  test.each([40, 80, 200])('is never wider than a terminal of %i columns', async (columns) => {
    const { stdout } = await place.run(['replay', 'refund', '--raw'], { env: { COLUMNS: String(columns) } });
    expect(stdout.split('\n').filter((line) => line.length > columns)).toEqual([]);
    expect(stdout).toMatch(columns === 40 ? /\nSEQ {2}EVENT +DETAIL\n/ : /\nSEQ +TIME +EVENT +AGENT +TURN/);
  });

  test('colours kinds and outcomes', async () => {
    const { stdout } = await place.run(['replay', 'demo', '--turn', '4'], { env: { FORCE_COLOR: '1' } });
    expect(stdout).toMatch(/\u001b\[36mcall\.started/);
    expect(stdout).toMatch(/\u001b\[31msearch {2}error/);
  });

  test('colours how tasks and agents ended', async () => {
    const { stdout } = await place.run(['replay', 'shifts'], { env: { FORCE_COLOR: '1' } });
    expect(stdout).toMatch(/\u001b\[32mtask\.ended/);
    expect(stdout).toMatch(/\u001b\[31mtask\.ended/);
    expect(stdout).toMatch(/\u001b\[33magent\.ended/);
  });

  test('has a column for tasks where there are any, and never cuts their ids', async () => {
    for (const columns of ['40', '80', '140']) {
      const { stdout } = await place.run(['replay', 'shifts'], { env: { COLUMNS: columns } });
      expect(stdout).toMatch(/ TASK +DETAIL\n/);
      expect(stdout).toContain(longTask);
    }
    expect((await place.run(['replay', 'refund'])).stdout).not.toContain('TASK');
  });

  test('is never cut in a pipe, so that grep finds everything', async () => {
    const { stdout } = await place.run(['replay', 'shifts']);
    for (const text of [longTask, longAgent, longText]) expect(stdout).toContain(text);
    const { stdout: listed } = await place.run(['list']);
    expect(listed).toContain(longAgent);
    const { stdout: shown } = await place.run(['diff', 'shifts@1', 'shifts']);
    expect(shown).toContain(longText);
  });

  test.each([
    [['--event-type', 'call.start'], 'There is no event type "call.start" here. Did you mean "call.started"?\n'],
    [['--agent', 'sup'], `There is no agent "sup" here. Did you mean --agent '~sup'?\n`],
    [['--agent', 'suport'], 'There is no agent "suport" here. Did you mean "support"?\n'],
    [['--task', 'T-2'], ''],
    [['--run', 'run-2'], 'There is no run "run-2" here. Did you mean "run-1"?\n'],
    [['--kind', 'tol'], 'There is no kind "tol" here. Did you mean "tool"?\n'],
    [['--tool', 'serach'], 'There is no tool "serach" here. Did you mean "search"?\n'],
    [['--outcome', 'err'], 'There is no outcome "err" here. Did you mean "error"?\n'],
    [['--kind', 'tool', '--turn', '99'], ''],
    [['--agent', '~nobody'], ''],
  ])('says that nothing matches, and what was meant: %j', async (words, meant) => {
    const { code, stderr } = await place.run(['replay', 'demo', ...words]);
    expect([code, stderr]).toEqual([0, `No matching events.\n${meant}`]);
  });

  test("an event type of one's own is known from the history", async () => {
    const own = await place.run([
      'fork',
      'other',
      '--name',
      'own',
      '--append',
      place.write('own.json', { type: 'gizmo.turned', data: {} }),
    ]);
    expect(own.code).toBe(0);
    const { stderr } = await place.run(['replay', 'other/own', '--event-type', 'gizmo.turn']);
    expect(stderr).toContain('Did you mean "gizmo.turned"?');
  });

  test('on a narrow terminal the header is folded: how it ended stays, and a digest is cut', async () => {
    const { stdout } = await place.run(['replay', 'orchestration'], { env: { COLUMNS: '40' } });
    expect(stdout).toContain('started     2026-04-15 14:30:22 UTC,\n            took 1m 36s, ok\n');
    expect(stdout).toMatch(/\ndigest {6}[0-9a-f]{27}…\n/);
  });
});

describe('JSON', () => {
  test('is one event a line as recorded, with its parts inlined', async () => {
    const [message] = await events('refund', '--event-type', 'message.added');
    expect(Object.keys(message ?? {})).toEqual(
      'session branch seq id time type version agent run turn data digest'.split(' '),
    );
    expect(message?.data).toEqual({ message: { role: 'user', content: 'Order 7 arrived broken. Please refund it.' } });
    const [request] = await events('refund', '--filter', 'kind=model', '--limit', '1');
    expect(JSON.stringify(request?.data)).toContain('You are a support agent.');
  });

  test('or one object, whose total counts what the limit leaves out', async () => {
    const { stdout } = await place.run(['replay', 'refund', '--kind', 'model', '--limit', '1', '--json=object']);
    const whole = JSON.parse(stdout) as Record<string, unknown>;
    const { fingerprint } = await place.json('fingerprint', 'refund');
    expect(whole).toMatchObject({ ref: 'refund', metadata: { owner: 'ada' }, fingerprint, totalMatched: 2 });
    expect((whole['events'] as Shown[]).map((event) => event.seq)).toEqual([4]);
    const keys = ['events', 'fingerprint', 'metadata', 'ref', 'totalMatched'];
    expect(Object.keys(whole).toSorted()).toEqual(keys);
    expect(shapeOf({ ...whole, events: [] })).toMatchSnapshot();
    const last = await place.run(['replay', 'refund', '--tail', '2', '--reverse', '--json=object']);
    expect((JSON.parse(last.stdout) as { events: Shown[] }).events.map((event) => event.seq)).toEqual([9, 8]);
  });
});

describe('what is not right is wrong usage', () => {
  skipOnServer('the store is not asked');

  test.each([
    ['a bad regular expression', ['--filter', 'type=[']],
    ['one that needs a backtracking engine', ['--filter', 'type=(a)\\1']],
    ['a condition without a pattern', ['--filter', 'type']],
    ['a limit that is no number', ['--limit', 'ten']],
    ['a negative limit', ['--limit=-1']],
    ['a fraction', ['--tail', '1.5']],
    ['a turn that is no number', ['--turn', 'one']],
    ['a seq that is no number', ['--after', 'x']],
    ['a bad time', ['--since', '2026-13-45']],
    ['a speed that is not a number', ['--speed', 'fast']],
    ['a speed of nothing', ['--speed', '0x']],
    ['--tail with --limit', ['--tail', '1', '--limit', '1']],
    ['--follow with --reverse', ['--follow', '--reverse']],
    ['--follow as one object', ['--follow', '--json=object']],
  ])('%s', async (_, words) => {
    const ran = await place.run(['replay', 'demo', ...words]);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toMatch(/Cannot .*\n.+\n|"hint":"\w/);
  });
});

test('a bad expression and a bad time are told with what to write', async (context) => {
  skipOnServer('the store is not asked', context);
  const bad = await place.run(['replay', 'demo', '--filter', 'text=f(x']);
  expect(bad.stderr).toMatch(/^Cannot use the filter: "f\(x" is not a regular expression: Unterminated group\n.*\\\(/);
  expect((await place.run(['replay', 'demo', '--since', 'yesterday'])).stderr).toContain('such as 90s, 15m, 2h or 3d');
});

describe('pace', () => {
  test('--speed keeps the original pauses, faster or slower', async (context) => {
    skipOnServer('it is about what is printed', context);
    await using reprise = await place.open();
    const apart = ['2026-11-15T10:00:00.000Z', '2026-11-15T11:00:00.000Z'];
    await (await reprise.createSession('paced')).append(
      apart.map((time) => ({ type: 'note.added', time, data: { text: 'an hour apart' } })),
    );
    const original = place.start(['replay', 'paced', '--speed', '1x', '--json']);
    await original.until(({ stdout }) => stdout.includes('\n'));
    expect((await place.run(['replay', 'paced', '--speed', '999999x', '--json'])).stdout.split('\n')).toHaveLength(3);
    // The second event, an hour later, is not there when the quick replay is over.
    expect([original.child.exitCode, original.stdout.split('\n').length]).toEqual([null, 2]);
    original.child.kill('SIGINT');
    expect(await original.ended()).toBe(130);
  });

  test('--follow goes on with what another process appends, after the tail', async () => {
    const started = place.start(['replay', 'other', '--tail', '1', '--follow', '--json']);
    const shown = (): number[] =>
      started.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as Shown).seq);
    await started.until(() => shown().length >= 1);
    await using reprise = await place.open();
    await (await reprise.session('other')).append([
      { type: 'note.added', data: { text: 'one' } },
      { type: 'note.added', data: { text: 'two' } },
    ]);
    await started.until(() => shown().length >= 3);
    await (await reprise.session('other')).append({ type: 'note.added', data: { text: 'three' } });
    await started.until(() => shown().length >= 4);
    started.child.kill('SIGINT');
    expect([await started.ended(), shown()]).toEqual([130, [9, 10, 11, 12]]);
  });
});
