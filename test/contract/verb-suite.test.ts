import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  Branch,
  CodingHandle,
  openReprise,
  Reprise,
  Session,
  SessionRecorder,
  StateHandle,
  Transaction,
} from '../../src/index.ts';
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

test.each([
  ['', Session],
  ['reprise.', Reprise],
  ['branch.', Branch],
  ['state.', StateHandle],
  ['coding.', CodingHandle],
  ['transaction.', Transaction],
  ['recorder.', SessionRecorder],
])('every verb of a handle (%s) has cases', (prefix, { prototype }) => {
  const verbs = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  const cases: Readonly<Record<string, readonly unknown[]>> = verbSuite;
  expect(verbs.length).toBeGreaterThan(8);
  expect(verbs.filter((name) => (cases[`${prefix}${name}`] ?? []).length === 0)).toEqual([]);
});
