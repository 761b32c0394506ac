import { describe, expect, test } from 'vitest';
import type { Seq } from '../../core/point.ts';
import type { StateOperation } from '../../engine/state/entry.ts';
import { type OperationFrame, operationLines, shortKey, summaryOf } from './operation-line.ts';

const write = (key: string, value: StateOperation['value'], version = 1): StateOperation => ({
  agent: 'support',
  key,
  op: 'write',
  value: value ?? null,
  version,
});
const lines = (operations: readonly StateOperation[], frame: Partial<OperationFrame> = {}): string[] =>
  operationLines(
    { txn: '0123456789abcdef', seq: 7 as Seq, time: '2026-11-15T10:20:30.400Z', operations },
    { namespace: 'default', isVerbose: false, ...frame },
  );

describe('an operation as a line', () => {
  test('has the time of the wall clock, the agent, the operation, the key, the version, the seq and the value', () => {
    expect(lines([write('plan', { next: 'ask' }, 3)])).toEqual([
      '10:20:30Z  agent=support  WRITE  key=plan                  v=3  seq=7  {"next":"ask"}',
    ]);
  });

  test('is called after the first part of its key, unless it is a delete', () => {
    const keys = ['tool/x', 'note/x', 'annotation/x', 'final/x', 'answer/x', 'toolbox'];
    const labels = lines(keys.map((key) => write(key, 1))).map((line) => line.split('  ')[2]?.trim());
    expect(labels).toEqual(['TOOL', 'NOTE', 'NOTE', 'FINAL', 'FINAL', 'WRITE']);
    const gone = { agent: 'a', key: 'tool/x', op: 'delete', version: 2 } as const;
    expect(lines([gone])).toEqual(['10:20:30Z  agent=a  DEL    key=tool/x                v=2  seq=7']);
  });

  test('names the namespace only where it is another than the default, and cuts long agents', () => {
    const long = { ...write('a', 1), agent: 'a-very-long-agent-id-indeed' };
    expect(lines([long], { namespace: 'production' })[0]).toMatch(
      /^10:20:30Z {2}ns=production {2}agent=a-very-long-agent\.\.\. {2}WRITE/,
    );
  });

  test('verbose, has the transaction, its place in it and the whole value', () => {
    const long = 'x'.repeat(200);
    const gone = { agent: 'a', key: 'tool/x', op: 'delete', version: 2 } as const;
    expect(lines([write('tool/y', { long }), gone], { isVerbose: true })).toEqual([
      '10:20:30Z  txn=0123456789ab  event=0  agent=support  WRITE  key=tool/y  v=1  seq=7',
      'payload:',
      '  {',
      `    "long": "${long}"`,
      '  }',
      '10:20:30Z  txn=0123456789ab  event=1  agent=a  DELETE  key=tool/x  v=2  seq=7',
    ]);
  });

  test('says that what it would show was erased', () => {
    const erased = { txn: 't', seq: 7 as Seq, time: '2026-11-15T10:20:30.400Z', operations: [], erased: true } as const;
    expect(operationLines(erased, { namespace: 'default', isVerbose: false })).toEqual(['10:20:30Z  ERASED  seq=7']);
  });

  test('sends nothing that a terminal would obey', () => {
    const [line] = lines([{ ...write('a\u001b[2Jb', 'c\u001b[2J\u202e'), agent: 'x\u0085' }]);
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});

describe('a value in short', () => {
  test.each([
    [null, 'null'],
    [true, 'true'],
    [-1.5, '-1.5'],
    ['', '""'],
    ['a\nb\tc\r', '"a\\nb\\tc\\r"'],
    [[], '[]'],
    [{}, '{}'],
    [[1, { a: [2] }], '[1,{"a":[2]}]'],
    ['x'.repeat(118), `"${'x'.repeat(118)}"`],
    ['x'.repeat(119), `"${'x'.repeat(114)}..."`],
    [Array.from({ length: 60 }, () => 'abc'), '["abc", "abc", ...] len=60'],
    [['x'.repeat(50), 'y'.repeat(90)], `["${'x'.repeat(26)}..., "${'y'.repeat(26)}...] len=2`],
    [{ one: 'x'.repeat(90), two: 2, three: 'y'.repeat(40) }, '{one:..., two:..., n_fields=3}'],
  ])('%j', (value, text) => {
    expect(summaryOf(value)).toBe(text);
    expect(text.length).toBeLessThanOrEqual(120);
  });

  test('does not end in half a character', () => {
    expect(summaryOf(`${'x'.repeat(113)}${'😀'.repeat(9)}`).isWellFormed()).toBe(true);
  });
});

describe('a key in short', () => {
  test.each([
    ['plan', 'plan'],
    [`start/${'x'.repeat(60)}/end`, 'start/.../end'],
    [`start/${'x'.repeat(60)}`, `start/${'x'.repeat(39)}...`],
    ['x'.repeat(60), `${'x'.repeat(45)}...`],
  ])('%s', (key, text) => {
    expect(shortKey(key)).toBe(text);
  });
});
