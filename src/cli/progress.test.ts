import { describe, expect, test } from 'vitest';
import { Progress, type ProgressScreen } from './progress.ts';

function screen(isTerminal = true): ProgressScreen & { readonly written: string[]; ms: number } {
  const written: string[] = [];
  return {
    isTerminal,
    columns: 80,
    written,
    ms: 0,
    write: (text) => void written.push(text),
    now() {
      return this.ms;
    },
  };
}

describe('progress', () => {
  test('says nothing in the first second', () => {
    const held = screen();
    const progress = new Progress('events verified', held);
    held.ms = 999;
    progress.at(500, 1_000);
    progress.end();
    expect(held.written).toEqual([]);
  });

  test('after a second it has a rate and an estimate, on a line that is taken away in the end', () => {
    const held = screen();
    const progress = new Progress('events verified', held);
    held.ms = 2_000;
    progress.at(50_000, 200_000);
    expect(held.written.join('')).toBe('\r\u001b[K50,000 of 200,000 events verified, 25,000/s, 6.0s left');
    progress.end();
    expect(held.written.at(-1)).toBe('\r\u001b[K');
  });

  test('a line is not longer than the terminal, and is not written more than ten times a second', () => {
    const held = { ...screen(), columns: 20 };
    const progress = new Progress('events verified', held);
    for (held.ms = 1_000; held.ms < 2_000; held.ms += 10) progress.at(held.ms, 1_000_000);
    expect(held.written.length).toBe(10);
    expect(Math.max(...held.written.map((text) => text.replace('\r\u001b[K', '').length))).toBeLessThan(20);
  });

  test('a file or a pipe gets none of it', () => {
    const held = screen(false);
    const progress = new Progress('events verified', held);
    held.ms = 5_000;
    progress.at(1, 2);
    progress.end();
    expect(held.written).toEqual([]);
  });
});
