import { expect, test } from 'vitest';
import { columnFlags } from '../../../src/core/session/event-columns.ts';
import { EventIndex, type IndexRow } from '../history/event-index.ts';
import { depthsOf, listRows, rowOfSeq } from './list-rows.ts';

function indexOf(rows: readonly Partial<IndexRow>[]): EventIndex {
  const index = new EventIndex();
  index.put(rows.map((row, position) => ({ seq: position + 1, time: position, type: 'note.added', turn: 0, ...row })));
  return index;
}

const noise = { flags: columnFlags.noise };
const all = { raw: false, isMatch: undefined, opened: new Set<number>() };

test('noise folds to a line with its count, an error among it does not', () => {
  const index = indexOf([{}, noise, noise, noise, { flags: columnFlags.noise | columnFlags.error }, noise]);
  const { rows, folds, matched } = listRows(index, all);
  expect([...rows]).toEqual([1, -2, 5, 6]);
  expect(folds.get(2)).toEqual({ from: 2, to: 4, count: 3, why: 'noise' });
  expect(matched).toBe(6);
});

test('a fold that was opened shows its events below its line', () => {
  const index = indexOf([{}, noise, noise, noise]);
  expect([...listRows(index, { ...all, opened: new Set([2]) }).rows]).toEqual([1, -2, 2, 3, 4]);
});

test('events that left the view are one line, or hollow rows in raw history', () => {
  const index = indexOf([{}, {}, {}, {}]);
  index.leaveOut([[2, 3]]);
  expect([...listRows(index, all).rows]).toEqual([1, -2, 4]);
  expect([...listRows(index, { ...all, raw: true }).rows]).toEqual([1, 2, 3, 4]);
});

test('a marker is a row, although no view holds it', () => {
  const index = indexOf([{}, { flags: columnFlags.marker }, {}]);
  index.leaveOut([[2, 2]]);
  expect([...listRows(index, all).rows]).toEqual([1, 2, 3]);
});

test('a filter shows what matches and folds nothing', () => {
  const index = indexOf([{}, noise, noise, noise]);
  const found = listRows(index, { ...all, isMatch: (seq) => seq > 2 });
  expect([[...found.rows], found.matched]).toEqual([[3, 4], 2]);
});

test('the row of an event is found, also inside a fold', () => {
  const rows = listRows(indexOf([{}, noise, noise, noise, {}]), all);
  expect([1, 2, 4, 5].map((seq) => rowOfSeq(rows, seq))).toEqual([0, 1, 1, 2]);
});

test('events are as deep as their causes, up to a limit', () => {
  const index = indexOf([
    { type: 'run.started' },
    { type: 'call.started', cause: 1 },
    { type: 'call.ended', cause: 2, began: 2 },
    { cause: 2 },
    { cause: 4 },
    { cause: 5 },
    { cause: 6 },
  ]);
  expect([...depthsOf(index)].slice(1)).toEqual([0, 1, 1, 2, 3, 4, 4]);
});
