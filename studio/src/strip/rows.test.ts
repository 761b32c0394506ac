import { expect, test } from 'vitest';
import { columnFlags } from '../../../src/core/session/event-columns.ts';
import { EventIndex, type IndexRow } from '../history/event-index.ts';
import { rowsOf } from './rows.ts';

const none: ReadonlySet<string> = new Set();

function indexOf(rows: readonly Partial<IndexRow>[]): EventIndex {
  const index = new EventIndex();
  index.put(
    rows.map((row, position) => ({ seq: position + 1, time: position, type: 'call.started', turn: 0, ...row })),
  );
  return index;
}

const start = (agent: string, run = 'r1') => ({ type: 'call.started', agent, run, flags: columnFlags.call });
const end = (cause: number, agent: string, run = 'r1') => ({
  type: 'call.ended',
  began: cause,
  agent,
  run,
  flags: columnFlags.call | columnFlags.end,
});

test('calls that overlap get rows of their own, calls that follow each other share one', () => {
  const rows = rowsOf(indexOf([start('a'), start('a'), end(1, 'a'), end(2, 'a'), start('a'), end(5, 'a')]), none);
  expect([...rows.bars.row]).toEqual([0, 1, 0]);
  expect(rows.groups).toMatchObject([{ agent: 'a', firstRow: 0, rows: 2 }]);
});

test('agents come in the order of their first event, each in rows of its own', () => {
  const rows = rowsOf(indexOf([start('b'), start('a'), end(2, 'a'), end(1, 'b'), start('b'), end(5, 'b')]), none);
  expect(rows.groups.map(({ agent, firstRow }) => [agent, firstRow])).toEqual([
    ['b', 0],
    ['a', 1],
  ]);
  expect([...rows.bars.row]).toEqual([0, 1, 0]);
});

test('runs of an agent that follow each other share rows, runs at the same time do not', () => {
  const after = rowsOf(indexOf([start('a', 'r1'), end(1, 'a', 'r1'), start('a', 'r2'), end(3, 'a', 'r2')]), none);
  expect([after.laneRows, ...after.bars.row]).toEqual([1, 0, 0]);
  const beside = rowsOf(indexOf([start('a', 'r1'), start('a', 'r2'), end(1, 'a', 'r1'), end(2, 'a', 'r2')]), none);
  expect([beside.laneRows, ...beside.bars.row]).toEqual([2, 0, 1]);
});

test('runs that need different numbers of rows share them, one after the other', () => {
  const rows = rowsOf(
    indexOf([
      start('a', 'r1'),
      end(1, 'a', 'r1'),
      start('a', 'r2'),
      start('a', 'r2'),
      end(3, 'a', 'r2'),
      end(4, 'a', 'r2'),
      start('a', 'r3'),
    ]),
    none,
  );
  expect([rows.laneRows, ...rows.bars.row]).toEqual([2, 0, 0, 1, 0]);
});

test('a folded agent takes one row', () => {
  const index = indexOf([start('a'), start('a'), end(1, 'a'), end(2, 'a'), start('b'), end(5, 'b')]);
  const rows = rowsOf(index, new Set(['a']));
  expect([...rows.bars.row]).toEqual([0, 0, 1]);
  expect(rows.groups[0]).toMatchObject({ folded: true, rows: 1, wholeRows: 2 });
});

test('state, markers and tasks stand below the lanes', () => {
  const rows = rowsOf(
    indexOf([
      { type: 'state.committed', agent: 'a' },
      { type: 'branch.rewound', flags: columnFlags.marker },
      { type: 'task.started' },
      { type: 'message.added', agent: 'a', run: 'r' },
    ]),
    none,
  );
  expect([[...rows.marks.state], [...rows.marks.markers], [...rows.marks.tasks], rows.rowOf[4]]).toEqual([
    [1],
    [2],
    [3],
    1,
  ]);
});

test('many calls at once share the last row instead of growing without end', () => {
  const rows = rowsOf(indexOf(Array.from({ length: 40 }, () => start('a'))), none);
  expect(rows.laneRows).toBe(8);
});

test('a run that resumed goes on with the lane of its agent, so that a third run beside both gets rows of its own', () => {
  const resumed = { type: 'run.started', agent: 'a', run: 'r2', flags: columnFlags.resumed };
  const rows = rowsOf(
    indexOf([start('a', 'r3'), start('a', 'r1'), end(2, 'a', 'r1'), resumed, start('a', 'r2'), end(1, 'a', 'r3')]),
    none,
  );
  expect([...rows.bars.row]).toEqual([0, 1, 1]);
});
