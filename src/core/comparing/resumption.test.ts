import { describe, expect, test } from 'vitest';
import type { Event } from '../event/event.ts';
import type { JsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import type { Digest, Seq } from '../point.ts';
import { createRunBook, firstRunOf, noteRun, type RunBook } from './resumption.ts';

function event(type: string, run: string, data: JsonObject = {}, agent = 'a'): Event {
  const base = {
    session: 's',
    branch: 'main',
    seq: 1 as Seq,
    id: 'e',
    time: '',
    version: 1,
    turn: 0,
    digest: '' as Digest,
  };
  return { ...base, type, run, agent, data };
}

function bookOf(...events: readonly Event[]): RunBook {
  const book = createRunBook();
  for (const one of events) noteRun(book, one);
  return book;
}

const started = (run: string, agent?: string): Event => event('run.started', run, {}, agent);
const ended = (run: string, outcome: string): Event => event('run.ended', run, { outcome });
const resumed = (run: string, data: JsonObject = {}, agent?: string): Event =>
  event('run.started', run, { resumed: data }, agent);

describe('a resumed run', () => {
  test('continues the run it names, through any number of resumes', () => {
    const book = bookOf(started('r1'), started('r2'), resumed('r3', { run: 'r1' }), resumed('r4', { run: 'r3' }));
    expect(['r1', 'r2', 'r3', 'r4', 'other'].map((run) => firstRunOf(book, run))).toEqual([
      'r1',
      'r2',
      'r1',
      'r1',
      'other',
    ]);
  });

  test('continues, if it names none, the last one of its agent that did not end well', () => {
    const book = bookOf(
      started('r1'),
      ended('r1', 'interrupted'),
      started('r2', 'b'),
      started('r3'),
      ended('r3', 'ok'),
      resumed('r4'),
    );
    expect(firstRunOf(book, 'r4')).toBe('r1');
  });

  test('does not continue what another has continued', () => {
    expect(firstRunOf(bookOf(started('r1'), started('r2'), resumed('r3'), resumed('r4', {})), 'r4')).toBe('r2');
    expect(firstRunOf(bookOf(started('r1'), ended('r1', 'ok'), resumed('r2')), 'r2')).toBe('r2');
  });

  test('does not depend on the order of keys, which storing a book changes', () => {
    const book = bookOf(started('b'), started('a'));
    const sorted: RunBook = { count: book.count, runs: Object.fromEntries(Object.entries(book.runs).sort()) };
    noteRun(sorted, resumed('c'));
    expect(firstRunOf(sorted, 'c')).toBe('a');
  });

  test('runs may have any id', () => {
    const book = bookOf(started('__proto__'), started('10'), resumed('x', { run: '__proto__' }));
    expect(firstRunOf(book, 'x')).toBe('__proto__');
    expect(firstRunOf(book, 'constructor')).toBe('constructor');
  });

  test('is all a book remembers: it does not grow with runs that began and ended by themselves', () => {
    const book = createRunBook();
    for (let count = 0; count < 5_000; count++) {
      noteRun(book, started(`r${count}`));
      noteRun(book, ended(`r${count}`, 'ok'));
    }
    expect(Object.keys(book.runs)).toEqual([]);
    expect(firstRunOf(bookOf(started('r1'), ended('r1', 'ok'), resumed('r2', { run: 'r1' })), 'r2')).toBe('r1');
  });

  test('is remembered among the last thousand that are open or continued another', () => {
    const book = createRunBook();
    for (let count = 0; count < limits.runsRememberedMax + 10; count++) noteRun(book, started(`r${count}`));
    expect(Object.keys(book.runs)).toHaveLength(limits.runsRememberedMax);
    noteRun(book, resumed('x'));
    expect(firstRunOf(book, 'x')).toBe(`r${limits.runsRememberedMax + 9}`);
  });
});
