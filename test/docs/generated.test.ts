/** The reference pages are what the source says, and leave nothing public out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiIndex, apiIndexPath, apiPages } from '../../scripts/api-page.ts';
import { cliPage, cliPagePath } from '../../scripts/cli-page.ts';
import { doors } from '../../scripts/doors.ts';
import { eventDataFile, eventDataPath } from '../../scripts/event-data.ts';
import { eventsPage, eventsPagePath } from '../../scripts/events-page.ts';
import { limitsPage, limitsPagePath } from '../../scripts/limits-page.ts';
import { wirePage, wirePagePath } from '../../scripts/wire-page.ts';
import * as aiSdk from '../../src/ai-sdk.ts';
import { AgentBeliefs, AgentBeliefsReader, AgentBranch, AgentLook } from '../../src/engine/agents/agent.ts';
import { Beliefs, BeliefsReader } from '../../src/engine/believing/beliefs.ts';
import { Coding, CodingReader } from '../../src/engine/coding/coding.ts';
import { Fleet, FleetReader, Tasks } from '../../src/engine/fleet/fleet.ts';
import { Exporting } from '../../src/engine/importing/exporting.ts';
import { State, StateReader } from '../../src/engine/state/state.ts';
import { Transaction } from '../../src/engine/state/transaction.ts';
import * as surface from '../../src/index.ts';
import * as testing from '../../src/testing.ts';
import { examples } from './doc-comments.ts';
import { root } from './workshop.ts';

/** Every API page, one after the other. */
const api = [...apiPages().values()].join('\n');

/** Every handle of the library. */
const handles: readonly { readonly name: string; readonly prototype: object }[] = [
  surface.Reprise,
  surface.Session,
  surface.Branch,
  surface.Look,
  AgentBranch,
  AgentLook,
  AgentBeliefs,
  AgentBeliefsReader,
  State,
  StateReader,
  Coding,
  CodingReader,
  Beliefs,
  BeliefsReader,
  Fleet,
  FleetReader,
  Tasks,
  Exporting,
  Transaction,
];

const keptText = (path: string): string => readFileSync(join(root, path), 'utf8');

test.each([
  [apiIndexPath, apiIndex],
  [cliPagePath, cliPage],
  [eventDataPath, eventDataFile],
  [eventsPagePath, eventsPage],
  [limitsPagePath, limitsPage],
  [wirePagePath, wirePage],
])('%s is what the source says; `npm run docs:pages` writes it', async (path, page) => {
  expect(keptText(path)).toBe(await page());
});

test('the API pages have a section for every export, and for every verb', () => {
  const headings = new Set([...api.matchAll(/^#{2,3} ([\w.]+)/gm)].map((match) => (match[1] as string).toLowerCase()));
  const verbs = handles.flatMap(({ name: owner, prototype }) =>
    Object.entries(Object.getOwnPropertyDescriptors(prototype))
      .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
      .map(([name]) => `${owner}.${name}`),
  );
  const wanted = [...Object.keys(surface), ...Object.keys(testing), ...Object.keys(aiSdk), ...verbs];
  expect(wanted.filter((name) => !headings.has(name.toLowerCase()))).toEqual([]);
  expect(verbs.length).toBeGreaterThan(30);
});

test('every exported type has a section on an API page', () => {
  const texts = Object.values(doors).map(({ file }) => keptText(file));
  const names = [...texts.join('\n').matchAll(/export (?:type )?\{([^}]+)\}/g)].flatMap((match) =>
    (match[1] as string).split(',').map((name) => (name.split(' as ').at(-1) ?? '').replace('type ', '').trim()),
  );
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !new RegExp(`^#{2,3} ${name}\\b`, 'm').test(api))).toEqual([]);
});

test('everything that can be called has an example in its doc comment', () => {
  expect(examples(root).filter(({ example }) => example === undefined)).toEqual([]);
});

test('every public type says what it is', () => {
  expect(api).not.toMatch(/^### .*\n\n(?:\n|#|\|)/m);
});

test('the API pages have the members that a type inherits, in whole or in part', () => {
  const sectionOf = (name: string): string =>
    api.split(/^### /m).find((section) => section.startsWith(`${name}\n`)) ?? '';
  // From an interface, from an alias of a part of one, and from a part without some.
  for (const member of ['prompt', 'timeoutMs', 'approve', 'onFailure'])
    expect(sectionOf('ResumeOptions')).toContain(`\`${member}\``);
  expect(sectionOf('RetryOptions')).toContain('`timeoutMs`');
  expect(sectionOf('RetryOptions')).not.toContain('`prompt`');
});
