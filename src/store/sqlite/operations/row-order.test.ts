import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { cellBytes, inPagingOrder } from './row-order.ts';

interface Row {
  readonly values: readonly (string | number | null)[];
  readonly textBytes: number;
}

/** Returns rows like those of events: a few columns, then a text. Most texts are short; a few have up to 9,000 bytes. */
function rowsLikeEvents(count: number): Row[] {
  return Array.from({ length: count }, (_, index) => {
    const most = index % 20 === 0 ? 4_500 : index % 3 === 0 ? 1_900 : 300;
    const text = 'é'.repeat((index * 7_919) % most);
    const values = [1, index, index * 40_000, `id-${index}`, index % 3 === 0 ? null : 'r'.repeat(60), text];
    return { values, textBytes: Buffer.byteLength(text) };
  });
}

const rowBytes = ({ values, textBytes }: Row): number => cellBytes(values, textBytes);

/** Writes rows into a file in memory; returns its pages, and the part of them that is empty. */
function written(rows: readonly Row[]): { readonly pages: number; readonly unused: number } {
  const database = new DatabaseSync(':memory:');
  database.exec('PRAGMA page_size = 4096; CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d TEXT, e TEXT, text TEXT)');
  const insert = database.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)');
  for (const { values } of rows) insert.run(...values);
  const sql = "SELECT count(*) pages, sum(unused) / 4096.0 / count(*) unused FROM dbstat WHERE name = 't'";
  const { pages, unused } = database.prepare(sql).get() ?? {};
  database.close();
  return { pages: Number(pages), unused: Number(unused) };
}

it('orders rows so that their pages are full', () => {
  const rows = rowsLikeEvents(1_000);
  const ordered = inPagingOrder(rows, rowBytes);
  expect(new Set(ordered)).toEqual(new Set(rows));
  expect(ordered.length).toBe(rows.length);
  const [before, after] = [written(rows), written(ordered)];
  expect(before.unused).toBeGreaterThan(0.12);
  expect(after.unused).toBeLessThan(0.04);
  expect(after.pages).toBeLessThan(before.pages);
});

it('leaves a row near its place', () => {
  const rows = rowsLikeEvents(1_000);
  const places = new Map(inPagingOrder(rows, rowBytes).map((row, place) => [row, place]));
  expect(Math.max(...rows.map((row, index) => index - (places.get(row) ?? 0)))).toBeLessThan(16);
});

it('leaves a few small rows as they are', () => {
  const rows = rowsLikeEvents(20);
  expect(inPagingOrder(rows, rowBytes)).toBe(rows);
});
