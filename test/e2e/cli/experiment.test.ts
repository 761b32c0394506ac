/** `reprise experiment` on sets, with scores, reports and what comes after a stop. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { agentConfig, dropFixtures, type Place, refundPlace, writeAgentFiles } from './run.ts';

let place: Place;
beforeEach(async () => {
  place = await refundPlace();
  writeAgentFiles(place);
  return () => place[Symbol.dispose]();
});
afterAll(dropFixtures);

const one = ['experiment', 'refund@2', '--variants', 'variants.json', '--with', 'support'];
const set = (...sessions: readonly string[]): readonly string[] => {
  place.write('sessions.txt', `# two of these are there\n${sessions.join('\n')}\n`);
  return ['experiment', '--sessions', 'sessions.txt', '--variants', 'variants.json', '--with', 'support'];
};

interface Summary {
  readonly id: string;
  readonly sessions: readonly { readonly session: string; readonly errorCode: string | null }[];
  readonly variants: readonly Record<string, unknown>[];
  readonly branches: readonly Record<string, unknown>[];
}

async function object(words: readonly string[]): Promise<Summary & { readonly code: number | null }> {
  const { code, stdout, stderr } = await place.run([...words, '--json=object']);
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as Summary), code };
}

const read = (file: string): string => readFileSync(join(place.folder, file), 'utf8');

describe('reprise experiment --sessions', () => {
  test('runs the variants on each session of a file, and reports the one that is gone', async () => {
    const { code, sessions, branches } = await object([...set('refund', 'gone'), '--check', 'true']);
    expect(code).toBe(0);
    expect(sessions.map(({ session, errorCode }) => [session, errorCode])).toEqual([
      ['refund', null],
      ['gone', 'session.not-found'],
    ]);
    expect(branches.map(({ session, branch, passed }) => [session, branch, passed])).toEqual([
      ['refund', 'as-is-1', true],
      ['refund', 'brief-1', true],
    ]);
    const { stdout } = await place.run(set('refund', 'gone'));
    expect(stdout).toContain('gone was not run: Cannot open session "gone"');
  });

  test('finds sessions by conditions, and the point by a filter', async () => {
    const words = ['experiment', '--sessions', 'session=^refund$', '--variants', 'variants.json', '--with', 'support'];
    const { sessions } = await object([...words, '--at', 'before-call:refund']);
    expect(sessions).toMatchObject([{ session: 'refund', point: { branch: 'main', seq: 2 } }]);
    const after = await object([...words, '--at', 'after:type=^message.added$']);
    expect(after.sessions).toMatchObject([{ point: { seq: 2 } }]);
  });

  test.each([
    [['--sessions', 'nothing-here'], 'neither a file nor conditions'],
    [['--sessions', 'session=^none$'], 'no session matches'],
    [['--sessions', 'empty.txt'], 'names no session'],
    [['refund@2', '--sessions', 'empty.txt'], 'a ref and --sessions'],
    [[], 'no ref and no --sessions'],
    [['refund@2', '--fail-under', '90'], 'not a share'],
    [['refund@2', '--judge', 'nobody'], 'judge "nobody"'],
    [['refund@2', '--junit', 'no/such/file.xml'], 'no such folder'],
    [['refund@2', '--continue', 'x1'], 'Cannot find experiment "x1"'],
  ])('refuses %j', async (words, why) => {
    place.write('empty.txt', '\n');
    const { code, stderr } = await place.run([
      'experiment',
      ...words,
      '--variants',
      'variants.json',
      '--with',
      'support',
    ]);
    expect([code === 2 || code === 1, stderr]).toEqual([true, expect.stringContaining(why)]);
  });
});

describe('the result of an experiment', () => {
  test('is shown again by its id, with the same table and the same exit code', async () => {
    const words = [...one, '--repeats', '2', '--check', 'grep -q pool'];
    const first = await object(words);
    const again = await object(['experiment', 'show', first.id]);
    expect(again.variants).toEqual(first.variants);
    expect(again.branches.length).toBe(4);
    const { code, stdout } = await place.run(['experiment', 'show', first.id, '--fail-under', 'brief=0.9']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Experiment ${first.id}: 4 of 4 branches`);
    const under = await place.run(['experiment', 'show', first.id, '--fail-under', '0.9']);
    expect([under.code, under.stderr]).toEqual([1, expect.stringContaining('"as-is" passes 0 of 2, less than 0.9.')]);
    const missing = await place.run(['experiment', 'show', 'ffffffffffff', '--json']);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('experiment.not-found')]);
  });

  test('is continued without running a branch again, with more repeats', async () => {
    const first = await object([...one, '--check', 'true']);
    const more = await object([...one, '--check', 'true', '--repeats', '2', '--continue', first.id]);
    expect(more.branches.map(({ branch }) => branch)).toEqual(['as-is-1', 'brief-1', 'as-is-2', 'brief-2']);
    const names = (await place.run(['list', '--branches', '--json'])).stdout;
    expect(names).not.toContain('as-is-1-2');
  });

  test('is written as Markdown and as JUnit, and text of an agent cannot break out of either', async () => {
    place.write('variants.json', [{ name: 'as-is' }, { name: 'odd', system: '<b>|"&]]>' }]);
    const check = `grep -q ever || { echo '{"passed": false, "reason": "<script>|no & \\"never\\""}'; exit 1; }`;
    const files = ['--markdown', 'report.md', '--junit', 'report.xml'];
    const { code } = await object([...one, '--check', check, ...files]);
    expect(code).toBe(0);
    const markdown = read('report.md');
    expect(markdown).toMatch(/^\| as-is \| 1\/1 \| 1\/1 \|/m);
    expect(markdown).toContain('| refund/odd-1 | ok | &lt;script>\\|no &amp; "never" |');
    const xml = read('report.xml');
    expect(xml).toContain('<testsuite name="odd"');
    expect(xml).toContain('failures="1" errors="0" skipped="0"');
    expect(xml).toContain('<failure message="&lt;script&gt;|no &amp; &quot;never&quot;"/>');
    expect(xml).toContain('<testcase classname="as-is" name="refund/as-is-1"');
  });

  test('takes scores of a command and of a judge of the configuration', async () => {
    place.write(
      'reprise.config.mjs',
      `${agentConfig.replace('export default', 'const held =')}
const judges = { short: async ({ text }, { recorder }) => {
  await recorder.call({ kind: 'model', name: 'judge-1', request: { messages: [] } }, async () => 'good');
  return { length: text.length };
} };
export default { ...held, judges };`,
    );
    const { branches, variants } = await object([...one, '--check', `echo '{"brief": 0.5}'`, '--judge', 'short']);
    expect(branches[0]).toMatchObject({ passed: null, scores: { brief: 0.5 }, judge: { modelCalls: 1 } });
    expect(Object.keys(branches[0]?.['scores'] as object)).toEqual(['brief', 'length']);
    expect(variants[0]?.['scores']).toMatchObject([{ name: 'brief' }, { name: 'length' }]);
  });

  test('stops at the budget of the whole, and says so in the table', async () => {
    const { branches, code } = await object([...one, '--repeats', '2', '--parallel', '1', '--total-model-calls', '2']);
    expect(code).toBe(0);
    expect(branches.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'budget', 'budget']);
    expect(branches[3]).toMatchObject({ errorCode: 'experiment.over-budget' });
  });
});
