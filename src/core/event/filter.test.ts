import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RepriseError } from '../error.ts';
import type { JsonObject } from '../json.ts';
import { limits } from '../limits.ts';
import type { Digest, Seq } from '../point.ts';
import type { Event } from './event.ts';
import { compileFields, compileFilter, type EventFilter, headerFilterHolds, matches, parseFilter } from './filter.ts';

function event(type: string, data: JsonObject, more: Partial<Event> = {}): Event {
  return {
    session: 'demo',
    branch: 'main',
    seq: 5 as Seq,
    id: 'e5',
    time: '2026-11-15T10:00:00.000Z',
    type,
    version: 1,
    agent: 'support-2',
    run: 'run-1',
    turn: 3,
    data,
    digest: 'd' as Digest,
    ...more,
  };
}

const call = event('call.ended', {
  call: 'c1',
  kind: 'tool',
  name: 'refund',
  outcome: 'error',
  input: { order: { id: 7 } },
  error: { message: 'Card "4242" declined\nat once' },
});

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof RepriseError ? error.code : String(error);
  }
}

describe('each condition', () => {
  const cases: readonly (readonly [string, EventFilter, boolean])[] = [
    ['no condition holds for everything', {}, true],
    ['one of the types', { types: ['run.started', 'call.ended'] }, true],
    ['none of the types', { types: ['call'] }, false],
    ['the exact agent', { agent: 'support-2' }, true],
    ['an agent is not a prefix', { agent: 'support' }, false],
    ['part of an agent, whatever its case', { agent: '~PORT' }, true],
    ['not part of the agent', { agent: '~sales' }, false],
    ['the run', { run: 'run-1' }, true],
    ['another run', { run: 'run-10' }, false],
    ['the turn', { turn: 3 }, true],
    ['another turn', { turn: 2 }, false],
    ['turns after one', { turnAfter: 2 }, true],
    ['turns after the same one', { turnAfter: 3 }, false],
    ['the kind of call', { kind: 'tool' }, true],
    ['another kind', { kind: 'model' }, false],
    ['the name of the call', { name: 'refund' }, true],
    ['part of a name is not the name', { name: 'ref' }, false],
    ['the outcome', { outcome: 'error' }, true],
    ['another outcome', { outcome: 'ok' }, false],
    ['since is inclusive', { since: '2026-11-15T10:00:00Z' }, true],
    ['before since', { since: '2026-11-15T10:00:00.001Z' }, false],
    ['until is inclusive, in another zone', { until: '2026-11-15T11:00:00+01:00' }, true],
    ['after until', { until: '2026-11-15' }, false],
    ['after is exclusive', { after: 5 }, false],
    ['after the one before', { after: 4 }, true],
    ['through is inclusive', { through: 5 }, true],
    ['past through', { through: 4 }, false],
    ['text in the data', { text: 'DECLINED' }, true],
    ['text with quotes as people type it', { text: 'card "4242"' }, true],
    ['text over a line break', { text: 'declined\nat' }, true],
    ['text in the header', { text: 'support-2' }, true],
    ['text that is not there', { text: 'approved' }, false],
    ['all conditions', { types: ['call.ended'], agent: '~sup', outcome: 'error', text: '4242' }, true],
    ['all but one', { types: ['call.ended'], agent: '~sup', outcome: 'ok', text: '4242' }, false],
  ];
  test.each(cases)('%s', (_title, filter, expected) => {
    expect(matches(filter, call)).toBe(expected);
  });

  test('the kind of an event other than a call does not count', () => {
    expect(matches({ kind: 'fact' }, event('belief.committed', { claim: 'x', kind: 'fact' }))).toBe(false);
  });

  test('an event without an agent passes no condition on agents', () => {
    const { agent: _, ...anonymous } = call;
    expect(matches({ agent: '~' }, anonymous)).toBe(false);
    expect(headerFilterHolds({ agent: '~' }, { ...anonymous, agent: null })).toBe(false);
  });
});

describe('fields', () => {
  const field = (key: string, pattern: string): EventFilter => ({ fields: [{ key, pattern }] });

  test.each([
    ['agent', '^SUPPORT'],
    ['seq', '^5$'],
    ['type', 'call\\.'],
    ['name', 'fund$'],
    ['data.name', 'refund'],
    ['input.order.id', '^7$'],
    ['data.input.order.id', '7'],
    ['input', '\\{"order":\\{"id":7\\}\\}'],
    ['error.message', 'declined'],
  ])('%s is found by /%s/', (key, pattern) => {
    expect(matches(field(key, pattern), call)).toBe(true);
  });

  test.each(['missing', 'input.missing', 'input.order.id.deeper', 'cause', 'data.missing'])(
    'the missing field %s never matches, not even an empty pattern',
    (key) => {
      expect(matches(field(key, ''), call)).toBe(false);
    },
  );

  test('a bare key is a header field first and then one of the data', () => {
    const both = event('x.happened', { agent: 'inner', session: 'inner' });
    expect(matches(field('agent', '^support'), both)).toBe(true);
    expect(matches(field('data.agent', '^inner'), both)).toBe(true);
    const { agent: _, ...anonymous } = both;
    expect(matches(field('agent', '^inner'), anonymous)).toBe(true);
  });

  test('a data field called data is reached', () => {
    const nested = event('x.happened', { data: { data: 'deep' } });
    expect(matches(field('data.data.data', 'deep'), nested)).toBe(true);
  });

  test('items of arrays are reached by index', () => {
    expect(matches(field('list.1', '^b$'), event('x.happened', { list: ['a', 'b'] }))).toBe(true);
  });
});

describe('parseFilter()', () => {
  test('reads several fields', () => {
    expect(parseFilter('agent=^a,input.order.id=7').fields).toEqual([
      { key: 'agent', pattern: '^a' },
      { key: 'input.order.id', pattern: '7' },
    ]);
  });

  test('a comma or an equals sign can be escaped, other backslashes belong to the pattern', () => {
    expect(parseFilter(String.raw`a\=b=x\,y\d=z,c=\\`).fields).toEqual([
      { key: 'a=b', pattern: String.raw`x,y\d=z` },
      { key: 'c', pattern: String.raw`\\` },
    ]);
  });

  test.each(['', 'agent', 'agent=a,', '=x', 'a..b=x', '.a=x'])('refuses "%s"', (text) => {
    expect(codeOf(() => parseFilter(text))).toBe('filter.invalid');
  });
});

describe('what cannot be a filter is refused', () => {
  const long = 'a'.repeat(limits.filterTextMax + 1);

  test.each([
    ['a bad regular expression', { fields: [{ key: 'a', pattern: '(' }] }],
    ['a pattern that is too long', { fields: [{ key: 'a', pattern: long }] }],
    ['a text that is too long', { text: long }],
    ['a key that is empty', { fields: [{ key: '', pattern: 'x' }] }],
  ])('%s', (_title, filter) => {
    expect(codeOf(() => compileFilter(filter))).toBe('filter.invalid');
  });

  test.each(['(a)\\1', '(?=a)b', '(?<!a)b', '(a{40}){60}'])('%s, which this engine does not run', (pattern) => {
    expect(codeOf(() => compileFilter({ fields: [{ key: 'a', pattern }] }))).toBe('filter.invalid');
  });

  test.each([
    '(a+)+$',
    '(a*)*',
    '((ab+)c)*',
    'a+b*',
    '(ab)+',
    '(a+)?',
    String.raw`\(a+\)+`,
    '[(]a+[)]+',
    '(a+){2,3}',
    '(a|b+)c',
  ])('%s is accepted', (pattern) => {
    expect(codeOf(() => compileFilter({ fields: [{ key: 'a', pattern }] }))).toBeUndefined();
  });

  test('text that is not a time has its own code', () => {
    expect(codeOf(() => compileFilter({ type: 'note.added' } as never))).toBe('filter.invalid');
    expect(codeOf(() => compileFilter({ types: 'note.added' } as never))).toBe('filter.invalid');
    expect(codeOf(() => compileFilter({ turn: '3' } as never))).toBe('filter.invalid');
    expect(compileFilter({ run: undefined } as never)({ data: {} } as never)).toBe(true);
    expect(codeOf(() => compileFilter({ since: 'yesterday' }))).toBe('time.invalid');
  });
});

const conditions: fc.Arbitrary<EventFilter> = fc.record(
  {
    types: fc.subarray(['call.started', 'call.ended', 'note.added']),
    agent: fc.constantFrom('a', 'b', '~a', '~B'),
    turn: fc.integer({ min: 0, max: 2 }),
    kind: fc.constantFrom('model', 'tool'),
    outcome: fc.constantFrom('ok', 'error'),
    after: fc.integer({ min: 0, max: 5 }),
    through: fc.integer({ min: 0, max: 5 }),
    text: fc.constantFrom('ok', 'TOOL', 'zzz'),
  },
  { requiredKeys: [] },
);

const events: fc.Arbitrary<Event> = fc
  .record({
    type: fc.constantFrom('call.started', 'call.ended', 'note.added'),
    agent: fc.constantFrom('a', 'b', 'ab'),
    turn: fc.integer({ min: 0, max: 2 }),
    seq: fc.integer({ min: 1, max: 6 }),
    data: fc.record({ kind: fc.constantFrom('model', 'tool'), outcome: fc.constantFrom('ok', 'error') }),
  })
  .map(({ type, data, seq, ...more }) => event(type, data, { ...more, seq: seq as Seq }));

test('a filter holds exactly when each of its conditions holds alone', () => {
  fc.assert(
    fc.property(conditions, events, (filter, one) => {
      const alone = Object.entries(filter).map(([key, value]) => matches({ [key]: value }, one));
      expect(matches(filter, one)).toBe(alone.every(Boolean));
    }),
  );
});

test('what the header part refuses, the whole filter refuses', () => {
  fc.assert(
    fc.property(conditions, events, (filter, one) => {
      if (!headerFilterHolds(filter, one)) expect(matches(filter, one)).toBe(false);
    }),
  );
});

describe('compileFields()', () => {
  const row = { session: 'demo', git: { branch: 'main', sha: null }, agents: ['Support'], cost: 0.25 };

  test('finds every pattern where its path leads, whatever the case', () => {
    expect(compileFields([{ key: 'git.branch', pattern: '^MAIN$' }])(row)).toBe(true);
    expect(compileFields([{ key: 'agents', pattern: 'support' }])(row)).toBe(true);
    expect(compileFields([{ key: 'agents.0', pattern: '^support$' }])(row)).toBe(true);
    expect(compileFields([{ key: 'cost', pattern: '^0\\.2' }])(row)).toBe(true);
    expect(compileFields([])(row)).toBe(true);
    const both = [
      { key: 'session', pattern: 'demo' },
      { key: 'git.sha', pattern: 'abc' },
    ];
    expect(compileFields(both)(row)).toBe(false);
  });

  test('finds nothing in a field that is not there, and refuses what is no pattern', () => {
    expect(compileFields([{ key: 'title', pattern: '' }])(row)).toBe(false);
    expect(() => compileFields([{ key: 'session', pattern: '(' }])).toThrow(/not a regular expression/);
  });
});
