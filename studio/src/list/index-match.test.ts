import { expect, test } from 'vitest';
import { readFilterText } from '../../../src/core/event/filter-words.ts';
import { EventIndex } from '../history/event-index.ts';
import { indexMatch, needsContent } from './index-match.ts';

const at = Date.parse('2026-11-16T10:00:00Z');
const index = new EventIndex();
index.put([
  { seq: 1, time: at, type: 'run.started', turn: 0, agent: 'support', run: 'r1' },
  {
    seq: 2,
    time: at + 1_000,
    type: 'call.started',
    turn: 1,
    agent: 'support',
    run: 'r1',
    kind: 'tool',
    name: 'refund',
  },
  {
    seq: 3,
    time: at + 2_000,
    type: 'call.ended',
    turn: 1,
    agent: 'support',
    run: 'r1',
    kind: 'tool',
    name: 'refund',
    outcome: 'error',
    cause: 2,
  },
  { seq: 4, time: at + 3_000, type: 'message.added', turn: 2, agent: 'Researcher', run: 'r2', name: 'refund' },
]);

const found = (text: string): number[] => {
  const isMatch = indexMatch(index, readFilterText(text, at + 4_000));
  return [1, 2, 3, 4].filter(isMatch);
};

test.each([
  ['', [1, 2, 3, 4]],
  ['kind=tool', [2, 3]],
  ['tool=refund', [2, 3]],
  ['outcome=error', [3]],
  ['agent=support', [1, 2, 3]],
  ['agent=~RESEARCH', [4]],
  ['agent=nobody', []],
  ['type=run.started,message.added', [1, 4]],
  ['turn=1', [2, 3]],
  ['since=2s', [3, 4]],
  ['after=1 through=3', [2, 3]],
])('%s', (text, seqs) => expect(found(text)).toEqual(seqs));

test('text and fields are left to the one who has the content', () => {
  expect(needsContent(readFilterText('mug', at))).toBe(true);
  expect(needsContent(readFilterText('input.order=7', at))).toBe(true);
  expect(needsContent(readFilterText('kind=tool', at))).toBe(false);
});
