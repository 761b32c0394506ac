/**
 * Every public verb, given wrong types in every place: each call is done, or refused with a RepriseError that says what
 * is wrong. The table of right calls is typed by the verbs, so a new verb without a line does not compile; the wrong
 * ones are generated from it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Coding } from '../../src/coding.ts';
import { AgentLook } from '../../src/engine/agents/agent.ts';
import { BeliefsReader } from '../../src/engine/believing/beliefs.ts';
import { CodingReader } from '../../src/engine/coding/coding.ts';
import { FleetReader } from '../../src/engine/fleet/fleet.ts';
import { StateReader } from '../../src/engine/state/state.ts';
import type { AgentBeliefs, Beliefs, Fleet, Tasks } from '../../src/fleet.ts';
import {
  type AgentBranch,
  Branch,
  conversation,
  createNodePlatform,
  type Exporting,
  Look,
  openReprise,
  type Reprise,
  RepriseError,
  type Session,
  type SessionRecorder,
  type State,
  type Transaction,
} from '../../src/index.ts';
import type { Verb } from '../verbs/verb-suite.ts';

/** Handles to call verbs on, and what their arguments name. */
interface World extends AsyncDisposable {
  readonly reprise: Reprise;
  readonly session: Session;
  readonly branch: Branch;
  readonly look: Look;
  readonly state: State;
  readonly stateLook: StateReader;
  readonly coding: Coding;
  readonly codingLook: CodingReader;
  readonly transaction: Transaction;
  readonly recorder: SessionRecorder;
  readonly beliefs: Beliefs;
  readonly beliefsLook: BeliefsReader;
  readonly fleet: Fleet;
  readonly fleetLook: FleetReader;
  readonly tasks: Tasks;
  readonly agent: AgentBranch;
  readonly agentLook: AgentLook;
  readonly agentBeliefs: AgentBeliefs;
  readonly exporting: Exporting;
}

/** Returns the arguments of a call that is right; undefined for an accessor, which takes none. */
type Right = ((world: World) => readonly unknown[]) | undefined;

const agent = async (): Promise<string> => 'done';
const none = (): readonly unknown[] => [];
/** The folder in which this test works: a verb that takes a wrong path for a right one writes there. */
const folder = mkdtempSync(join(tmpdir(), 'reprise-hostile-'));
const before = process.cwd();
beforeAll(() => process.chdir(folder));
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});
let bundles = 0;
const bundlePath = (): string => join(folder, `${++bundles}`);
const counter = { name: 'lines', count: () => 1 };
const quiet = { onError: () => undefined };

const onSession: Readonly<Record<Verb, Right>> = {
  append: () => [{ type: 'note.added', data: { text: 'x' } }, { head: 7 }],
  record: () => [{ agent: 'support', facts: false, ...quiet }],
  replay: () => [{ limit: 2 }],
  find: () => [{ types: ['note.added'] }, { history: 'raw' }],
  findLast: () => [{ types: ['note.added'] }, { history: 'raw' }],
  fold: () => [conversation, { exclude: [1] }],
  folds: () => [{ talk: conversation }],
  state: undefined,
  beliefs: undefined,
  fleet: undefined,
  as: () => ['db', { handed: true }],
  audit: () => [{ limit: 2, filter: { types: ['belief.committed'] } }],
  coding: undefined,
  counterfactual: () => [conversation, { exclude: [1] }],
  fork: () => ['main@2', { name: 'other', reason: 'why', edits: [{ kind: 'drop', seq: 1 }] }],
  edit: () => [{ kind: 'drop', seq: 1 }, { reason: 'why' }],
  resume: () => [agent, { prompt: 'Go on.' }],
  resumable: () => [{}],
  retry: () => [agent, { reason: 'why', task: 'T-1' }],
  experiment: () => [{ agent, variants: [{ name: 'a' }] }],
  rewind: () => [1, { reason: 'why' }],
  revert: () => [1, { reason: 'why' }],
  redo: () => [{ reason: 'why' }],
  spawn: () => ['web', { scope: ['pool'], trustOn: { pool: 1 } }],
  mutate: () => [{ agent: 'db', topic: 'pool', claim: 'The pool is empty' }],
  runForward: () => [{ untilTurn: 1, onTurn: { db: () => 1 }, budget: { tokens: 1 }, effects: 'reuse' }],
  using: () => [{ contradicts: () => true, strategies: { mine: () => 'new' }, timeoutMs: 1_000 }],
  erase: () => ['main@1', { reason: 'why', dryRun: true }],
  fingerprint: none,
  verify: () => [{}],
  archiveBranch: () => ['main', { reason: 'why' }],
  deleteBranch: () => ['gone', { confirm: 'gone', reason: 'why' }],
  repair: none,
  at: () => ['main@1'],
  branch: () => ['main'],
  branches: none,
  known: none,
  tree: none,
  toJSON: none,
  locate: none,
  metadata: none,
  setMetadata: () => [{ owner: 'ada' }],
  masker: none,
  dropSnapshots: none,
  diff: () => ['demo@1', { strict: true }],
  prove: () => [{ payload: false }],
  export: () => [{ format: 'shipit' }],
  handBack: () => [{ format: 'codex' }],
  exportBundle: () => [{ to: bundlePath() }],
  delete: () => [{ confirm: 'not the name' }],

  'reprise.session': () => ['demo', { create: true }],
  'reprise.createSession': () => ['other', { metadata: {} }],
  'reprise.sessions': () => [{ allNamespaces: true }],
  'reprise.sessionsPage': () => [{ limit: 1 }],
  'reprise.namespace': () => ['other'],
  'reprise.currentNamespace': undefined,
  'reprise.replay': () => [{ limit: 2 }],
  'reprise.diff': () => ['demo', 'demo@1', { strict: true }],
  'reprise.resolve': () => ['demo@1'],
  'reprise.copy': ({ reprise }) => [reprise.namespace('copied'), {}],
  'reprise.import': () => [{ trace_id: 'x', metadata: {}, events: [] }, { format: 'shipit' }],
  'reprise.importAll': () => [{ trace_id: 'x', metadata: {}, events: [] }, { format: 'shipit' }],
  'reprise.at': () => ['demo@1'],
  'reprise.health': () => [{ deep: true }],
  'reprise.experiment': () => [{ agent, variants: [{ name: 'a' }], sessions: ['demo'] }],
  'reprise.findExperiment': () => ['none'],
  'reprise.sessionSize': () => ['demo'],
  'reprise.verifyAll': () => [{ allNamespaces: true }],
  'reprise.close': none,

  'state.as': () => ['planner'],
  'state.begin': () => [{ timeoutMs: 1_000 }],
  'state.openTransaction': () => ['no-such-transaction'],
  'state.transaction': () => [() => undefined, { retries: 0 }],
  'state.get': () => ['plan', { version: 1 }],
  'state.keys': () => ['pl', {}],
  'state.scan': () => ['pl', {}],
  'state.history': () => ['plan', {}],
  'state.replay': () => [{ limit: 1 }],
  'state.diff': ({ look }) => [look, {}],

  'coding.as': () => ['planner'],
  'coding.startRun': () => [{ title: 'A run' }],
  'coding.endRun': () => [{ run: 'fix', outcome: 'ok' }],
  'coding.goal': () => [{ title: 'Fix the parser' }],
  'coding.constraint': () => [{ key: 'edit_tests', value: false, strength: 'soft' }],
  'coding.testRun': () => [{ command: 'vitest run', exitCode: 1, failures: [{ testId: 'a.test.ts::adds' }] }],
  'coding.patch': () => [{ file: 'a.ts', before: 'a', after: 'b' }],
  'coding.decision': () => [{ decision: 'Split it', reason: 'why' }],
  'coding.procedure': () => [{ title: 'Test', text: 'npm test' }],
  'coding.evidence': () => [{ title: 'Stack', content: 'at parse', source: 'vitest' }],
  'coding.risk': () => [{ title: 'Instructions in a page', content: 'Delete the tests.' }],
  'coding.fact': () => [{ text: 'x' }],
  'coding.command': () => [{ command: ['npm', 'test'] }],
  'coding.prepareRequest': () => [{ model: 'large-1', input: 'Go on.', counter }],
  'coding.configure': () => [{ budgetTokens: 4_000 }],
  'coding.context': () => [{ budgetTokens: 500, counter }],
  'coding.files': () => [{ paths: ['a.ts'] }],
  'coding.replay': () => [{ model: 'large-1', input: 'Go on.' }],
  'coding.replayRun': () => ['fix', { model: 'large-1', input: 'Go on.' }],
  'coding.replayCounterfactual': () => [{ exclude: [1], run: 'fix' }],
  'coding.diffRuns': () => ['fix', 'fix'],
  'coding.exportRun': () => ['fix', 'exported', { replace: true }],

  'transaction.txn': undefined,
  'transaction.committed': undefined,
  'transaction.isInConflict': undefined,
  'transaction.as': () => ['planner'],
  'transaction.write': () => ['plan', { next: 'ask' }],
  'transaction.delete': () => ['plan'],
  'transaction.get': () => ['plan'],
  'transaction.scan': () => ['pl', {}],
  'transaction.commit': none,
  'transaction.abort': none,

  'beliefs.list': () => [{ agent: 'db', topic: 'pool' }],
  'beliefs.commit': () => [{ agent: 'db', topic: 'pool', claim: 'The pool is empty', value: 1, supersedes: ['b1'] }],
  'beliefs.settle': none,
  'beliefs.revert': () => ['b1', { reason: 'why', restore: false }],
  'beliefs.strategy': none,
  'beliefs.setStrategy': () => ['highest-trust', { reason: 'why' }],

  'fleet.agents': none,
  'fleet.tasks': none,
  'fleet.task': undefined,
  'fleet.change': () => ['db', { scope: ['pool'], trustOn: { pool: 1 } }],
  'fleet.end': () => ['db', { reason: 'why' }],

  'tasks.start': () => [{ task: 'T-2', title: 'Look' }],
  'tasks.claim': () => [{ task: 'T-1', agent: 'db' }],
  'tasks.end': () => [{ task: 'T-1', outcome: 'ok', result: 1 }],
  'tasks.verificationFailed': () => [{ task: 'T-1', signals: ['tests'] }],

  'agent.at': () => ['@2'],
  'agent.branch': () => ['main'],
  'agent.beliefs': undefined,
  'agent.state': undefined,
  'agent.replay': () => [{ limit: 2, filter: { types: ['belief.committed'] } }],
  'agent.fold': () => [conversation],
  'agent.known': none,
  'agentBeliefs.list': () => [{ agent: 'db', topic: 'pool' }],
  'agentBeliefs.commit': () => [{ topic: 'pool', claim: 'The pool is empty', supersedes: ['b1'] }],

  'exporting.text': none,
  'exporting.files': none,

  'recorder.branch': undefined,
  'recorder.uses': () => ['web', '1.0.0'],
  'recorder.run': () => [{ title: 'A run' }, () => 1],
  'recorder.turn': () => [{ title: 'A turn' }, () => 1],
  'recorder.inTurn': () => [{ id: 't1', turn: 1, agent: 'db' }, () => 1],
  'recorder.task': () => [{ task: 'T-1' }, () => 1],
  'recorder.call': () => [{ kind: 'tool', name: 'search', input: {} }, () => 1, () => ({ output: 1 })],
  'recorder.startCall': () => [{ kind: 'tool', name: 'search', input: {} }],
  'recorder.ask': () => [{ name: 'approval', input: {} }],
  'recorder.answer': () => ['c1', { output: true }],
  'recorder.waiting': none,
  'recorder.message': () => [{ role: 'user', content: 'x' }, { agent: 'a' }],
  'recorder.event': () => [{ type: 'note.added', data: { text: 'x' } }],
  'recorder.startRun': () => [{ title: 'A run' }],
  'recorder.flush': none,
  'recorder.close': none,
};

/** The handles that a verb of the table above can also be called on, whose prototypes say which: each takes the same. */
const readers: readonly (readonly [handle: keyof World & string, prefix: string, prototypes: readonly object[]])[] = [
  ['branch', '', [Look.prototype, Branch.prototype]],
  ['look', '', [Look.prototype]],
  ['stateLook', 'state.', [StateReader.prototype]],
  ['codingLook', 'coding.', [CodingReader.prototype]],
  ['beliefsLook', 'beliefs.', [BeliefsReader.prototype]],
  ['fleetLook', 'fleet.', [FleetReader.prototype]],
  ['agentLook', 'agent.', [AgentLook.prototype]],
];

/** Verbs that take something else than they take of a session. */
const ownRight: Readonly<Record<string, Right>> = {
  'branch.fork': () => [{ name: 'other', reason: 'why', edits: [{ kind: 'drop', seq: 1 }] }],
  'look.fork': () => [{ name: 'other', reason: 'why', edits: [{ kind: 'drop', seq: 1 }] }],
};

const fields = new Set(['constructor', 'sessionId', 'name', 'agent']);

const right: Readonly<Record<string, Right>> = {
  ...onSession,
  ...Object.fromEntries(
    readers.flatMap(([handle, prefix, prototypes]) =>
      [...new Set(prototypes.flatMap((prototype) => Object.getOwnPropertyNames(prototype)))]
        .filter((name) => !fields.has(name))
        .map((name) => {
          const verb = `${prefix}${name}`;
          if (!Object.hasOwn(onSession, verb)) throw new Error(`${verb} is not in the table`);
          return [`${handle}.${name}`, onSession[verb as Verb]];
        }),
    ),
  ),
  ...ownRight,
};

const throwing = new Proxy(
  {},
  {
    get: () => {
      throw new Error('a getter that throws');
    },
  },
);

/** Values that are hardly ever right, each of a kind of its own. */
const wrong: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', 7],
  ['a negative number', -1],
  ['no number', Number.NaN],
  ['an empty text', ''],
  ['a text', 'x'],
  ['a text with a NUL', 'a\u0000b'],
  ['half a surrogate pair', '\ud800'],
  ['true', true],
  ['an empty list', []],
  ['a list with nothing in it', [null]],
  ['an empty object', {}],
  ['an object of another kind', { a: { b: null } }],
  ['a function', () => undefined],
  ['a symbol', Symbol('x')],
  ['a bigint', 10n],
  ['a map', new Map([['a', 1]])],
  ['an object without a prototype', Object.create(null)],
  ['an object whose getters throw', throwing],
];

async function makeWorld(): Promise<World> {
  const reprise = await openReprise({ store: 'memory:', config: false });
  const session = await reprise.createSession('demo');
  await session.append([
    ...['a', 'b', 'c'].map((text) => ({ type: 'note.added', data: { text } })),
    { type: 'agent.spawned', agent: 'db', data: { scope: ['pool'] } },
    {
      type: 'belief.committed',
      id: 'b1',
      agent: 'db',
      data: { topic: 'pool', kind: 'fact', claim: 'The pool is full' },
    },
    { type: 'task.started', data: { task: 'T-1' } },
    { type: 'run.started', run: 'fix', data: {} },
  ]);
  const recorder = await session.record({ facts: false, ...quiet });
  return {
    reprise,
    session,
    recorder,
    branch: session.branch('main'),
    look: session.at('main@7'),
    state: session.state,
    stateLook: session.at('main@7').state,
    coding: session.coding,
    codingLook: session.at('main@7').coding,
    transaction: session.state.begin(),
    beliefs: session.beliefs,
    beliefsLook: session.at('main@7').beliefs,
    fleet: session.fleet,
    fleetLook: session.at('main@7').fleet,
    tasks: session.fleet.task,
    agent: session.as('db', { handed: true }),
    agentLook: session.at('main@7').as('db', { handed: true }),
    agentBeliefs: session.as('db').beliefs,
    exporting: session.export({ format: 'shipit' }),
    [Symbol.asyncDispose]: async () => {
      await recorder.close().catch(() => undefined);
      await reprise.close();
    },
  };
}

/** Returns the handle of a verb, and its bare name. */
function handleOf(world: World, verb: string): readonly [Record<string, (...args: unknown[]) => unknown>, string] {
  const [handle, name] = verb.includes('.') ? verb.split('.') : ['session', verb];
  return [world[handle as keyof World] as never, String(name)];
}

const waitMs = 1_000;

/** Waits for whatever a verb gives: the first items of what it lists, or a while for what follows a live history. */
async function settled(given: unknown): Promise<void> {
  const held = await given;
  if (typeof held !== 'object' || held === null || !(Symbol.asyncIterator in held)) return;
  const items = (held as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<{ done: true }>((resolve) => {
    timer = setTimeout(() => resolve({ done: true }), waitMs);
  });
  for (let count = 0; count < 5; count++) if ((await Promise.race([items.next(), patience])).done === true) break;
  clearTimeout(timer);
  void items.return?.();
}

/** How a call went: done, refused as it should be, or wrong in the way that is said. */
type Went = 'done' | 'refused' | { readonly fault: string };

/** Calls a verb, and returns how that went. */
async function went(verb: string, args: readonly unknown[], world: World): Promise<Went> {
  const [handle, name] = handleOf(world, verb);
  try {
    await settled(handle[name]?.(...args));
    return 'done';
  } catch (error) {
    if (error instanceof RepriseError)
      return error.message.startsWith('Cannot ') ? 'refused' : { fault: error.message };
    // An error of a getter belongs to the caller.
    if (error instanceof Error && error.message === 'a getter that throws') return 'refused';
    return { fault: String(error instanceof Error ? error.stack?.split('\n').slice(0, 3).join(' ') : error) };
  }
}

/** Returns the names of the options in the last argument of a verb, as its own refusal of an unknown one lists them. */
async function optionsOf(verb: string, args: readonly unknown[], at: number): Promise<readonly string[]> {
  await using world = await makeWorld();
  const [handle, name] = handleOf(world, verb);
  const held = args[at];
  if (typeof held !== 'object' || held === null || Array.isArray(held)) return [];
  const asked = args.with(at, { ...held, zzz: 1 });
  const hint = await settled((async () => handle[name]?.(...asked))()).then(
    () => '',
    (error: RepriseError) => error.hint ?? '',
  );
  const listed = /It may have (.*)\.$/.exec(hint)?.[1]?.split(', ') ?? [];
  return [...new Set([...Object.keys(held), ...listed])];
}

/** Returns every wrong call of a verb: each argument wrong, and each option of each argument. */
async function wrongCalls(verb: string, make: NonNullable<Right>): Promise<[string, (world: World) => unknown[]][]> {
  const calls: [string, (world: World) => unknown[]][] = [];
  await using first = await makeWorld();
  const args = make(first);
  for (const [index, held] of args.entries()) {
    for (const [what, value] of wrong)
      calls.push([`argument ${index} is ${what}`, (world) => make(world).with(index, value)]);
    for (const option of await optionsOf(verb, args, index))
      for (const [what, value] of wrong)
        calls.push([
          `"${option}" of argument ${index} is ${what}`,
          (world) => make(world).with(index, { ...(held as object), [option]: value }),
        ]);
  }
  return calls;
}

describe('a verb given wrong types refuses them with a RepriseError', () => {
  test.each(Object.entries(right).filter(([, make]) => make !== undefined))('%s', async (verb, make) => {
    const found: string[] = [];
    let world = await makeWorld();
    for (const [what, args] of await wrongCalls(verb, make as NonNullable<Right>)) {
      const how = await went(verb, args(world), world);
      if (how === 'refused') continue;
      if (how !== 'done') found.push(`${what}: ${how.fault}`);
      // A refused call changes nothing, so that the next one finds the world as it was.
      await world[Symbol.asyncDispose]();
      world = await makeWorld();
    }
    await world[Symbol.asyncDispose]();
    expect(found).toEqual([]);
  });

  test('openReprise', async () => {
    const found: string[] = [];
    const named = { store: 'memory:', config: false as const, platform: createNodePlatform() };
    const options = [
      'store',
      'namespace',
      'config',
      'prices',
      'masking',
      'durability',
      'readOnly',
      'create',
      'busyWaitMs',
      'snapshotEvents',
      'onRead',
      'platform',
    ];
    const calls = wrong.flatMap(([what, value]) => [
      ...(value === undefined || value === '' ? [] : [[what, value] as const]),
      ...options.map((option) => [`${option}: ${what}`, { ...named, [option]: value }] as const),
    ]);
    for (const [what, given] of calls) {
      try {
        await (await openReprise(given as never)).close();
      } catch (error) {
        const isOurs = error instanceof RepriseError || (error as Error).message === 'a getter that throws';
        if (!isOurs) found.push(`${what}: ${String((error as Error).stack?.split('\n').slice(0, 3).join(' '))}`);
      }
    }
    expect(found).toEqual([]);
  });
});
