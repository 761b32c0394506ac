import { expect, test } from 'vitest';
import { acting, signedPieces } from './recorded-text.tsx';

const shown = (text: string): string =>
  signedPieces(text)
    .map((piece) => (piece.isSign ? `[${piece.text}]` : piece.text))
    .join('');

test('a text that is shown twice has the same signs twice', () => {
  expect([shown('\u001ba'), shown('\u001ba')]).toEqual(['[U+001B]a', '[U+001B]a']);
  expect('\u001ba'.search(acting)).toBe(0);
  expect(shown('\u001ba')).toBe('[U+001B]a');
});

test('characters that would act are shown as signs, and nothing else changes', () => {
  expect(shown('plain\n\ttext “ä”')).toBe('plain\n\ttext “ä”');
  expect(shown('a\u001b[31mred')).toBe('a[U+001B][31mred');
  expect(shown('safe\u202egnp.exe')).toBe('safe[U+202E]gnp.exe');
  expect(shown('zero\u200bwidth\u0000')).toBe('zero[U+200B]width[U+0000]');
});
