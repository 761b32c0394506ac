import { describe, expect, test } from 'vitest';
import { RepriseError } from '../error.ts';
import type { Digest, Seq } from '../point.ts';
import type { Event } from './event.ts';
import { defineProjection, type Projection, project, valueText } from './projection.ts';

function event(seq: number, more: Partial<Event> = {}): Event {
  return {
    session: 's',
    branch: 'main',
    seq: seq as Seq,
    id: `e${seq}`,
    time: '2026-01-01T00:00:00.000Z',
    type: 'note.added',
    version: 1,
    turn: 0,
    data: { text: String(seq) },
    digest: '' as Digest,
    ...more,
  };
}

const texts = defineProjection({
  name: 'texts',
  version: '1',
  history: 'view',
  initial: (): string[] => [],
  apply: (value, one) => {
    value.push(String(one.data['text']));
    return value;
  },
  finish: (value) => value.join('+'),
});

function caught(action: () => unknown): RepriseError {
  try {
    action();
  } catch (error) {
    if (error instanceof RepriseError) return error;
  }
  throw new Error('no RepriseError was thrown');
}

describe('project()', () => {
  test('folds events in order and finishes the value', () => {
    expect(project(texts, [event(1), event(2)])).toBe('1+2');
  });

  test('starts from a fresh value every time', () => {
    expect(project(texts, [event(1)])).toBe('1');
    expect(project(texts, [])).toBe('');
  });

  test('starts afresh also where the same object is given as the first value each time', () => {
    const shared: string[] = [];
    const careless = defineProjection({ ...texts, name: 'careless', initial: () => shared });
    expect([project(careless, [event(1)]), project(careless, [event(1)])]).toEqual(['1', '1']);
  });

  test.each([
    ['nothing', () => undefined],
    ['a promise', async () => []],
  ])('refuses a fold that gives %s', (what, apply) => {
    const wrong = caught(() => project({ ...texts, apply: apply as never }, [event(1)]));
    expect([wrong.code, wrong.message]).toEqual(['projection.failed', expect.stringContaining(`it gave ${what}`)]);
  });

  test('gives a fold only the types and fields it reads', () => {
    const seen = defineProjection({
      name: 'seen',
      history: 'view',
      types: ['note.added', 'goal.set'],
      without: ['text'],
      initial: (): unknown[] => [],
      apply: (value, one) => [...value, one.type, one.data],
    });
    const events = [event(1), event(2, { type: 'call.ended' }), event(3, { type: 'goal.set', data: { goal: 'x' } })];
    expect(project(seen, events)).toEqual(['note.added', {}, 'goal.set', { goal: 'x' }]);
    expect(events[0]?.data).toEqual({ text: '1' });
  });

  test('refuses types and fields that are no lists of texts', () => {
    const wrong = caught(() => defineProjection({ ...texts, types: 'note.added' as never }));
    expect([wrong.code, wrong.message]).toEqual(['projection.invalid', expect.stringContaining('"types"')]);
    expect(caught(() => defineProjection({ ...texts, without: [1] as never })).message).toContain('"without"');
  });

  test('names projection and seq when a projection throws, with what it threw', () => {
    const boom = new TypeError('boom');
    const bad = defineProjection({
      ...texts,
      name: 'bad',
      apply: (value: string[], one: Event) => {
        if (one.seq === 2) throw boom;
        return value;
      },
    });
    const error = caught(() => project(bad, [event(1), event(2)]));
    expect(error).toMatchObject({ code: 'projection.failed', cause: boom, details: { projection: 'bad', seq: 2 } });
    expect(error.message).toContain('"bad": it threw at seq 2 of "main" ("note.added"): boom');
  });

  test('refuses to fold an event of a newer release', () => {
    expect(caught(() => project(texts, [event(1, { version: 2 })])).code).toBe('event.newer-version');
  });
});

describe('valueText()', () => {
  test('gives JSON in the order the value has, so that what was kept reads as what is folded afresh', () => {
    expect(valueText(texts, ['a'])).toBe('["a"]');
    expect(valueText(texts as unknown as Projection<unknown>, { b: 1, a: 2 })).toBe('{"b":1,"a":2}');
  });

  test.each([[[new Map()]], [[Number.NaN]], [[undefined]]])('refuses the value %j, which is not JSON', (value) => {
    const error = caught(() => valueText(texts as unknown as Projection<unknown>, value));
    expect(error.code).toBe('projection.invalid');
    expect(error.message).toContain('"texts"');
  });
});

describe('defineProjection()', () => {
  test.each([
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a version that is not text', { version: 1 }],
    ['another history', { history: 'both' }],
    ['no initial', { initial: undefined }],
    ['no apply', { apply: 'x' }],
    ['a finish that is not a function', { finish: 1 }],
  ])('refuses a projection with %s', (_title, change) => {
    const given = { ...texts, ...change } as unknown as typeof texts;
    expect(caught(() => defineProjection(given)).code).toBe('projection.invalid');
  });
});
