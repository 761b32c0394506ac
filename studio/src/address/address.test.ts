import { expect, test } from 'vitest';
import { type Address, addressText, isSameScreen, readAddress, runAddress } from './address.ts';

const read = (text: string): Address => {
  const url = new URL(text, 'http://localhost');
  return readAddress(url.pathname, url.search);
};

test.each([
  { screen: 'sessions', query: '' },
  { screen: 'sessions', query: 'agent=support refund' },
  { screen: 'runs' },
  { screen: 'store' },
  { screen: 'tree', session: 'refund-7', branch: undefined },
  { screen: 'tree', session: 'a/b@c:d%e', branch: 'x/y' },
  { screen: 'experiment', session: 'refund-7', id: 'e/1' },
  runAddress('refund-7', 'main', 14),
  runAddress('a/b@c:d%e?f#g', 'with/@:%', 'head'),
  runAddress('refund-7', 'main', 'time:2026-11-16T10:00:00Z', { panel: 'why', scale: 'seq' }),
  runAddress('s', 'main', 1, {
    filter: 'kind=tool "a b"',
    range: [3, 90],
    raw: true,
    difference: 2,
    with: ['s/x@3', 's/y'],
  }),
] satisfies Address[])('an address is read as it was written: %j', (address) => {
  expect(read(addressText(address))).toEqual(address);
});

test('an address that is not well formed still opens something', () => {
  expect(read('/nowhere')).toEqual({ screen: 'sessions', query: '' });
  expect(read('/s/refund')).toEqual(runAddress('refund', 'main', 'head'));
  expect(read('/s/refund/careful')).toEqual(runAddress('refund', 'careful', 'head'));
  expect(readAddress('/s/%E0%A4%A/main@3', '')).toEqual(runAddress('%E0%A4%A', 'main', 3));
  expect(read('/s/a/main@3?panel=x&scale=y&range=9-2&d=-1')).toEqual(runAddress('a', 'main', 3));
});

test('selecting stays on the screen, a different branch or a comparison does not', () => {
  const here = runAddress('a', 'main', 3);
  expect(isSameScreen(here, runAddress('a', 'main', 9, { panel: 'why' }))).toBe(true);
  expect(isSameScreen(here, runAddress('a', 'careful', 3))).toBe(false);
  expect(isSameScreen(here, { ...here, with: ['a/careful'] })).toBe(false);
});
