import { expect, test } from 'vitest';
import { type CallHalf, pairHalves } from './call-halves.ts';

const half = (event: string, more: Partial<CallHalf> = {}): CallHalf => ({
  isStart: event.startsWith('s'),
  event,
  call: 'call_1',
  agent: 'a',
  run: 'r1',
  cause: null,
  isPerson: false,
  ...more,
});

/** The pairs as `start+end`, with `-` for a missing half. */
const pairs = (...halves: readonly CallHalf[]): string[] =>
  pairHalves(halves).map(({ start, end }) => `${start?.event ?? '-'}+${end?.event ?? '-'}`);

const other = { agent: 'b', run: 'r2' };
const later = { run: 'r2' };

test.each<[string, readonly CallHalf[], readonly string[]]>([
  ['the cause decides', [half('s1'), half('s2'), half('e1', { cause: 's1' })], ['s1+e1', 's2+-']],
  [
    'a replaced cause too',
    [half('s1', { replaced: ['s0'] }), half('s2'), half('e', { cause: 's0' })],
    ['s1+e', 's2+-'],
  ],
  ['without one, agent and run', [half('s1'), half('s2', other), half('e1'), half('e2', other)], ['s1+e1', 's2+e2']],
  ['in one run, the last open one', [half('s1'), half('s2'), half('e')], ['s1+-', 's2+e']],
  ['a later run may end a call', [half('s1'), half('e', later)], ['s1+e']],
  ['not if it had a different cause', [half('s1'), half('e', { ...later, cause: 'm' })], ['s1+-', '-+e']],
  ['no other agent ends a call', [half('s1'), half('e', other)], ['s1+-', '-+e']],
  ['an agent may be unknown', [half('s1'), half('e', { agent: null, run: null })], ['s1+e']],
  ['the call around it is not its start', [half('s1', { call: 'outer' }), half('e', { cause: 's1' })], ['s1+-', '-+e']],
  ['an erased end keeps its cause', [half('s1'), half('s2'), half('e', { call: null, cause: 's1' })], ['s1+e', 's2+-']],
  ['an erased start is named', [half('s1', { call: null }), half('e', { cause: 's1' })], ['s1+e']],
  [
    'a person answers as anyone, in any run',
    [half('s1'), half('e', { ...other, cause: 'm', isPerson: true })],
    ['s1+e'],
  ],
  [
    'but not one of two questions',
    [half('s1'), half('s2', other), half('e', { agent: 'c', run: 'r3', isPerson: true })],
    ['s1+-', 's2+-', '-+e'],
  ],
])('pairs the halves of calls: %s', (_, halves, expected) => {
  expect(pairs(...halves)).toEqual(expected);
});
