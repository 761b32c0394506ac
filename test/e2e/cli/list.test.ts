/** `list`: the tree, the filters, what it says when there is nothing, and its JSON. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoPlace, dropFixtures, Place, refundEvents, shapeOf, skipOnServer } from './run.ts';

let place: Place;

beforeAll(async () => {
  place = await demoPlace();
  await using reprise = await place.open();
  const session = await reprise.createSession('refund');
  await session.append(refundEvents().slice(0, -1));
  await session.fork('main@2', { name: 'a' });
  await session.fork('a', { name: 'a-1' });
  await session.fork('main@2', { name: 'b' });
  await (await reprise.namespace('production').createSession('far')).append(refundEvents());
});
afterAll(() => {
  place[Symbol.dispose]();
  dropFixtures();
});

async function lines(...words: readonly string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await place.run(['list', ...words, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const names = (rows: readonly Record<string, unknown>[]): string[] =>
  rows.map((row) => `${String(row['session'])}/${String(row['branch'])}`);

test('sessions come last appended to first, each with the number of its branches', async () => {
  const { code, stdout, stderr } = await place.run(['list'], { env: { COLUMNS: '200' } });
  expect(code).toBe(0);
  const rows = stdout.trimEnd().split('\n');
  expect(rows[0]).toMatch(/^SESSION +BRANCHES +TITLE +STARTED /);
  expect(rows.slice(1).map((row) => /^(\S+) +(\d+)/.exec(row)?.slice(1))).toEqual([
    ['refund', '4'],
    ['demo', '2'],
    ['other', '1'],
    ['orchestration', '1'],
  ]);
  expect(stderr).toContain('add --branches');
});

test('--branches lists them as a tree under their parents', async () => {
  const { code, stdout, stderr } = await place.run(['list', '--branches'], { env: { COLUMNS: '200' } });
  expect(code).toBe(0);
  const rows = stdout.split('\n');
  expect(rows[0]).toMatch(/^SESSION +TITLE +STARTED +TOOK +EVENTS +SIZE +AGENTS +OUTCOME +TOKENS +COST +GIT$/);
  expect(rows.slice(1, -1).map((row) => /^[│├└─ ]*\S+(?: @\d+)?/.exec(row)?.[0])).toEqual([
    'refund',
    '├─ a @2',
    '│  └─ a-1 @3',
    '└─ b @2',
    'demo',
    '└─ careful @16',
    'other',
    'orchestration',
  ]);
  expect(rows[1]).toMatch(
    /Refund of order 7 .* 2026-11-15 10:00:00 .* 6 .*support .*silent .*845 +\$0\.0021 +main 1a2b3c4d/,
  );
  expect(stderr).toBe('next: reprise replay refund\n');
});

describe('what is printed', () => {
  skipOnServer('it is about what is printed');

  test('on a narrow terminal no line is wider, and the names and outcomes stay', async () => {
    const { stdout } = await place.run(['list'], { env: { COLUMNS: '40' } });
    const rows = stdout.trimEnd().split('\n');
    expect(rows.filter((row) => row.length > 40)).toEqual([]);
    expect(rows[0]).toMatch(/^SESSION +TITLE +OUTCOME$/);
  });

  test('with the namespaces, on a narrow terminal the title goes before a name is cut', async () => {
    const { stdout } = await place.run(['list', '--all-namespaces'], { env: { COLUMNS: '44' } });
    expect(stdout).toMatch(/^NAMESPACE +SESSION +OUTCOME\n/);
    expect(stdout).toContain('orchestration');
  });

  test('into a pipe every column goes', async () => {
    const { stdout } = await place.run(['list']);
    expect(stdout).toMatch(
      /^SESSION +BRANCHES +TITLE +STARTED +TOOK +EVENTS +SIZE +AGENTS +OUTCOME +TOKENS +COST +GIT\n/,
    );
  });

  describe('filters are all held against a row', () => {
    test.each([
      ['--agent', ['--agent', 'backend-4f2a'], ['orchestration/main']],
      ['a part of an agent', ['--agent', '~BACKEND'], ['orchestration/main']],
      ['--outcome', ['--outcome', 'ok', '--agent', 'support'], ['demo/main']],
      ['--outcome silent', ['--outcome', 'silent', '--search', '"parent":null'], ['refund/main', 'other/main']],
      ['--search, whatever the case', ['--search', 'FIVE questions', '--outcome', 'ok'], ['demo/main']],
      ['--filter over the shape', ['--filter', 'git.branch=^MAIN$,session=refund,branch=^main$'], ['refund/main']],
      ['--filter on numbers and lists', ['--filter', 'events=^27$,agents=support'], ['demo/main']],
      ['an escaped comma', ['--filter', 'session=^.{4\\,5}$,parent=null'], ['demo/main', 'other/main']],
      ['a field that is not there', ['--filter', 'git.nothing=.*'], []],
      ['--since', ['--since', '2099-01-01'], []],
      ['--since, as how long ago', ['--since', '1h', '--search', 'careful'], ['demo/careful']],
      ['a session once', ['--filter', 'session=^demo$'], ['demo/main']],
      ['--branches', ['--branches', '--filter', 'session=^demo$'], ['demo/main', 'demo/careful']],
      [
        '--limit counts sessions',
        ['--limit', '1', '--branches'],
        ['refund/main', 'refund/a', 'refund/a-1', 'refund/b'],
      ],
      ['--waiting', ['--waiting'], []],
      ['--limit 0', ['--limit', '0'], []],
    ])('%s', async (_, words, expected) => {
      expect(names(await lines(...words))).toEqual(expected);
    });

    test('a fingerprint can be looked for', async () => {
      const { fingerprint } = await place.json('fingerprint', 'demo');
      expect(names(await lines('--filter', `fingerprint=^${String(fingerprint)}$`))).toEqual(['demo/main']);
    });

    test('a branch whose parent is not shown is named in full', async () => {
      const { stdout } = await place.run(['list', '--filter', 'branch=^a-1$']);
      expect(stdout.split('\n')[1]).toMatch(/^refund\/a-1 /);
    });
  });

  test('every field of a line can be asked for, and no other', async () => {
    const [line = {}] = await lines('--limit', '1');
    for (const field of Object.keys(line)) expect(await lines('--filter', `${field}=no such value`)).toEqual([]);
    const { code, stderr } = await place.run(['list', '--filter', 'titel=x']);
    expect([code, stderr]).toEqual([
      2,
      'Cannot filter the list by "titel": a row has no such field\nDid you mean "title"?\n',
    ]);
  });

  test.each([
    [['--outcome', 'eror'], 'No matching sessions. Did you mean --outcome error?\n'],
    [
      ['--outcome', 'bad'],
      'No matching sessions. Outcomes are ok, error, aborted, interrupted, budget, waiting, silent.\n',
    ],
    [['--agent', 'supp'], `No matching sessions. To match part of an agent's id, use --agent '~supp'.\n`],
  ])('nothing found is told with what was probably meant: %j', async (words, said) => {
    expect((await place.run(['list', ...words])).stderr).toBe(said);
  });
});

describe('namespaces', () => {
  test('--all-namespaces lists every one, and says which', async () => {
    const rows = await lines('--all-namespaces', '--filter', 'branch=main');
    expect(rows.map(({ namespace, session }) => `${String(namespace)} ${String(session)}`)).toEqual([
      'production far',
      'default refund',
      'default demo',
      'default other',
      'default orchestration',
    ]);
    const { stdout, stderr } = await place.run(['list', '--all-namespaces', '--limit', '1']);
    expect(stderr).toContain('next: reprise replay far --namespace production\n');
    expect(stdout).toMatch(/^NAMESPACE +SESSION.*\nproduction +far /);
  });

  test('an empty one says where there is something', async () => {
    const { code, stdout, stderr } = await place.run(['list', '--namespace', 'nowhere']);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain(
      'No sessions in namespace "nowhere", but there are some in "production". Use --all-namespaces to see them.',
    );
  });
});

describe('what is not right', () => {
  skipOnServer('it is about what is printed');

  test.each([
    ['a bad regular expression', ['--filter', 'session=('], 'filter.invalid'],
    ['a condition without a pattern', ['--filter', 'session'], 'filter.invalid'],
    ['a bad time', ['--since', 'yesterday'], 'time.invalid'],
    ['a limit that is no number', ['--limit', 'many'], 'usage'],
  ])('%s is wrong usage', async (_, words, code) => {
    const ran = await place.run(['list', ...words, '--json']);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect((JSON.parse(ran.stderr) as { error: { code: string } }).error.code).toBe(code);
  });

  test('nothing found is told on stderr', async () => {
    const { code, stdout, stderr } = await place.run(['list', '--outcome', 'budget']);
    expect([code, stdout, stderr]).toEqual([0, '', 'No matching sessions.\n']);
  });

  test('an empty store is told too', async () => {
    using empty = new Place();
    await (await empty.open()).close();
    expect(await empty.run(['list'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No sessions yet. Sessions appear here once you record them.\n',
    });
    expect(await empty.run(['list', '--json'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

test('its JSON is one line a branch, or one object', async () => {
  const [first] = await lines('--filter', 'session=^demo$,branch=careful');
  expect(Object.keys(first ?? {})).toEqual([
    'session',
    'branch',
    'parent',
    'title',
    'events',
    'head',
    'bytes',
    'startedAt',
    'endedAt',
    'durationMs',
    'outcome',
    'waiting',
    'agents',
    'git',
    'usage',
    'fingerprint',
    'branches',
    'archived',
  ]);
  expect(first).toMatchObject({
    parent: { branch: 'main', seq: 16 },
    head: 22,
    outcome: 'silent',
    agents: ['support'],
  });
  expect(shapeOf(first)).toMatchSnapshot();
  const { stdout } = await place.run(['list', '--branches', '--json=object', '--limit', '1']);
  expect((JSON.parse(stdout) as { branches: unknown[] }).branches).toHaveLength(4);
});

test('the size of a branch is that of all it stores, a large message included', async () => {
  using large = new Place();
  await using reprise = await large.open();
  const session = await reprise.createSession('large');
  await session.append([
    { type: 'message.added', data: { message: { role: 'user', content: 'x'.repeat(3_000_000) } } },
  ]);
  await session.fork('main', { name: 'child' });
  const { stdout } = await large.run(['list', '--branches', '--json=object']);
  const [main, child] = (JSON.parse(stdout) as { branches: { bytes: number }[] }).branches;
  expect([Math.floor((main?.bytes ?? 0) / 1_000), (child?.bytes ?? 0) < 1_000]).toEqual([3_000, true]);
  expect((await large.run(['list'], { env: { COLUMNS: '200' } })).stdout).toMatch(/ 3\.0 MB$/m);
});
