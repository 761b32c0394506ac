import { expect, test } from 'vitest';
import { widthOf } from '../../wording/text.ts';
import { type Column, tableLines } from './table.ts';

interface Row {
  readonly name: string;
  readonly title: string;
  readonly count: number;
  readonly note?: string;
}

const rows: readonly Row[] = [
  { name: 'a', title: 'A title of some length', count: 7 },
  { name: '日本語', title: 'שלום', count: 12_345 },
];
const columns: readonly Column<Row>[] = [
  { title: 'NAME', value: (row) => row.name, flex: 1, widthMin: 4 },
  { title: 'TITLE', value: (row) => row.title, flex: 2, widthMin: 8 },
  { title: 'COUNT', value: (row) => String(row.count), align: 'right', optional: 1 },
  { title: 'NOTE', value: (row) => row.note ?? '', optional: 2 },
];
const lines = (width: number, given: readonly Row[] = rows): string[] =>
  tableLines(given, columns, { columns: width, bold: (text) => text });

test('columns are as wide as they need to be, and one in which nobody has anything is left out', () => {
  expect(lines(80)).toEqual([
    'NAME    TITLE                   COUNT',
    'a       A title of some length      7',
    '日本語  שלום                    12345',
  ]);
});

test('on a narrow terminal the flexible ones share what there is, then the optional ones go', () => {
  expect(lines(26)).toEqual(['NAME    TITLE        COUNT', 'a       A title of…      7', '日本語  שלום         12345']);
  expect(lines(16)).toEqual(['NAME   TITLE', 'a      A title …', '日本…  שלום']);
});

test('no line is ever wider than the terminal', () => {
  for (let width = 14; width < 60; width++) {
    for (const line of lines(width, [...rows, { name: 'long name of a row', title: 't', count: 1, note: 'noted' }]))
      expect(widthOf(line)).toBeLessThanOrEqual(width);
  }
});
