import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNodePlatform } from '../../node/platform.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { createMaskKey } from './mask.ts';
import { createMasker } from './masking.ts';
import type { MaskingOptions } from './masking-options.ts';
import { compareMasked } from './same-value.ts';

const { sha256 } = createNodePlatform();
const key = createMaskKey({ sha256, key: 'k', seed: 's' });
const otherKey = createMaskKey({ sha256, key: 'other', seed: 's' });

function stored(input: JsonValue, options: MaskingOptions = {}): JsonValue | undefined {
  const { data } = createMasker(options, { key })({ type: 'x.happened', data: { input } });
  return (data as JsonObject | undefined)?.['input'];
}

const inputs: readonly JsonValue[] = [
  { password: 'hunter2', n: 1 },
  { password: 12345678 },
  { credentials: { user: 'bob', pins: [1, 22], ok: true } },
  'Use sk-proj-abcDEF1234567890abcDEF1234 and then pwd=abc, please',
  '{"password":"hun\\"ter2","secret":42,"a":"b"}',
  { arguments: JSON.stringify({ body: JSON.stringify({ token: 'a"b' }) }) },
  { url: 'postgres://app:p%40ss@db/x', headers: { authorization: 'Bearer abc.def' } },
  { 'sk-proj-abcDEF1234567890abcDEF1234': true },
  { words: ['--password', 'hunter2'], args: ['-u', 'bob:hunter2'] },
];

test.each(inputs)('masked arguments are the same as those they were made of: %j', (input) => {
  const masked = stored(input);
  expect(masked).not.toEqual(input);
  const isKey = Object.keys(input as object).some((name) => name.startsWith('sk-'));
  expect(compareMasked(masked, input, key)).toBe(isKey ? 'unknown' : 'same');
  expect(compareMasked(masked, masked, key)).toBe('same');
});

test.each(inputs)('nobody can tell if the key is a different one, or is not there: %j', (input) => {
  const masked = stored(input);
  expect(compareMasked(masked, input, otherKey)).toBe('unknown');
  expect(compareMasked(masked, input)).toBe('unknown');
});

test('a different secret, or a difference beside it, is a difference under any key', () => {
  const masked = stored({ password: 'hunter2', order: 7 });
  expect(compareMasked(masked, { password: 'hunter3', order: 7 }, key)).toBe('different');
  for (const each of [key, otherKey, undefined])
    for (const other of [{ password: 'hunter2', order: 8 }, { password: 'hunter2' }, { order: 7, token: 'x' }, null, 7])
      expect(compareMasked(masked, other, each)).toBe('different');
});

test('a secret that was masked because it was known is found in arguments where no rule finds it', () => {
  const mask = createMasker({}, { key });
  mask({ type: 'x.happened', data: { password: 'hunter2hunter2' } });
  const { data } = mask({ type: 'x.happened', data: { input: { text: 'It is hunter2hunter2!' } } });
  expect(JSON.stringify(data)).not.toContain('hunter2');
  expect(compareMasked((data as JsonObject)['input'], { text: 'It is hunter2hunter2!' }, key)).toBe('same');
  expect(compareMasked((data as JsonObject)['input'], { text: 'It is hunter3hunter2!' }, key)).toBe('different');
});

test('text without the id of a key is not a mask', () => {
  const text = `[masked openai-key ${sha256('s\nsecret').slice(0, 8)}]`;
  expect(compareMasked({ key: text }, { key: text }, key)).toBe('same');
  expect(compareMasked({ key: text }, { key: 'secret' }, key)).toBe('different');
});

test('a quote between two masks is that of one of them', () => {
  const rules = [{ name: 'digit', pattern: /\d+/ }];
  expect(compareMasked(stored(['"1"1"'], { rules }), ['"1"1"'], key)).toBe('same');
  expect(compareMasked(stored(['"1"1"'], { rules }), ['"1"2"'], key)).toBe('different');
});

test('any arguments equal their masked form, whatever stands around the secrets', () => {
  const rules = [{ name: 'digit', pattern: /\d+/ }];
  const text = fc.string({ unit: fc.constantFrom('1', '2', 'a', ' ', '"', '\\', '[', ']') });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), text, (texts, other) => {
      const masked = stored(texts, { rules });
      expect(compareMasked(masked, texts, key)).toBe('same');
      if (!texts.includes(other)) expect(compareMasked(masked, [...texts, other], key)).toBe('different');
    }),
  );
});
