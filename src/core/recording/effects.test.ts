import { describe, expect, test } from 'vitest';
import {
  decideEffect,
  type EffectAction,
  type EffectCall,
  type EffectClass,
  type EffectRecord,
  effectCallOf,
  effectKey,
  effectOf,
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

function decide(effect: EffectClass, record: EffectRecord, policy?: Parameters<typeof decideEffect>[0]): EffectAction {
  return decideEffect(policy, { name: 'pay', effect, record, canAsk: true });
}

describe('the default policy', () => {
  const rows: readonly (readonly [EffectClass, EffectRecord, EffectAction])[] = [
    ...(['pure', 'idempotent', 'irreversible', 'unknown'] as const).flatMap((effect) => [
      [effect, never, 'run'] as const,
      [effect, before, 'reuse'] as const,
    ]),
    ...(['pure', 'idempotent'] as const).flatMap((effect) =>
      [ok, failed, cut, inDoubt].map((record) => [effect, record, 'run'] as const),
    ),
    ['unknown', ok, 'reuse'],
    ['unknown', failed, 'run'],
    ['unknown', cut, 'ask'],
    ['unknown', inDoubt, 'ask'],
    ['irreversible', ok, 'ask'],
    ['irreversible', failed, 'ask'],
    ['irreversible', cut, 'ask'],
    ['irreversible', inDoubt, 'ask'],
  ];
  test.each(rows)('%s, recorded %j: %s', (effect, record, expected) => {
    expect(decide(effect, record)).toBe(expected);
  });

  test('asking without a terminal is refusing', () => {
    const situation = { name: 'pay', effect: 'irreversible', record: ok, canAsk: false } as const;
    expect(decideEffect(undefined, situation)).toBe('refuse');
    expect(decideEffect('ask', { ...situation, record: never })).toBe('refuse');
  });
});

describe('a policy of the caller', () => {
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
    expect(decide('irreversible', never, 'reuse')).toBe('run');
  });

  test('one action for all leaves pure calls alone: a model has to be asked', () => {
    expect(decide('pure', never, 'refuse')).toBe('run');
    expect(decide('pure', never, { classes: { pure: 'refuse' } })).toBe('refuse');
  });

  test('a name goes before a class, and what is not named keeps the default', () => {
    const policy = { classes: { irreversible: 'refuse' }, names: { pay: 'run' } } as const;
    expect(decide('irreversible', ok, policy)).toBe('run');
    expect(decideEffect(policy, { name: 'other', effect: 'irreversible', record: ok, canAsk: true })).toBe('refuse');
    expect(decideEffect(policy, { name: 'toString', effect: 'unknown', record: ok, canAsk: true })).toBe('reuse');
  });
});
