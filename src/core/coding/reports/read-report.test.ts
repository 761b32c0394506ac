import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { limits } from '../../limits.ts';
import { readTestReport } from './read-report.ts';

const report = (name: string): string => readFileSync(`test/fixtures/reports/${name}`, 'utf8');

const expected: Readonly<Record<string, object>> = {
  'vitest.json': {
    framework: 'vitest',
    failed: [
      '/repo/a.test.ts::adds AssertionError',
      '/repo/a.test.ts::suite > flaky Error',
      '/repo/b.test.ts undefined',
    ],
    passed: ['/repo/a.test.ts::suite > inner ok', '/repo/a.test.ts::suite > flaky'],
    skipped: ['/repo/a.test.ts::skipme', '/repo/a.test.ts::later'],
  },
  'vitest.xml': {
    framework: 'vitest',
    failed: ['a.test.ts::adds AssertionError', 'b.test.ts Error'],
    passed: ['a.test.ts::suite > inner ok', 'a.test.ts::suite > flaky'],
    skipped: ['a.test.ts::skipme', 'a.test.ts::later'],
  },
  'node.xml': {
    failed: [
      '/repo/a.test.mjs::adds undefined',
      '/repo/a.test.mjs::suite > inner bad undefined',
      '/repo/b.test.mjs undefined',
    ],
    passed: ['/repo/a.test.mjs::suite > inner ok'],
    skipped: ['/repo/a.test.mjs::skipme', '/repo/a.test.mjs::todo'],
  },
  'node.tap': {
    framework: 'node',
    failed: [
      '/repo/a.test.mjs::adds AssertionError',
      '/repo/a.test.mjs::suite > inner bad TypeError',
      '/repo/b.test.mjs undefined',
    ],
    finished: false,
  },
  'pytest.xml': {
    framework: 'pytest',
    failed: [
      'tests/test_a.py::test_bad AssertionError',
      'tests/test_a.py::TestX::test_in ValueError',
      'tests/test_a.py::test_p[2] undefined',
      'tests/test_a.py::test_err undefined',
    ],
    passed: ['tests/test_a.py::test_ok', 'tests/test_a.py::test_p[1]'],
    skipped: ['tests/test_a.py::test_skip'],
  },
  'pytest.txt': {
    framework: 'pytest',
    failed: [
      'tests/test_a.py::test_err RuntimeError',
      'tests/test_a.py::test_bad AssertionError',
      'tests/test_a.py::TestX::test_in ValueError',
      'tests/test_a.py::test_p[2] undefined',
    ],
    passed: ['tests/test_a.py::test_ok', 'tests/test_a.py::test_p[1]'],
    skipped: [],
    // It says that a test was skipped, and not which.
    finished: false,
  },
  'go.jsonl': {
    framework: 'go',
    failed: [
      'example.com/app/parser::TestParse/empty undefined',
      'example.com/app/parser::TestParse undefined',
      'example.com/app/cli undefined',
    ],
    passed: ['example.com/app/parser::TestOk'],
    skipped: ['example.com/app/parser::TestSkip'],
  },
  'surefire.xml': {
    failed: [
      'com.example.AppTest::sometimes java.lang.AssertionError',
      'com.example.AppTest::never java.lang.AssertionError',
    ],
    passed: ['com.example.AppTest::works', 'com.example.AppTest::sometimes'],
    skipped: [],
  },
};

async function shown(source: string | Iterable<string | Uint8Array>): Promise<object> {
  const { failures, ...rest } = await readTestReport(source);
  return { ...rest, failed: failures.map(({ testId, errorType }) => `${testId} ${errorType}`) };
}

function* pieces(text: string, size: number): Generator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe.each(Object.entries(expected))('the report %s', (name, says) => {
  test('gives the tests that failed, passed and were skipped', async () => {
    expect(await shown(report(name))).toEqual(says);
  });

  test('gives the same in pieces of any size', async () => {
    for (const size of [1, 7, 64, 1_000]) expect(await shown(pieces(report(name), size)), String(size)).toEqual(says);
  });
});

test('a failure has the message of the framework, without the frames of its stack', async () => {
  const { failures } = await readTestReport(report('vitest.json'));
  expect(failures[0]).toMatchObject({
    file: '/repo/a.test.ts',
    name: 'adds',
    message: 'AssertionError: expected 1 to be 2 // Object.is equality',
  });
  const tap = await readTestReport(report('node.tap'));
  expect(tap.failures[1]?.message).toBe('boom\nsecond line');
  const go = await readTestReport(report('go.jsonl'));
  expect(go.failures.map(({ message }) => message)).toEqual([
    'parser_test.go:12: got nil, want error',
    undefined,
    'cli/main.go:3:2: undefined: x',
  ]);
});

test('a torn report is refused, or says that its run was cut short', async () => {
  for (const name of ['vitest.json', 'vitest.xml', 'node.xml', 'pytest.xml', 'surefire.xml']) {
    const text = report(name).trimEnd();
    for (const end of [text.length - 1, Math.floor(text.length / 2), 200])
      await expect(readTestReport(text.slice(0, end)), `${name} ${end}`).rejects.toMatchObject({
        code: 'report.invalid',
      });
  }
  const half = (name: string): string => report(name).slice(0, Math.floor(report(name).length / 2));
  for (const name of ['node.tap', 'go.jsonl']) expect((await readTestReport(half(name))).finished, name).toBe(false);
  const summary = report('pytest.txt');
  const cut = summary.slice(summary.indexOf('=== short'), summary.lastIndexOf('3 failed'));
  expect((await readTestReport(`===${cut}`, { format: 'pytest' })).finished).toBe(false);
  await expect(readTestReport('')).rejects.toMatchObject({ code: 'report.invalid' });
});

test('pytest that was stopped, or collected nothing, has not finished', async () => {
  const line = (text: string): Promise<unknown> =>
    readTestReport(text, { format: 'pytest' }).then(({ finished }) => finished);
  expect(await line('=== no tests ran in 0.01s ===\n')).toBe(false);
  expect(await line('!!! stopping after 1 failures !!!\n=== 1 failed in 0.01s ===\n')).toBe(false);
  expect(await line('=== 3 passed in 0.01s ===\n')).toBeUndefined();
});

test('the text of pytest says nothing by silence if it does not name each test that failed or was left out', async () => {
  const read = (...lines: readonly string[]) => readTestReport(`${lines.join('\n')}\n`, { format: 'pytest' });
  const summary = '=== short test summary info ===';
  for (const counts of ['3 passed, 1 skipped', '1 passed, 5 deselected', '2 passed, 1 xfailed', '1 failed, 2 passed'])
    expect((await read(`=== ${counts} in 0.01s ===`)).finished, counts).toBe(false);
  expect((await read(summary, 'ERROR a.py::x', '=== 1 failed, 1 error in 0.01s ===')).finished).toBe(false);
  const whole = await read(summary, 'FAILED a.py::x[a - b] - Error: c - d', '=== 1 failed, 2 passed in 0.01s ===');
  expect(whole).toEqual({
    framework: 'pytest',
    failures: [
      { testId: 'a.py::x[a - b]', file: 'a.py', name: 'x[a - b]', errorType: 'Error', message: 'Error: c - d' },
    ],
  });
});

test('the colors of a terminal are not part of a message, an id or the type of an error', async () => {
  const [red, plain] = ['\u001b[31m', '\u001b[39m'];
  const failed = { title: 'x', status: 'failed', failureMessages: [`${red}TypeError: no${plain}`] };
  const json = JSON.stringify({ testResults: [{ name: 'a.ts', status: 'failed', assertionResults: [failed] }] });
  const xml =
    '<testsuites><testcase name="x"><failure message="&#27;[31mTypeError: no&#27;[39m"/></testcase></testsuites>';
  for (const text of [json, xml])
    expect((await readTestReport(text)).failures[0]).toMatchObject({
      errorType: 'TypeError',
      message: 'TypeError: no',
    });
  const pytest = `=== short test summary info ===\n${red}FAILED${plain} a.py::${red}x${plain} - no\n1 failed in 0.01s\n`;
  expect((await readTestReport(pytest)).failures[0]).toMatchObject({ testId: 'a.py::x', message: 'no' });
});

test('a report may be given as the bytes of its file', async () => {
  expect(await readTestReport(new TextEncoder().encode(report('node.tap')))).toEqual(
    await readTestReport(report('node.tap')),
  );
});

test('a JSON report without a test says nothing by silence, whatever it says of its success', async () => {
  for (const success of ['true', 'false', 'null'])
    expect(await readTestReport(`{"success":${success},"testResults":[null,{"assertionResults":[]}]}`)).toMatchObject({
      failures: [],
      finished: false,
    });
});

test('a report of another framework, or of another kind, is refused', async () => {
  for (const text of [
    '{"results":[]}',
    '[]',
    'hello',
    '<html></html>',
    '{"testResults":{}}',
    '<testsuites/><testsuites/>',
    'x<testsuites/>',
  ])
    await expect(readTestReport(text), text).rejects.toMatchObject({ code: 'report.invalid' });
  await expect(readTestReport(report('node.tap'), { format: 'junit' })).rejects.toMatchObject({
    code: 'report.invalid',
  });
  await expect(readTestReport('x', { format: 'cobol' as never })).rejects.toMatchObject({ code: 'option.invalid' });
});

test('a bomb is refused: a document type, an entity, deep nesting', async () => {
  const bombs = [
    '<!DOCTYPE lolz [<!ENTITY lol "lol">]><testsuites><testcase name="&lol;"/></testsuites>',
    '<testsuites><testcase name="a"><failure>&lol;</failure></testcase></testsuites>',
    `<testsuites>${'<testsuite>'.repeat(1_000)}`,
    '<testsuites><!ELEMENT a></testsuites>',
  ];
  for (const bomb of bombs) {
    await expect(readTestReport(bomb), bomb.slice(0, 40)).rejects.toMatchObject({ code: 'report.invalid' });
    await expect(readTestReport(pieces(bomb, 3))).rejects.toMatchObject({ code: 'report.invalid' });
  }
  await expect(readTestReport(`{"testResults":[{"a":${'['.repeat(100_000)}`)).rejects.toMatchObject({
    code: 'limit.exceeded',
  });
});

test('a huge report is refused by reportTextMax, reportEntryMax and reportTestsMax, before memory is full', async () => {
  const exceeds = (limit: string): object => ({ code: 'limit.exceeded', details: { limit } });
  function* endless(head: string, piece: string): Generator<string> {
    yield head;
    for (;;) yield piece;
  }
  const spaces = ' '.repeat(1_048_576);
  const message = `<testsuites><testcase name="a"/>${'\n'.repeat(8)}`;
  await expect(readTestReport(endless(message, `<!--${spaces}-->`))).rejects.toMatchObject(exceeds('reportTextMax'));
  await expect(readTestReport(endless('<testsuites><testcase name="', spaces))).rejects.toMatchObject(
    exceeds('reportEntryMax'),
  );
  await expect(readTestReport(endless('{"testResults":[{"name":"', spaces))).rejects.toMatchObject(
    exceeds('reportEntryMax'),
  );
  await expect(readTestReport(endless('TAP version 13\n', spaces))).rejects.toMatchObject(exceeds('reportEntryMax'));
  const cases = '<testcase classname="c" name="n"/>'.repeat(10_000);
  await expect(readTestReport(endless('<testsuites>', cases))).rejects.toMatchObject(exceeds('reportTestsMax'));
  expect(limits.reportTestsMax).toBeGreaterThan(100_000);
});

test.each([undefined, null, 7, {}, [7]])('%j is refused: it is neither a string nor bytes', async (source) => {
  await expect(readTestReport(source as never)).rejects.toMatchObject({ code: 'option.invalid' });
});
