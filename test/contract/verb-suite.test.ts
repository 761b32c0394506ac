import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AgentBeliefs, AgentBeliefsReader, AgentBranch, AgentLook } from '../../src/engine/agents/agent.ts';
import { Beliefs, BeliefsReader } from '../../src/engine/believing/beliefs.ts';
import { Coding, CodingReader } from '../../src/engine/coding/coding.ts';
import { Fleet, FleetReader, Tasks } from '../../src/engine/fleet/fleet.ts';
import { Exporting } from '../../src/engine/importing/exporting.ts';
import { State, StateReader } from '../../src/engine/state/state.ts';
import { Transaction } from '../../src/engine/state/transaction.ts';
import { Branch, Look, openReprise, Reprise, Session, SessionRecorder } from '../../src/index.ts';
import { verbSuite } from '../verbs/verb-suite.ts';

let directory = '';
let count = 0;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-verbs-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const stores: Readonly<Record<string, () => Promise<Reprise>>> = {
  memory: () => openReprise('memory:'),
  sqlite: () => openReprise({ store: `sqlite:${join(directory, `${count++}.db`)}`, durability: 'process' }),
};

describe.each(Object.entries(stores))('the verbs on %s', (_, open) => {
  for (const held of new Set(Object.values(verbSuite).flat())) test(`${held.title}`, () => held.run(open));
});

/** The fields that name a handle, and are no verbs. */
const fields = new Set(['constructor', 'id', 'sessionId', 'name', 'agent']);

test.each([
  ['', Look],
  ['', Branch],
  ['', Session],
  ['reprise.', Reprise],
  ['state.', StateReader],
  ['state.', State],
  ['coding.', CodingReader],
  ['coding.', Coding],
  ['transaction.', Transaction],
  ['beliefs.', BeliefsReader],
  ['beliefs.', Beliefs],
  ['fleet.', FleetReader],
  ['fleet.', Fleet],
  ['tasks.', Tasks],
  ['agent.', AgentLook],
  ['agent.', AgentBranch],
  ['agentBeliefs.', AgentBeliefsReader],
  ['agentBeliefs.', AgentBeliefs],
  ['exporting.', Exporting],
  ['recorder.', SessionRecorder],
] as const)('every verb of a handle (%s%o) has cases', (prefix, { prototype }) => {
  const verbs = Object.getOwnPropertyNames(prototype).filter((name) => !fields.has(name));
  const cases: Readonly<Record<string, readonly unknown[]>> = verbSuite;
  expect(verbs).not.toEqual([]);
  expect(verbs.filter((name) => (cases[`${prefix}${name}`] ?? []).length === 0)).toEqual([]);
});
