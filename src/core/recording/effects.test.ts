import { describe, expect, test } from 'vitest';
import {
  agreedEffect,
  checkEffectPolicy,
  decideEffect,
  type EffectCall,
  type EffectClass,
  type EffectDecision,
  type EffectPolicy,
  type EffectRecord,
  effectCallOf,
  effectKey,
  effectOf,
  simulationOf,
  withSimulations,
} from './effects.ts';

describe('effectOf()', () => {
  const cases: readonly (readonly [string, EffectCall, EffectClass])[] = [
    ['a model call', { kind: 'model', name: 'm' }, 'pure'],
    ['GET', { kind: 'http', name: 'u', method: 'GET' }, 'pure'],
    ['head', { kind: 'http', name: 'u', method: 'head' }, 'pure'],
    ['POST', { kind: 'http', name: 'u', method: 'POST' }, 'unknown'],
    ['HTTP without a method', { kind: 'http', name: 'u' }, 'unknown'],
    ['a read-only MCP tool', { kind: 'mcp', name: 't', annotations: { readOnlyHint: true } }, 'pure'],
    ['an idempotent MCP tool', { kind: 'mcp', name: 't', annotations: { idempotentHint: true } }, 'idempotent'],
    ['a destructive MCP tool', { kind: 'mcp', name: 't', annotations: { destructiveHint: true } }, 'irreversible'],
    ['an MCP tool that says nothing', { kind: 'mcp', name: 't', annotations: {} }, 'unknown'],
    ['a tool', { kind: 'tool', name: 't' }, 'unknown'],
    ['a child process', { kind: 'process', name: 'ls' }, 'unknown'],
    ['a person', { kind: 'person', name: 'p' }, 'unknown'],
    ['a tool declared idempotent', { kind: 'tool', name: 't', effect: 'idempotent' }, 'idempotent'],
    [
      'a declared effect before annotations',
      { kind: 'mcp', name: 't', effect: 'irreversible', annotations: { readOnlyHint: true } },
      'irreversible',
    ],
  ];
  test.each(cases)('%s', (_title, call, expected) => {
    expect(effectOf(call)).toBe(expected);
  });

  test('reads what a recorded call says', () => {
    expect(effectOf(effectCallOf({ call: 'c', kind: 'tool', name: 'pay', effect: 'irreversible' }))).toBe(
      'irreversible',
    );
    expect(effectOf(effectCallOf({ call: 'c', kind: 'http', name: 'u', input: { method: 'GET' } }))).toBe('pure');
    expect(effectOf(effectCallOf({ call: 'c', kind: 'tool', name: 'x', effect: 'nonsense' }))).toBe('unknown');
  });
});

test('agreedEffect() is irreversible if anybody says so, else the first class that is declared', () => {
  expect(agreedEffect('pure', 'irreversible')).toBe('irreversible');
  expect(agreedEffect(undefined, 'idempotent', 'pure')).toBe('idempotent');
  expect(agreedEffect('unknown', 'pure')).toBe('unknown');
  expect(agreedEffect(undefined)).toBeUndefined();
});

describe('effectKey()', () => {
  test('does not depend on the order of keys', () => {
    expect(effectKey('pay', { a: 1, b: 2 }, 0)).toBe(effectKey('pay', { b: 2, a: 1 }, 0));
  });

  test('tells names, arguments and ordinals apart', () => {
    const keys = [
      effectKey('pay', { a: 1 }, 0),
      effectKey('pay', { a: 1 }, 1),
      effectKey('pay', { a: 2 }, 0),
      effectKey('buy', { a: 1 }, 0),
      effectKey('pay', undefined, 0),
      effectKey('pay', null, 0),
      effectKey('pay","{}', {}, 0),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

const never: EffectRecord = { kind: 'never' };
const before: EffectRecord = { kind: 'before' };
const inDoubt: EffectRecord = { kind: 'inDoubt' };
const ok: EffectRecord = { kind: 'elsewhere', outcome: 'ok' };
const failed: EffectRecord = { kind: 'elsewhere', outcome: 'error' };
const cut: EffectRecord = { kind: 'elsewhere', outcome: 'interrupted' };

function decide(effect: EffectClass, record: EffectRecord, policy?: EffectPolicy): EffectDecision {
  return decideEffect(policy, { name: 'pay', effect, record, canAsk: true, by: 'resume' });
}

describe('the default policy', () => {
  const rows: readonly (readonly [EffectClass, EffectRecord, EffectDecision])[] = [
    ...(['pure', 'idempotent', 'irreversible', 'unknown'] as const).map((effect) => [effect, before, 'reuse'] as const),
    ...(['pure', 'idempotent', 'unknown'] as const).map((effect) => [effect, never, 'run'] as const),
    ...(['pure', 'idempotent'] as const).flatMap((effect) =>
      [ok, failed, cut, inDoubt].map((record) => [effect, record, 'run'] as const),
    ),
    ['unknown', ok, 'reuse'],
    ['unknown', failed, 'run'],
    ['unknown', cut, 'ask'],
    ['unknown', inDoubt, 'ask'],
    ['irreversible', never, 'ask'],
    ['irreversible', ok, 'ask'],
    ['irreversible', failed, 'ask'],
    ['irreversible', cut, 'ask'],
    ['irreversible', inDoubt, 'ask'],
  ];
  test.each(rows)('%s, recorded %j: %s', (effect, record, expected) => {
    expect(decide(effect, record)).toBe(expected);
  });

  test('asking without a terminal is refusing', () => {
    const situation = { name: 'pay', effect: 'irreversible', record: ok, canAsk: false, by: 'resume' } as const;
    expect(decideEffect(undefined, situation)).toBe('refuse');
    expect(decideEffect('ask', { ...situation, record: never })).toBe('refuse');
  });
});

describe('an experiment without a policy', () => {
  const rows: readonly (readonly [EffectRecord, EffectDecision])[] = [
    [never, 'refuse'],
    [before, 'reuse'],
    [ok, 'reuse'],
    [failed, 'reuse'],
    [cut, 'refuse'],
    [inDoubt, 'refuse'],
  ];
  test.each(rows)('makes no irreversible call and asks nobody, recorded %j: %s', (record, expected) => {
    const situation = { name: 'pay', effect: 'irreversible', record, canAsk: true, by: 'experiment' } as const;
    expect(decideEffect(undefined, situation)).toBe(expected);
    expect(decideEffect({ classes: { unknown: 'run' } }, situation)).toBe(expected);
    expect(decideEffect('run', situation)).toBe('run');
    expect(decideEffect('ask', { ...situation, record: never })).toBe('ask');
  });

  test('decides about everything else as a resume does', () => {
    for (const effect of ['pure', 'idempotent', 'unknown'] as const)
      for (const record of [never, before, ok, failed, cut, inDoubt]) {
        const situation = { name: 'look', effect, record, canAsk: true } as const;
        expect(decideEffect(undefined, { ...situation, by: 'experiment' })).toBe(
          decideEffect(undefined, { ...situation, by: 'resume' }),
        );
      }
  });
});

describe('a simulation', () => {
  const simulation = { simulate: () => ({ paid: true }) };
  test.each([
    ['by name', { names: { pay: simulation } }],
    ['as a table of simulations', { pay: simulation }],
    ['beside one action for all', withSimulations('run', { pay: simulation }) ?? 'run'],
    ['beside a table', withSimulations({ classes: { irreversible: 'run' } }, { pay: simulation }) ?? 'run'],
  ] as const)('answers whatever is not recorded before the point, %s', (_how, policy) => {
    for (const record of [never, ok, failed, cut, inDoubt])
      expect(decide('irreversible', record, policy)).toBe('simulate');
    expect(decide('irreversible', before, policy)).toBe('reuse');
    expect(simulationOf(policy, 'pay')).toBe(simulation);
    expect(simulationOf(policy, 'toString')).toBeUndefined();
  });

  test('of the caller goes before one that is added', () => {
    expect(withSimulations({ names: { pay: 'run' } }, { pay: simulation })).toEqual({ names: { pay: 'run' } });
    expect(withSimulations(undefined, {})).toBeUndefined();
  });

  test.each([
    [{ pay: { simulate: undefined } }],
    [{ pay: { simulate: Number.NaN } }],
    [{ pay: { simulate: {}, when: 'always' } }],
    [{ names: { pay: { simulated: {} } } }],
    [{ names: { pay: { simulate: new Date() } } }],
  ])('that is misspelled or has no answer is refused: %j', (policy) => {
    expect(() => checkEffectPolicy(policy as never)).toThrow(expect.objectContaining({ code: 'option.invalid' }));
  });
});

describe('a policy of the caller', () => {
  test('once makes a call that was never made, and decides as usual about one that was', () => {
    expect(decide('irreversible', never, 'once')).toBe('run');
    expect(decide('irreversible', before, 'once')).toBe('reuse');
    for (const record of [ok, failed, cut, inDoubt]) expect(decide('irreversible', record, 'once')).toBe('ask');
    expect(decide('unknown', ok, 'once')).toBe('reuse');
  });

  test('run makes every call that has an effect, also one answered before', () => {
    for (const record of [never, before, ok, failed, inDoubt])
      expect(decide('irreversible', record, 'run')).toBe('run');
  });

  test('refuse refuses what would be made, and still takes answers from before the point', () => {
    expect(decide('unknown', never, 'refuse')).toBe('refuse');
    expect(decide('unknown', before, 'refuse')).toBe('reuse');
  });

  test('reuse takes any recorded answer, and decides as usual where there is none', () => {
    expect(decide('irreversible', ok, 'reuse')).toBe('reuse');
    expect(decide('irreversible', inDoubt, 'reuse')).toBe('ask');
    expect(decide('unknown', never, 'reuse')).toBe('run');
    expect(decide('irreversible', never, 'reuse')).toBe('ask');
  });

  test('one action for all leaves pure calls alone: a model has to be asked', () => {
    expect(decide('pure', never, 'refuse')).toBe('run');
    expect(decide('pure', never, { classes: { pure: 'refuse' } })).toBe('refuse');
  });

  test('a name goes before a class, and what is not named keeps the default', () => {
    const policy = { classes: { irreversible: 'refuse' }, names: { pay: 'run' } } as const;
    const asked = { canAsk: true, by: 'resume' } as const;
    expect(decide('irreversible', ok, policy)).toBe('run');
    expect(decideEffect(policy, { name: 'other', effect: 'irreversible', record: ok, ...asked })).toBe('refuse');
    expect(decideEffect(policy, { name: 'toString', effect: 'unknown', record: ok, ...asked })).toBe('reuse');
  });
});
