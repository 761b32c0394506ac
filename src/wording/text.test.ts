import { describe, expect, test, vi } from 'vitest';
import { beginningOf, cut, fit, fold, plain, widthOf } from './text.ts';

describe('plain()', () => {
  test('shows what a terminal would obey instead of sending it', () => {
    expect(plain('\u001b[31mred\u001b]0;title\u0007')).toBe('␛[31mred␛]0;title␇');
    expect(plain('a\r\nb\tc\u0000\u007f\u009b2J')).toBe('a␍⏎b c␀␡�2J');
    expect(plain('user\u202egpj.exe \u2066x\u2069\u2028y\u061c')).toBe('user�gpj.exe �x��y�');
  });

  test('leaves letters of any script alone, and keeps the length', () => {
    for (const text of ['שלום עולם', 'مرحبا', '日本語', 'e\u0301', '👩‍👩‍👧‍👦', 'a\u001bb']) {
      expect(plain(text)).toHaveLength(text.length);
    }
    expect(plain('שלום')).toBe('שלום');
  });
});

describe('widthOf()', () => {
  test.each([
    ['abc', 3],
    ['日本語', 6],
    ['한국어', 6],
    ['שלום', 4],
    ['שָׁלוֹם', 4],
    ['مَرحَبا', 5],
    ['e\u0301', 1],
    ['\u200b\u200d', 0],
    ['🚀', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['🇫🇷', 2],
    ['❤️', 2],
    ['❤', 1],
    ['1️⃣', 2],
    ['Ａ', 2],
    ['…', 1],
    ['', 0],
  ])('of %j is %i', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });
});

describe('cut() and fit()', () => {
  test('cut where the columns end, never through a character', () => {
    expect(cut('abcdef', 6)).toBe('abcdef');
    expect(cut('abcdef', 4)).toBe('abc…');
    expect(cut('日本語', 6)).toBe('日本語');
    expect(cut('日本語', 5)).toBe('日本…');
    expect(cut('日本語', 4)).toBe('日…');
    expect(cut('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3)).toBe('👩…');
    expect(cut('abe\u0301', 3)).toBe('abe\u0301');
    expect(cut('abe\u0301d', 3)).toBe('ab…');
    expect(cut('abc', 0)).toBe('');
    expect(cut('abc', 1)).toBe('…');
  });

  test('show a picture whose width terminals do not agree on as its first sign', () => {
    expect(cut('🙏🏽 ❤️ 👩‍👩‍👧‍👦 1️⃣ 🇫🇷 日本', 40)).toBe('🙏 ❤ 👩 1️⃣ 🇫🇷 日本');
    expect(fit('👍🏿', 4)).toBe('👍  ');
    expect(cut(`a${'\u0301'.repeat(10_000)}`, 3).length).toBeLessThan(200);
  });

  test('fill every cell to the same width, whatever is in it', () => {
    for (const text of ['abc', '日本語日本語', 'שלום', 'e\u0301e\u0301', '🚀🚀🚀🚀🚀🚀', '']) {
      expect(widthOf(fit(text, 8))).toBe(8);
      expect(widthOf(fit(text, 8, 'right'))).toBe(8);
    }
    expect(fit('7', 3, 'right')).toBe('  7');
  });

  test('look at the beginning of a long text only', () => {
    const long = '語'.repeat(6_000_000);
    const looked = vi.spyOn(Intl.Segmenter.prototype, 'segment');
    expect(cut(long, 10)).toBe('語語語語…');
    expect(beginningOf(long, 3)).toBe('語');
    expect(looked).toHaveBeenCalled();
    expect(Math.max(...looked.mock.calls.map(([text]) => text.length))).toBeLessThan(1_000);
    looked.mockRestore();
  });
});

describe('fold()', () => {
  test('breaks between words, else where the line is full', () => {
    expect(fold('the quick brown fox', 10).lines).toEqual(['the quick', 'brown fox']);
    expect(fold('abcdefghij', 4).lines).toEqual(['abcd', 'efgh', 'ij']);
    expect(fold('a\r\n\nb', 4).lines).toEqual(['a', '', 'b']);
    expect(fold('日本語日本語', 5).lines).toEqual(['日本', '語日', '本語']);
    expect(fold('', 10)).toEqual({ lines: [''], bytesLeft: 0 });
  });

  test('neutralises what a terminal would obey', () => {
    expect(fold('a\u001b[2Jb', 20).lines).toEqual(['a␛[2Jb']);
  });

  test('stops after so many lines, and tells how much is left', () => {
    const folded = fold('word word word word\n'.repeat(650_000), 20, 3);
    expect(folded.lines).toEqual(['word word word word', 'word word word word', 'word word word word']);
    expect(folded.bytesLeft).toBeGreaterThan(12_500_000);
  });

  test('makes its lines as they are asked for', () => {
    const looked = vi.spyOn(Intl.Segmenter.prototype, 'segment');
    expect(fold('語 語 語\n'.repeat(100_000), 20, 3).lines).toEqual(['語 語 語', '語 語 語', '語 語 語']);
    expect(looked.mock.calls.length).toBeLessThan(20);
    looked.mockRestore();
  });

  test('ends on a line narrower than a letter', () => {
    expect(fold('日本', 1).lines).toEqual(['日', '本']);
  });
});
