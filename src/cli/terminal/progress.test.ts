import { expect, test } from 'vitest';
import { Progress } from './progress.ts';

function screen(isTTY: boolean): { readonly written: string[]; readonly progress: Progress; clock: number } {
  const written: string[] = [];
  const made = { written, clock: 0, progress: undefined as unknown as Progress };
  made.progress = new Progress({ isTTY, columns: 60, write: (text) => written.push(text) }, () => made.clock);
  return made;
}

test('nothing is drawn in the first second, then how far, how fast and how long still', () => {
  const made = screen(true);
  made.progress.begin('diff', 10_000);
  made.clock = 900;
  made.progress.add(1_000);
  expect(made.written).toEqual([]);
  made.clock = 2_000;
  made.progress.add(1_000);
  expect(made.written).toEqual(['\r\u001b[2Kdiff: 2,000 of 10,000 events, 1,000/s, about 8.0s left']);
  made.clock = 2_050;
  made.progress.add(1);
  expect(made.written).toHaveLength(1);
});

test('the line is taken off before anything else is written, and at the end', () => {
  const made = screen(true);
  made.progress.begin('list');
  made.clock = 1_500;
  made.progress.add(3_000);
  expect(made.written).toEqual(['\r\u001b[2Klist: 3,000 events, 2,000/s']);
  made.progress.end();
  made.progress.end();
  expect(made.written.slice(1)).toEqual(['\r\u001b[2K']);
});

test('while something else is written, nothing is drawn', () => {
  const made = screen(true);
  made.progress.begin('replay');
  made.clock = 1_500;
  made.progress.clear();
  made.clock = 2_000;
  made.progress.add(1_000);
  expect(made.written).toEqual([]);
  made.clock = 2_600;
  made.progress.add(1_000);
  expect(made.written).toHaveLength(1);
});

test('a total that was too low is no longer told, and a narrow screen is not overrun', () => {
  const made = screen(true);
  made.progress.begin('verify', 10);
  made.clock = 2_000;
  made.progress.add(4_000);
  expect(made.written).toEqual(['\r\u001b[2Kverify: 4,000 events, 2,000/s']);
  made.progress.begin('x'.repeat(80), 1e9);
  made.clock = 4_000;
  made.progress.add(1);
  expect(made.written.at(-1)).toHaveLength('\r\u001b[2K'.length + 59);
});

test('what turns out to be more raises the total', () => {
  const progress = new Progress({ isTTY: true, write: () => true }, () => 0);
  progress.begin('list');
  progress.expect(1_000);
  progress.expect(500);
  progress.add(300);
  expect(progress.text()).toMatch(/^list: 300 of 1,500 events, .* left$/);
});

test('what is not a terminal gets no frames', () => {
  const made = screen(false);
  made.progress.begin('diff', 10);
  made.clock = 5_000;
  made.progress.add(5);
  made.progress.end();
  expect(made.written).toEqual([]);
});

test('another part is counted anew, and drawn without waiting for another second', () => {
  const made = screen(true);
  made.progress.begin('copy');
  made.clock = 1_000;
  made.progress.turnTo('copy demo', 4_000);
  made.clock = 2_000;
  made.progress.add(1_000);
  made.progress.turnTo('check demo', 4_000);
  made.clock = 2_100;
  made.progress.add(400);
  expect(made.written).toEqual([
    '\r\u001b[2Kcopy demo: 1,000 of 4,000 events, 1,000/s, about 3.0s left',
    '\r\u001b[2Kcheck demo: 400 of 4,000 events, 4,000/s, about 900ms left',
  ]);
});
