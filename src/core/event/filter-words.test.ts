import { expect, test } from 'vitest';
import { filterFromWords, readFilterText, timeFromWord } from './filter-words.ts';

const now = Date.parse('2026-11-15T10:00:00Z');

test('every word becomes its condition, and what is not given is not there', () => {
  expect(filterFromWords({}, now)).toEqual({});
  expect(
    readFilterText('type=call.started,call.ended agent=~sup run=r kind=tool tool=refund outcome=error turn=4', now),
  ).toEqual({
    types: ['call.started', 'call.ended'],
    agent: '~sup',
    run: 'r',
    kind: 'tool',
    name: 'refund',
    outcome: 'error',
    turn: 4,
  });
  expect(readFilterText('since=2h until=2026-11-15T10:00:00Z after=3 through=9', now)).toEqual({
    since: '2026-11-15T08:00:00.000Z',
    until: '2026-11-15T10:00:00.000Z',
    after: 3,
    through: 9,
  });
});

test('bare words are searched for, and quotes keep spaces', () => {
  expect(readFilterText('broken mug', now)).toEqual({ text: 'broken mug' });
  expect(readFilterText('"broken  mug" kind=tool', now)).toEqual({ text: 'broken  mug', kind: 'tool' });
  expect(readFilterText('tool="look up"', now)).toEqual({ name: 'look up' });
  expect(readFilterText('', now)).toEqual({});
});

test('a pattern, and a name that no option has, are conditions on a field', () => {
  expect(readFilterText('input.order=/^7 $/ data.x=y agent=/a|b/', now)).toEqual({
    fields: [
      { key: 'input.order', pattern: '^7 $' },
      { key: 'data.x', pattern: 'y' },
      { key: 'agent', pattern: 'a|b' },
    ],
  });
});

test('what cannot be read is refused with a hint', () => {
  expect(() => readFilterText('turn=soon', now)).toThrow(/"soon" is not a whole number/);
  expect(() => readFilterText('since=yesterday', now)).toThrow(/Cannot read "yesterday" as a time/);
  expect(() => readFilterText('name=/(/', now)).toThrow(/is not a regular expression/);
});

test('a time may be written as how long ago it was', () => {
  expect(timeFromWord('90s', now)).toBe('2026-11-15T09:58:30.000Z');
  expect(timeFromWord('1w', now)).toBe('2026-11-08T10:00:00.000Z');
});
