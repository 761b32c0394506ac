import { expect, test } from 'vitest';
import { foldSpans } from './spans.ts';

const texts = (...given: Parameters<typeof foldSpans>): string[] =>
  foldSpans(...given).map((line) => line.map(({ text, style }) => (style === undefined ? text : `<${text}>`)).join(''));

test('spans are folded between words, and keep their style on every line', () => {
  expect(texts([{ text: 'one two ' }, { text: 'three four', style: 'red' }, { text: ' five' }], 12)).toEqual([
    'one two ',
    '<three four> ',
    'five',
  ]);
});

test('a word that is too long is cut, and a line break is one', () => {
  expect(texts([{ text: 'abcdefgh', style: 'red' }], 3)).toEqual(['<abc>', '<def>', '<gh>']);
  expect(texts([{ text: 'a\nb' }], 10)).toEqual(['a', 'b']);
});

test('wide letters count twice, and nothing is sent that a terminal would obey', () => {
  expect(texts([{ text: '日本語 日本' }], 6)).toEqual(['日本語', '日本']);
  expect(texts([{ text: 'a\u001b[2J' }], 20)).toEqual(['a␛[2J']);
});
