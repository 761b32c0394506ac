import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from './sha256.ts';

test('digests are those of everyone else, at every length of a block', () => {
  for (const text of [
    '',
    'abc',
    'ä“😀',
    ...Array.from({ length: 130 }, (_, length) => 'x'.repeat(length)),
    'y'.repeat(100_000),
    '😀'.repeat(50_000),
    'short again',
  ])
    expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
});
