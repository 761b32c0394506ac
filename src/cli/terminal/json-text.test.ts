import { expect, test } from 'vitest';
import { jsonText } from './json-text.ts';

test('what a terminal would obey is escaped, and the value stays the same', () => {
  const value = { text: '\u001b[31m\u009b2J\u202egpj.exe\u2066\u007f', other: 'שלום 日本 🚀' };
  const text = jsonText(value);
  expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u2066]/);
  expect(text).toContain('שלום 日本 🚀');
  expect(JSON.parse(text)).toEqual(value);
  expect(jsonText({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(jsonText(undefined)).toBe('null');
});
