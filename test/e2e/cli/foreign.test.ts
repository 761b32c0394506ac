/** Saved runs of other systems: import and export. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { Place } from './run.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  return () => place[Symbol.dispose]();
});

const saved = (id: string): string =>
  `${JSON.stringify(
    {
      trace_id: id,
      metadata: { agent_name: 'researcher' },
      events: [
        { type: 'run_started', message: 'Agent run started', payload: { prompt: 'Who wrote it?' } },
        { type: 'run_completed', message: 'Done', payload: { output: 'Nobody knows.' } },
      ],
    },
    null,
    2,
  )}\n`;

test('import makes the store and a session for each file; what comes out again has the same bytes', async () => {
  place.write('one.json', saved('one'));
  place.write('two.json', saved('two'));
  const { code, stdout, stderr } = await place.run(['import', 'one.json', 'two.json']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^one imported from one\.json: \d+ events\ntwo imported from two\.json: \d+ events\n$/);
  expect(stderr).toContain('reprise replay two');
  expect((await place.run(['show', 'one'])).stdout).toContain('Who wrote it?');
  expect((await place.run(['export', 'one', '--format', 'shipit'])).stdout).toBe(saved('one'));
  await place.run(['export', 'two', '--format', 'shipit', '--to', 'back.json']);
  expect(readFileSync(join(place.folder, 'back.json'), 'utf8')).toBe(saved('two'));
});

test('import reads stdin, and the session may be named', async () => {
  const { code } = await place.run(['import', '-', '--format', 'shipit', '--session', 'mine'], { stdin: saved('x') });
  expect(code).toBe(0);
  expect((await place.run(['export', 'mine', '--format', 'shipit'])).stdout).toBe(saved('x'));
});

test('a format of the configuration is detected, and writes the same bytes', async () => {
  const draft = `{ type: 'message.added', data: { message: { role: 'user', content: value.said } } }`;
  const diary = `{ name: 'diary', about: 'lines of { who, said }', detect: ({ text }) => text.startsWith('{"who"'),
    cut: () => ({ kind: 'lines' }),
    open: () => ({ session: 'diary', unit: ({ value }) => ({ type: value.who, drafts: [${draft}] }) }) }`;
  const lines = '{"who":"me","said":"Hi"}\n{"who":"you","said":"Hello"}\n';
  place.write('diary.jsonl', lines);
  place.write('reprise.config.mjs', `export default { formats: [${diary}] };`);
  expect((await place.run(['import', 'diary.jsonl'])).stdout).toMatch(/^diary imported from diary\.jsonl/);
  expect((await place.run(['export', 'diary', '--format', 'diary'])).stdout).toBe(lines);
});

test('an import does not run a configuration that names no formats', async () => {
  place.write('one.json', saved('one'));
  place.write('reprise.config.mjs', `throw new Error('It ran');\nexport default { agents: {} };`);
  expect((await place.run(['import', 'one.json'])).code).toBe(0);
});

test.each([
  ['a file that is not there', ['import', 'gone.json'], 2, /Cannot import "gone\.json"/],
  [
    'a file of another kind',
    ['import', 'text.txt'],
    2,
    /Cannot import "text\.txt": .*no known format.*\nFormats: claude-code,.*, messages\.\n/,
  ],
  ['a format that nobody knows', ['import', 'one.json', '--format', 'shpit'], 2, /no format "shpit"/],
  ['one session for two files', ['import', 'one.json', 'two.json', '--session', 's'], 2, /into one session/],
  [
    'a session that is not from it',
    ['import', 'two.json', '--session', 'one'],
    1,
    /Choose a different id with --session/,
  ],
  ['a document that is followed', ['import', 'one.json', '--follow'], 2, /"one\.json": it cannot be followed/],
  ['a folder that is followed', ['import', '.', '--follow'], 2, /"\.": it contains 2 sources, and one file/],
  ['two files that are followed', ['import', 'one.json', 'two.json', '--follow'], 2, /Cannot follow 2 files/],
  ['nothing', ['import'], 2, /no source is named/],
  ['a source beside --discover', ['import', '--discover', 'one.json'], 2, /Cannot look for sessions in "one\.json"/],
  ['a device', ['import', '/dev/null'], 2, /Cannot import "\/dev\/null": it is not a regular file/],
  ['a format that nobody looks for', ['import', '--discover', '--format', 'cdoex'], 2, /no format "cdoex"/],
])('%s is told with the name of the file', async (name, words, code, told) => {
  place.write('one.json', saved('one'));
  place.write('two.json', saved('two'));
  place.write('text.txt', 'Dear diary');
  if (name.includes('not from it')) await place.run(['import', 'one.json']);
  const ran = await place.run(words);
  expect([ran.code, ran.stdout]).toEqual([code, '']);
  expect(ran.stderr).toMatch(told);
});

test('a source that is not there makes no store, and one with secrets says whether they are masked', async () => {
  expect((await place.run(['import', 'gone.json', 'off.json'])).stderr).toContain('no such file');
  expect(existsSync(join(place.folder, '.reprise'))).toBe(false);
  place.write('one.json', saved(`sk-ant-api03-${'abcdEFGH1234'.repeat(8)}-AA`));
  const kept = await place.run(['import', 'one.json', '--session', 'kept']);
  expect(kept.stderr).toContain('Masking finds secrets in it (anthropic-key 1); --mask masks them.');
  const masked = await place.run(['import', 'one.json', '--session', 'masked', '--mask']);
  expect(masked.stderr).toContain('Its secrets are masked (anthropic-key 1).');
});

test('--follow goes on until Ctrl-C, which is its exit code', async () => {
  place.write('talk.jsonl', '{"role":"user","content":"Hi"}\n');
  const started = place.start(['import', 'talk.jsonl', '--follow']);
  await until(async () => (await place.run(['list'])).stdout.includes('talk'));
  started.child.kill('SIGINT');
  expect(await started.ended()).toBe(130);
  expect(started.stdout).toMatch(/^talk imported from talk\.jsonl/);
});

test('of several sources the broken ones are named, and the rest is imported', async () => {
  place.write('one.json', saved('one'));
  place.write('text.txt', 'Dear diary');
  place.write('two.json', saved('two'));
  const { code, stdout, stderr } = await place.run(['import', 'one.json', 'text.txt', 'gone.json', 'two.json']);
  expect([code, stdout.match(/imported from/g)?.length]).toEqual([1, 2]);
  expect(stderr).toMatch(/text\.txt was not imported: the file is of no known format\n/);
  expect(stderr).toMatch(/gone\.json was not imported: no such file\n/);
});

test('of a folder the broken sources are named, the rest is imported, and a second import adds nothing', async () => {
  mkdirSync(join(place.folder, 'runs'));
  place.write('runs/one.json', saved('one'));
  place.write('runs/bad.json', '{"trace_id": 7, "events": []}');
  place.write('runs/readme.md', 'Not a run.');
  const first = await place.run(['import', 'runs']);
  expect([first.code, first.stdout]).toEqual([
    1,
    expect.stringMatching(/^one imported from \S*one\.json: \d+ events\n$/),
  ]);
  expect(first.stderr).toMatch(/bad\.json was not imported: .*trace_id/);
  expect((await place.run(['import', 'runs/one.json'])).stdout).toContain('nothing new');
});

test('discover finds the sessions that tools have kept, and resume hands one back without overwriting', async () => {
  const line = {
    parentUuid: null,
    isSidechain: false,
    cwd: '/srv/app',
    sessionId: 'c1',
    version: '2.1.4',
    type: 'user',
    uuid: 'u1',
    timestamp: '2026-01-14T01:05:00.000Z',
    message: { role: 'user', content: 'Fix the pool.' },
  };
  mkdirSync(join(place.folder, 'claude/projects/-srv-app'), { recursive: true });
  place.write('claude/projects/-srv-app/c1.jsonl', `${JSON.stringify(line)}\n`);
  const env = { CLAUDE_CONFIG_DIR: join(place.folder, 'claude'), HOME: place.folder };
  const { code, stdout } = await place.run(['import', '--discover', '--json'], { env });
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { found: [expect.objectContaining({ format: 'claude-code', files: 1 })] },
  ]);
  await place.run(['import', 'claude/projects/-srv-app/c1.jsonl']);
  await place.run(['fork', 'c1', '--name', 'careful', '--prompt', 'Fix the pool, carefully.']);
  const handed = await place.run(['export', 'c1/careful', '--format', 'claude-code', '--resume', '--json'], { env });
  const { to } = JSON.parse(handed.stdout) as { to: string };
  expect(to).toContain('claude/projects/-srv-app/');
  expect(JSON.parse(readFileSync(to, 'utf8'))).toMatchObject({
    cwd: '/srv/app',
    message: { content: 'Fix the pool, carefully.' },
  });
  expect(readFileSync(join(place.folder, 'claude/projects/-srv-app/c1.jsonl'), 'utf8')).toContain('"c1"');
});

test.each(['atif', 'otlp', 'json', 'jsonl', 'markdown'])('a history is written as %s', async (format) => {
  place.write('one.json', saved('one'));
  await place.run(['import', 'one.json']);
  const { code, stdout } = await place.run(['export', 'one', '--format', format]);
  expect(code).toBe(0);
  expect(stdout).toContain(format === 'otlp' ? 'resourceSpans' : 'Nobody knows.');
});
