/** Where each verb is: on one handle, and every handle through few doors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publicSurface } from '../../scripts/public-surface.ts';
import { AgentBeliefs, AgentBeliefsReader, AgentBranch, AgentLook } from '../../src/engine/agents/agent.ts';
import { Beliefs, BeliefsReader } from '../../src/engine/believing/beliefs.ts';
import { Coding, CodingReader } from '../../src/engine/coding/coding.ts';
import { Fleet, FleetReader } from '../../src/engine/fleet/fleet.ts';
import { State, StateReader } from '../../src/engine/state/state.ts';
import { Branch, ForkedBranch, Look, Session } from '../../src/index.ts';
import { root } from '../docs/workshop.ts';

/** The most names that the front door may have. */
const namesMost = 180;

/** Which verbs a handle has in a form of its own, though a handle that it extends has them: they write, follow or place more. */
const overridden: readonly (readonly [{ readonly prototype: object }, readonly string[]])[] = [
  [Look, []],
  [Branch, ['as', 'audit', 'beliefs', 'coding', 'fleet', 'replay', 'state']],
  [ForkedBranch, []],
  [Session, ['at', 'exportBundle', 'fork']],
  [StateReader, []],
  [State, ['as']],
  [BeliefsReader, []],
  [Beliefs, []],
  [FleetReader, []],
  [Fleet, []],
  [CodingReader, []],
  [Coding, []],
  [AgentLook, []],
  [AgentBranch, ['beliefs', 'state']],
  [AgentBeliefsReader, []],
  [AgentBeliefs, []],
];

test.each(overridden)(
  '%o has no verb that a handle it extends has, but for those that do more there',
  (handle, named) => {
    const own = Object.getOwnPropertyNames(handle.prototype).filter((name) => name !== 'constructor');
    const inherited = Object.getPrototypeOf(handle.prototype) as object;
    expect(own.filter((name) => name in inherited && !(name in Object.prototype)).sort()).toEqual(named);
  },
);

test('each handle extends the one that sees less', () => {
  for (const [more, less] of [
    [Branch, Look],
    [ForkedBranch, Branch],
    [Session, Branch],
    [State, StateReader],
    [Beliefs, BeliefsReader],
    [Fleet, FleetReader],
    [Coding, CodingReader],
    [AgentBranch, AgentLook],
    [AgentBeliefs, AgentBeliefsReader],
  ] as const)
    expect(Object.getPrototypeOf(more)).toBe(less);
});

test(`the front door has at most ${namesMost} names, each once`, () => {
  const names = [...readFileSync(join(root, 'src/index.ts'), 'utf8').matchAll(/export (?:type )?\{([^}]+)\}/g)].flatMap(
    ([, list = '']) =>
      list
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
  );
  expect(names.length).toBe(publicSurface(root, 'src/index.ts').length);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeLessThanOrEqual(namesMost);
});
