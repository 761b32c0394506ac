import { expect, test } from 'vitest';
import { coding, codingBook } from '../../projections/coding.ts';
import type { Event } from '../event/event.ts';
import { project } from '../event/projection.ts';
import type { JsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import type { Digest, Seq } from '../point.ts';
import { contextOf, defaultCounter } from './context.ts';
import { FileRebuild } from './patched-file.ts';
import { recordsOf } from './record.ts';
import { applyDiff, linesOf } from './unified-diff.ts';

function events(...told: readonly (readonly [string, JsonObject, Partial<Event>?])[]): Event[] {
  return told.map(([type, data, more], index) => ({
    session: 's',
    branch: 'main',
    seq: (index + 1) as Seq,
    id: `e${index + 1}`,
    time: '2026-11-15T10:00:00.000Z',
    type,
    version: 1,
    turn: 0,
    data,
    digest: '' as Digest,
    ...more,
  }));
}

const settings = {
  budgetTokens: 100_000,
  counter: defaultCounter,
  isTainted: () => false,
  setAside: new Set<Seq>(),
};
const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

test('a text over contextItemTokensMax is cut with a mark, and one over recordCharactersMax is shortened', () => {
  const text = '😀'.repeat(limits.recordCharactersMax);
  const book = project(codingBook, events(['note.added', { text }]));
  const [held] = recordsOf(book);
  expect(held?.record.text.length).toBe(limits.recordCharactersMax);
  const { text: shown, explained } = contextOf(recordsOf(book), settings);
  expect(explained).toMatchObject([{ why: 'cut' }]);
  expect(shown.isWellFormed()).toBe(true);
  const [, item = ''] = shown.split('\n');
  expect(item.endsWith('… (cut)')).toBe(true);
  expect(defaultCounter.count(`${item.slice(2)}\n`)).toBeLessThanOrEqual(limits.contextItemTokensMax);
});

test('the sources of a record are the last recordSourcesMax', () => {
  const [file] = project(
    coding,
    events(...many(limits.recordSourcesMax + 5, () => ['file.patched', { path: 'a' }] as const)),
  ).files;
  expect([file?.source.length, file?.source.at(-1), file?.patches]).toEqual([
    limits.recordSourcesMax,
    limits.recordSourcesMax + 5,
    limits.recordSourcesMax + 5,
  ]);
});

test('beyond recordsMax the oldest records go and are counted, and failing tests stay', () => {
  const tests = (ids: readonly string[]): readonly [string, JsonObject] => [
    'tests.ran',
    { command: 'x', exitCode: 1, failures: ids.map((id) => ({ test: id })) },
  ];
  const old = many(limits.recordsMax, (index) => `old${index}::x`);
  const fresh = many(10, (index) => `new${index}::x`);
  const { failures, facts, dropped } = project(
    coding,
    events(
      tests(old),
      ['file.patched', { path: 'a' }],
      ['tests.ran', { command: 'x', exitCode: 1, failures: [{ test: 'old0::x' }], passed: old.slice(1) }],
      ['tests.ran', { command: 'y', exitCode: 1, failures: fresh.map((id) => ({ test: id })) }],
      ...many(limits.recordsMax + 3, (index) => ['note.added', { text: `fact ${index}` }] as const),
    ),
  );
  expect(failures.length).toBe(limits.recordsMax + 1);
  expect(failures.filter(({ status }) => status === 'active').map(({ test: id }) => id)).toEqual(['old0::x', ...fresh]);
  expect([facts.length, facts[0]?.text, dropped]).toEqual([limits.recordsMax, 'fact 3', 12]);
});

test('beyond codingRunsMax the oldest ended run goes', () => {
  const run = (index: number, type: string): readonly [string, JsonObject, Partial<Event>] => [
    type,
    { outcome: 'ok' },
    { run: `r${index}` },
  ];
  const { runs } = project(
    coding,
    events(
      run(0, 'run.started'),
      ...many(limits.codingRunsMax, (index) => [run(index + 1, 'run.started'), run(index + 1, 'run.ended')]).flat(),
    ),
  );
  expect([runs.length, runs[0]?.run, runs[1]?.run]).toEqual([limits.codingRunsMax, 'r0', 'r2']);
});

test('a file that grows beyond patchedFileMax is unknown', () => {
  const file = new FileRebuild('a');
  const content = 'x'.repeat(limits.patchedFileMax);
  const [event] = events([
    'file.patched',
    { path: 'a', before: content, patch: '@@ -1 +1,2 @@\n+y\n '.concat(content, '\n\\ No newline at end of file\n') },
  ]);
  if (event !== undefined) file.apply(event);
  expect(file.finish()).toMatchObject({ status: 'unknown', reason: expect.stringContaining('patchedFileMax') });
});

test('an erased patch, an erased call and an erased risk say the safe thing', () => {
  const failed = ['tests.ran', { command: 'x', exitCode: 1, failures: [{ test: 'a::x' }] }] as const;
  const passed = ['tests.ran', { command: 'x', exitCode: 0, passed: ['a::x'] }] as const;
  const erased = { data: { erased: true }, erased: true } as const;
  const status = (type: string): unknown =>
    project(coding, events(failed, [type, {}, erased], passed)).failures[0]?.status;
  expect([status('file.patched'), status('call.started'), status('note.added')]).toEqual([
    'resolved',
    'resolved',
    'flaky',
  ]);
  expect(project(coding, events(['risk.quarantined', {}, erased])).risks).toMatchObject([{ title: 'erased' }]);
});

test('the sixteenth call before a test command is still forgotten, and an earlier one counts as a change', () => {
  const call = (id: string): readonly [string, JsonObject] => [
    'call.started',
    { call: id, kind: 'process', name: 'sh' },
  ];
  const failed = ['tests.ran', { command: 'x', exitCode: 1, failures: [{ test: 'a::x' }] }] as const;
  const pass = (of: string): readonly [string, JsonObject] => [
    'tests.ran',
    { command: 'x', exitCode: 0, passed: ['b'], call: of },
  ];
  const final = ['tests.ran', { command: 'x', exitCode: 0, passed: ['a::x'] }] as const;
  const story = (count: number): unknown => {
    const ids = many(count, (index) => `c${index}`);
    return project(coding, events(failed, ...ids.map(call), ...ids.map(pass), final)).failures[0]?.status;
  };
  expect([story(16), story(17)]).toEqual(['flaky', 'resolved']);
});

test('a diff applies strictly, or says why not', () => {
  const noHunk = { fault: 'the diff has no hunk' };
  const cases: readonly (readonly [string | null, string, unknown])[] = [
    ['a\nb\nc\n', '@@ -2 +2 @@\n-b\n+B\n', { content: 'a\nB\nc\n' }],
    ['a\nb', '@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n', { content: 'a\nb\n' }],
    ['', '@@ -0,0 +1 @@\n+a\n', { content: 'a\n' }],
    [null, '--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+a\n+\n', { content: 'a\n\n' }],
    ['a\n', '--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', { content: null }],
    ['a\r\nb\r\n', '@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n', { content: 'a\r\nc\r\n' }],
    ['a\nb\n', '@@ -1,2 +1,1 @@\n-a\n b\n@@ -9 +8 @@\n-x\n+y\n', { fault: expect.stringContaining('beyond the end') }],
    ['a\nx\n', '@@ -2 +2 @@\n-b\n+B\n', { fault: 'line 2 is not what the diff expects' }],
    [' a\n', '@@ -1 +1 @@\n-a\n+b\n', { fault: expect.stringContaining('line 1') }],
    ['a\n', '@@ -1 +1 @@\n-a\n', { fault: 'the diff ends inside a hunk' }],
    ['a\n', 'nothing', noHunk],
    ['a\n', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n', { content: 'a\n' }],
    ['a\n', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\nBinary files a/x and b/x differ\n', noHunk],
    ['a\n', 'diff --git a/y b/x\nsimilarity index 100%\nrename from y\nrename to x\n', noHunk],
    [null, '@@ -1 +1 @@\n-a\n+b\n', { fault: expect.stringContaining('does not exist') }],
    ['a\n', '@@ -1 +1 @@\n?a\n+b\n', { fault: expect.stringContaining('not part of a hunk') }],
  ];
  for (const [content, diff, result] of cases) {
    const applied = applyDiff(content === null ? null : linesOf(content), diff);
    const shown = 'fault' in applied ? applied : { content: applied.lines?.join('') ?? null };
    expect(shown, diff).toEqual(result);
  }
});
