import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from './pattern.ts';
import { UnsupportedPattern } from './pattern-syntax.ts';

const texts = [
  '',
  'a',
  'A',
  'abc',
  'aXb',
  'foo bar',
  'order-17',
  'ÄÖü',
  'line\nbreak',
  '  tail  ',
  'k',
  'K',
  'ſ',
  'ﬀ',
  '\u2028',
  '_9',
];

describe('compilePattern() finds what JavaScript finds', () => {
  test.each([
    'a',
    '^a$',
    'a|b',
    '(a|b)*c',
    'a{2,3}',
    'a{0}',
    'a{2,}',
    'a{,2}',
    '{',
    'a{',
    'x{1',
    ']',
    '[abc]',
    '[^abc]',
    '[a-z]',
    '[\\w-z]',
    '[a\\-z]',
    '[]',
    '[^]',
    '\\d+',
    '\\D',
    '\\w+\\b',
    '\\B',
    '^\\s*$',
    '\\s+$',
    '.',
    '.*',
    'a.b',
    '\\.',
    '\\x41',
    '\\u0041',
    '\\uzz',
    '\\cA',
    '\\0',
    '\\t\\n',
    '[\\b]',
    'ä',
    'Ö',
    'K',
    '\u212a',
    'ſ',
    's',
    '(?:)',
    '(?:){1000}',
    '(?:a{0}){100}',
    '(?<name>a)b',
    'a??b',
    'a*?',
    '(a*)*',
    '(?:\\b|a)*b',
    '(^a|b$)',
    '\\-',
    '[\\d-]',
    '[-a]',
    '$^',
    'a$|^b',
  ])('%s', (source) => {
    const native = new RegExp(source, 'i');
    const ours = compilePattern(source);
    for (const text of [...texts, source]) expect([text, ours.test(text)]).toEqual([text, native.test(text)]);
  });

  test('on random patterns and texts', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      'C',
      '.',
      '\\d',
      '\\w',
      '\\W',
      '\\s',
      '\\b',
      '\\B',
      '^',
      '$',
      '[a-c]',
      '[^b]',
      '1',
      ' ',
      'é',
    );
    const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 3 },
        atom,
        tie('pattern').map((each) => `(${each})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?'))
          .map(([each, sign]) => `(?:${each})${sign}`),
      ),
      pattern: fc.oneof(
        { maxDepth: 3 },
        tie('part'),
        fc.tuple(tie('part'), tie('part')).map((each) => each.join('')),
        fc.tuple(tie('part'), tie('part')).map((each) => each.join('|')),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'B', 'c', '1', ' ', 'É', '-', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, all) => {
        const [native, ours] = [new RegExp(source, 'i'), compilePattern(source)];
        for (const each of all) expect([source, each, ours.test(each)]).toEqual([source, each, native.test(each)]);
      }),
      { numRuns: 2000 },
    );
  });
});

test.each(['(a)\\1', '(?=a)', '(?!a)', '(?<=a)b', '(?<!a)b', '(?<n>a)\\k<n>', '\\12'])(
  'compilePattern() refuses %s',
  (source) => {
    expect(() => compilePattern(source)).toThrow(UnsupportedPattern);
  },
);

test('a pattern that backtracks without end elsewhere looks at each character of a text a bounded number of times', () => {
  // With a backtracking engine the first of these takes longer than the universe is old.
  for (const source of ['(a+)+$', '(a|a)+$', '\\s+$', '(a|aa)+$', '(.*a){20}$', '(x+x+)+y'])
    expect(compilePattern(source).test(`${'a'.repeat(50_000)}${' '.repeat(50_000)}!`)).toBe(false);
});

test('a pattern that comes to too many instructions is refused', () => {
  expect(() => compilePattern('((a{50}){50}){50}')).toThrow(/filterPatternMax/);
});
