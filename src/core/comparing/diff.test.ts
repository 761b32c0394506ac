import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Event, erasedData } from '../event/event.ts';
import type { JsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import type { Digest, Seq } from '../point.ts';
import { type DiffPair, diffHistories, type HistoryDiff } from './diff.ts';
import { changedFields, createHistoryDescriber, type DiffEvent, slotOf } from './diff-describe.ts';
import { pathText } from './value-diff.ts';

const sha256 = (text: string): Digest => hash('sha256', text, 'hex') as Digest;

/** `a` is content a about nothing in particular; `p:a` is content a about p. */
function history(text: string, firstSeq = 1): DiffEvent[] {
  const words = text.split(' ').filter((word) => word !== '');
  return words.map((word, index) => {
    const [slot = '', content] = word.split(':');
    return {
      seq: (firstSeq + index) as Seq,
      type: 'x.happened',
      hash: word,
      slot: content === undefined ? word : slot,
    };
  });
}

function shape({ pairs }: HistoryDiff): string {
  return pairs.map(told).join(' ');
}

function told(pair: DiffPair): string {
  switch (pair.kind) {
    case 'equal':
      return `${pair.left}=${pair.right}`;
    case 'changed':
      return `${pair.left}~${pair.right}`;
    case 'onlyLeft':
      return `-${pair.left}`;
    case 'onlyRight':
      return `+${pair.right}`;
  }
}

describe('diffHistories()', () => {
  test('equal histories are identical', () => {
    const diff = diffHistories(history('a b c'), history('a b c', 11));
    expect(diff).toMatchObject({ identical: true, matched: 3, divergedAt: null, sustainedAt: null, reconvergedAt: [] });
    expect(shape(diff)).toBe('1=11 2=12 3=13');
  });

  test('empty histories are identical', () => {
    expect(diffHistories([], [])).toMatchObject({ identical: true, matched: 0, pairs: [], divergedAt: null });
  });

  test('a history and its beginning part where the shorter one ends', () => {
    const diff = diffHistories(history('a b'), history('a b c d'));
    expect(diff).toMatchObject({ identical: false, matched: 2, onlyRight: 2, divergedAt: { left: null, right: 3 } });
    expect(diff.sustainedAt).toEqual({ left: null, right: 3 });
  });

  test('an inserted event is one addition, and what follows is equal', () => {
    const diff = diffHistories(history('a b c d e'), history('a b new c d e'));
    expect(shape(diff)).toBe('1=1 2=2 +3 3=4 4=5 5=6');
    expect(diff).toMatchObject({
      divergedAt: { left: 3, right: 3 },
      sustainedAt: null,
      reconvergedAt: [{ left: 3, right: 4 }],
    });
  });

  test('what is about the same but says something else is one event, changed', () => {
    const diff = diffHistories(history('a p:1 q:1 b'), history('a p:2 q:1 b'));
    expect(shape(diff)).toBe('1=1 2~2 3=3 4=4');
    expect(diff).toMatchObject({ changed: 1, onlyLeft: 0, onlyRight: 0 });
  });

  test('what is about something else is two events', () => {
    expect(shape(diffHistories(history('a p:1 b'), history('a q:1 b')))).toBe('1=1 -2 +2 3=3');
  });

  test('a changed event keeps its pair when others come in between', () => {
    expect(shape(diffHistories(history('a p:1 b'), history('a n:1 p:2 m:1 b')))).toBe('1=1 +2 2~3 +4 3=5');
  });

  test('repeated events are aligned as far as they go', () => {
    expect(diffHistories(history('a a a b a a'), history('a a b a a a'))).toMatchObject({ matched: 5 });
  });

  test('counts by type', () => {
    const left = history('a p:1 b c');
    const right: DiffEvent[] = history('a p:2 c').map((one) =>
      one.hash === 'c' ? { ...one, type: 'y.happened' } : one,
    );
    expect(diffHistories(left, right).counts).toEqual({
      'x.happened': { matched: 2, changed: 1, onlyLeft: 1, onlyRight: 0 },
    });
  });
});

describe('where histories part for good', () => {
  test('fewer equal events in a row than asked for are not a return', () => {
    const [left, right] = [history('a b x1 c d x2 e f x3'), history('a b y1 c d y2 e f y3')];
    expect(diffHistories(left, right)).toMatchObject({
      divergedAt: { left: 3, right: 3 },
      sustainedAt: { left: 3, right: 3 },
      reconvergedAt: [],
    });
    const two = diffHistories(left, right, { sustainedEvents: 2 });
    expect(two.sustainedAt).toEqual({ left: 9, right: 9 });
    expect(two.reconvergedAt).toEqual([
      { left: 4, right: 4 },
      { left: 7, right: 7 },
    ]);
  });

  test('after a return, it is the first difference that follows', () => {
    const diff = diffHistories(history('a x1 b c d x2 e x3'), history('a y1 b c d y2 e y3'));
    expect(diff).toMatchObject({
      divergedAt: { left: 2, right: 2 },
      sustainedAt: { left: 6, right: 6 },
      reconvergedAt: [{ left: 3, right: 3 }],
    });
  });

  test('the equal events at the beginning are no return', () => {
    expect(diffHistories(history('a b c d x'), history('a b c d y'))).toMatchObject({
      sustainedAt: { left: 5, right: 5 },
      reconvergedAt: [],
    });
  });
});

const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'p:1', 'p:2', 'q:1', 'q:2', 'q:3'), { maxLength: 30 });
const unique = fc.uniqueArray(
  fc.integer({ min: 0, max: 60 }).map((n) => `s${n % 5}:${n}`),
  { maxLength: 40 },
);
const sides = fc.oneof(fc.tuple(words, words), fc.tuple(unique, unique), fc.tuple(words, unique));

function mirrored(diff: HistoryDiff): string[] {
  const swap = (pair: DiffPair): string => {
    if (pair.kind === 'onlyLeft') return `+${pair.left}`;
    if (pair.kind === 'onlyRight') return `-${pair.right}`;
    return `${pair.right}${pair.kind === 'equal' ? '=' : '~'}${pair.left}`;
  };
  return diff.pairs.map(swap).sort();
}

describe('laws', () => {
  test('the pairs, read on one side, are that side', () => {
    fc.assert(
      fc.property(sides, ([a, b]) => {
        const [left, right] = [history(a.join(' ')), history(b.join(' '))];
        const { pairs } = diffHistories(left, right);
        expect(pairs.flatMap((pair) => ('left' in pair ? [pair.left] : []))).toEqual(left.map((one) => one.seq));
        expect(pairs.flatMap((pair) => ('right' in pair ? [pair.right] : []))).toEqual(right.map((one) => one.seq));
        for (const pair of pairs) {
          if (pair.kind !== 'equal' && pair.kind !== 'changed') continue;
          const [l, r] = [left[pair.left - 1] as DiffEvent, right[pair.right - 1] as DiffEvent];
          expect(l.hash === r.hash).toBe(pair.kind === 'equal');
          expect(l.hash === r.hash || l.slot === r.slot).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a history has no difference from itself', () => {
    fc.assert(
      fc.property(words, (a) => {
        expect(diffHistories(history(a.join(' ')), history(a.join(' '))).identical).toBe(true);
      }),
    );
  });

  test('the other way round is the mirror image', () => {
    fc.assert(
      fc.property(sides, ([a, b]) => {
        const [left, right] = [history(a.join(' ')), history(b.join(' '))];
        const [one, two] = [diffHistories(left, right), diffHistories(right, left)];
        expect(mirrored(two)).toEqual(one.pairs.map(told).sort());
        expect(two.divergedAt).toEqual(
          one.divergedAt === null ? null : { left: one.divergedAt.right, right: one.divergedAt.left },
        );
      }),
      { numRuns: 500 },
    );
  });

  test('small histories without unique events share as much as they can', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b'), { maxLength: 9 }),
        fc.array(fc.constantFrom('a', 'b'), { maxLength: 9 }),
        (a, b) => {
          // Twice each, so that nothing is unique and the exact alignment has to do it.
          const [x, y] = [
            [...a, ...a],
            [...b, ...b],
          ];
          expect(diffHistories(history(x.join(' ')), history(y.join(' '))).matched).toBe(longestCommon(x, y));
        },
      ),
    );
  });
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    for (let j = 0; j < b.length; j++) {
      next.push(word === b[j] ? (row[j] as number) + 1 : Math.max(next[j] as number, row[j + 1] as number));
    }
    row = next;
  }
  return row[b.length] as number;
}

describe('long histories are aligned whatever the edit', () => {
  const length = 30_000;
  const make = (content: (index: number) => string, slot: (index: number) => string): DiffEvent[] =>
    Array.from({ length }, (_, index) => ({
      seq: (index + 1) as Seq,
      type: 'x.happened',
      hash: content(index),
      slot: slot(index),
    }));
  const base = make(
    (index) => `u${index}`,
    (index) => `s${index % 7}`,
  );

  test('a fork in the middle', () => {
    const other = base.map((one, index) => (index < length / 2 ? one : { ...one, hash: `v${index}` }));
    expect(diffHistories(base, other)).toMatchObject({
      matched: length / 2,
      changed: length / 2,
      divergedAt: { left: length / 2 + 1 },
    });
  });

  test('nothing in common', () => {
    const other = make(
      (index) => `v${index}`,
      (index) => `t${index % 5}`,
    );
    expect(diffHistories(base, other)).toMatchObject({ matched: 0, changed: 0, onlyLeft: length, onlyRight: length });
  });

  test('nothing unique on either side, which is cut into windows', () => {
    const pattern = (seed: number) => (index: number) => `k${((index * seed) % 101) % 5}`;
    const [left, right] = [make(pattern(7), pattern(7)), make(pattern(13), pattern(13))];
    const diff = diffHistories(left, right);
    expect(diff.matched).toBeGreaterThan(length / 4);
    expect(diff.pairs.filter((pair) => pair.kind !== 'onlyRight')).toHaveLength(length);
    expect(diff.pairs.filter((pair) => pair.kind !== 'onlyLeft')).toHaveLength(length);
  });

  test('every tenth event dropped and every tenth changed', () => {
    const other = base.flatMap((one, index) =>
      index % 10 === 3 ? [] : [index % 10 === 8 ? { ...one, hash: `v${index}` } : one],
    );
    expect(diffHistories(base, other)).toMatchObject({
      matched: length * 0.8,
      changed: length / 10,
      onlyLeft: length / 10,
      onlyRight: 0,
    });
  });
});

let made = 0;
function event(type: string, data: JsonObject, more: Partial<Event> = {}): Event {
  made++;
  return {
    session: 's',
    branch: 'main',
    seq: made as Seq,
    id: `id-${made}`,
    time: new Date(made * 1000).toISOString(),
    type,
    version: 1,
    agent: 'a',
    run: 'r1',
    turn: made,
    data,
    digest: '' as Digest,
    ...more,
  };
}

function described(events: readonly Event[], keepEvents = false): readonly DiffEvent[] {
  const describer = createHistoryDescriber(sha256, { keepEvents });
  for (const one of events) describer.add(one);
  return describer.events();
}

const asked = (text: string, model = 'm'): Event =>
  event('call.started', {
    call: `c${made}`,
    kind: 'model',
    name: model,
    request: { messages: [{ role: 'user', content: text }], body: `raw ${made}` },
  });

describe('describing events', () => {
  test('ids, clocks and envelopes do not count', () => {
    const tell = (): Event[] => [
      event('run.started', {}),
      asked('hi'),
      event('note.added', { text: 'n' }, { cause: `id-${made - 1}` }),
    ];
    const [one, two] = [described(tell()), described(tell())];
    expect(one).toHaveLength(2);
    expect(diffHistories(one, two).identical).toBe(true);
  });

  test('an unedited fork that was resumed and behaved the same has no difference', () => {
    const of = (run: string) => ({ run });
    const note = (text: string, run: string): Event => event('note.added', { text }, of(run));
    const end = (outcome: string, run: string): Event => event('run.ended', { outcome }, of(run));
    const main = [event('run.started', {}), note('a', 'r1'), note('b', 'r1'), end('ok', 'r1')];
    const resumed = event('run.started', { resumed: {} }, of('r2'));
    const fork = [
      event('run.started', {}),
      note('a', 'r1'),
      end('interrupted', 'r1'),
      resumed,
      note('b', 'r2'),
      end('ok', 'r2'),
    ];
    expect(diffHistories(described(main), described(fork)).identical).toBe(true);
    expect(diffHistories(described(main), described(fork.toSpliced(3, 1))).identical).toBe(false);
  });

  test('another model is a changed call, another tool is another call', () => {
    const tool = (name: string): Event => event('call.started', { call: 'c', kind: 'tool', name, input: {} });
    expect(slotOf(asked('x', 'large'))).toBe(slotOf(asked('x', 'small')));
    expect(slotOf(tool('a'))).not.toBe(slotOf(tool('b')));
    expect(slotOf({ ...tool('a'), agent: 'b' })).not.toBe(slotOf(tool('a')));
  });

  test('a changed pair says which fields differ, and noise is not among them', () => {
    const [left, right] = [described([asked('hi', 'large')], true), described([asked('hello', 'small')], true)];
    const [pair] = diffHistories(left, right).pairs;
    expect(pair).toMatchObject({ kind: 'changed', type: 'call.started' });
    const fields = pair?.kind === 'changed' ? pair.fields : undefined;
    expect(fields?.changed.map(({ path, left: was, right: is }) => [pathText(path), was, is])).toEqual([
      ['name', 'large', 'small'],
      ['request.messages[0].content', 'hi', 'hello'],
    ]);
  });

  test('fields of a type that Reprise does not know keep their dots', () => {
    const diff = changedFields(event('my.happened', { 'a.b': 1 }), event('my.happened', { 'a.b': 2 }));
    expect(diff.changed.map(({ path }) => path)).toEqual([['a.b']]);
  });

  test('only so many changed pairs come with their fields', () => {
    const many = (text: string): Event[] =>
      Array.from({ length: limits.diffDetailsMax + 5 }, (_, n) => event('my.happened', { n, text }));
    const { pairs } = diffHistories(described(many('x'), true), described(many('y'), true));
    expect(pairs.filter((pair) => pair.kind === 'changed' && pair.fields !== undefined)).toHaveLength(
      limits.diffDetailsMax,
    );
  });

  test('an erased event differs from what it was', () => {
    const note = event('note.added', { text: 'secret' });
    const erased: Event = { ...note, data: erasedData, erased: true };
    expect(shape(diffHistories(described([note], true), described([erased], true)))).toBe(`${note.seq}~${note.seq}`);
    expect(diffHistories(described([erased]), described([erased])).identical).toBe(true);
  });
});
