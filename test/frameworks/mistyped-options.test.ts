/** Every public function that takes options refuses one that nobody would read. The list is made from the source. */
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { ToolLoopAgent } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doors } from '../../scripts/doors.ts';
import { publicSurface } from '../../scripts/public-surface.ts';
import * as aiSdk from '../../src/ai-sdk.ts';
import * as anthropic from '../../src/anthropic.ts';
import * as gemini from '../../src/gemini.ts';
import {
  conversation,
  createNodePlatform,
  defineConfig,
  defineProjection,
  messagesOf,
  openMemoryStore,
  openPostgresStore,
  openReprise,
  openSqliteStore,
  type Reprise,
  RepriseError,
  readTestReport,
  recordFunction,
  recordTools,
  type Session,
  type SessionRecorder,
  verifyBundle,
  verifyProof,
} from '../../src/index.ts';
import * as langgraph from '../../src/langgraph.ts';
import * as mcp from '../../src/mcp.ts';
import * as openai from '../../src/openai.ts';
import * as openaiAgents from '../../src/openai-agents.ts';
import { makeToken } from '../../src/server.ts';
import { openModelServer } from '../../src/testing.ts';
import { client as anthropicClient } from '../docs/example-anthropic.ts';
import { client as geminiClient } from '../docs/example-gemini.ts';
import { model } from '../docs/example-model.ts';
import { client as openaiClient } from '../docs/example-openai.ts';
import { runner, support } from '../docs/example-runner.ts';
import { root } from '../docs/workshop.ts';
import { verbSuite } from '../verbs/verb-suite.ts';

/** Parameters that are objects of names: what is misspelt in them would be left out without a word. */
const bags = new Set(['options', 'start', 'where', 'select', 'script', 'config', 'projection']);

const parametersOf = (text: string | undefined): string[] =>
  (text ?? '').split(', ').map((name) => name.replace(/\?$/, ''));

/** `reprise Session.fork`, for every function and method behind every door that takes such a parameter. */
const takers = Object.entries(doors).flatMap(([door, { file }]) =>
  publicSurface(root, file).flatMap(({ name, kind, parameters, members }) =>
    (kind === 'class'
      ? members.map((member) => ({ called: `${name}.${member.name}`, parameters: member.parameters }))
      : [{ called: name, parameters: kind === 'function' ? parameters : undefined }]
    )
      .filter((taker) => parametersOf(taker.parameters).some((parameter) => bags.has(parameter)))
      .map(({ called }) => `${door} ${called}`),
  ),
);

let reprise: Reprise;
let session: Session;
let recorder: SessionRecorder;
beforeAll(async () => {
  reprise = await openReprise('memory:');
  session = await reprise.createSession('demo');
  await session.append({ type: 'message.added', data: { message: { role: 'user', content: 'Hello?' } } });
  recorder = await session.record({ facts: false });
});
afterAll(() => reprise.close());

const misspelt = { mispelt: 1 } as never;
const all = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
};
const note = { type: 'note.added', data: { text: 'x' } };
const agent = async (): Promise<string> => 'Hello.';
const graph = new StateGraph(MessagesAnnotation)
  .addNode('greet', () => ({ messages: [] }))
  .addEdge('__start__', 'greet')
  .compile();
const platform = createNodePlatform();

const calls: Readonly<Record<string, () => unknown>> = {
  'reprise AgentSurface.beliefsAt': () => session.as('db').beliefsAt(misspelt),
  'reprise AgentSurface.replay': () => all(session.as('db').replay(misspelt)),
  'reprise AgentSurface.stateAt': () =>
    session.as('db').fold({ ...conversation, ...(misspelt as object) } as typeof conversation),
  'reprise BeliefsHandle.using': () => session.using(misspelt).beliefs,
  'reprise BeliefsHandle.commit': () => session.beliefs.commit(misspelt),
  'reprise BeliefsHandle.revert': () => session.beliefs.revert('b1', misspelt),
  'reprise BeliefsHandle.setStrategy': () => session.beliefs.setStrategy('highest-trust', misspelt),
  'reprise FleetHandle.using': () => session.using(misspelt),
  'reprise FleetHandle.spawn': () => session.spawn('db', misspelt),
  'reprise FleetHandle.change': () => session.fleet.change('db', misspelt),
  'reprise FleetHandle.end': () => session.fleet.end('db', misspelt),
  'reprise FleetHandle.runForward': () => session.runForward(misspelt),
  'reprise Branch.as': async () => (session).as('db', misspelt),
  'reprise Branch.beliefsAt': async () => (session).beliefsAt(misspelt),
  'reprise Branch.fleetAt': async () => (session).fleetAt(misspelt),
  'reprise Branch.audit': async () => all((session).audit(misspelt)),
  'reprise Branch.spawn': async () => (session).spawn('db', misspelt),
  'reprise Branch.runForward': async () => (session).runForward(misspelt),
  'reprise Session.as': () => session.as('db', misspelt),
  'reprise Session.beliefsAt': () => session.beliefsAt(misspelt),
  'reprise Session.fleetAt': () => session.fleetAt(misspelt),
  'reprise Session.audit': () => all(session.audit(misspelt)),
  'reprise Branch.append': async () => (session).append(note, misspelt),
  'reprise Branch.record': async () => (session).record(misspelt),
  'reprise Branch.replay': async () => all((session).replay(misspelt)),
  'reprise Branch.project': async () => (session).project(conversation, misspelt),
  'reprise Branch.edit': async () => (session).edit([], misspelt),
  'reprise Branch.redo': async () => (session).redo(misspelt),
  'reprise Branch.resume': async () => (session).resume(agent, misspelt),
  'reprise Branch.resumable': async () => (session).resumable(misspelt),
  'reprise Branch.verify': async () => (session).verify(misspelt),
  'reprise CodingHandle.startRun': () => session.coding.startRun(misspelt),
  'reprise CodingHandle.contextAt': () => session.coding.context(misspelt),
  'reprise CodingHandle.filesAt': () => session.coding.files(misspelt),
  'reprise CodingHandle.replayAt': () => session.coding.replay(misspelt),
  'reprise CodingHandle.replayRun': () => session.coding.replayRun('fix', misspelt),
  'reprise CodingHandle.replayCounterfactual': () => session.coding.replayCounterfactual(misspelt),
  'reprise CodingHandle.exportRun': () => session.coding.exportRun('fix', 'exported', misspelt),
  'reprise readTestReport': () => readTestReport([], misspelt),
  'reprise Reprise.session': () => reprise.session('demo', misspelt),
  'reprise Reprise.createSession': () => reprise.createSession('other', misspelt),
  'reprise Reprise.sessions': () => all(reprise.sessions(misspelt)),
  'reprise Reprise.sessionsPage': () => reprise.sessionsPage(misspelt),
  'reprise Reprise.replay': () => all(reprise.replay(misspelt)),
  'reprise Reprise.health': async () => reprise.health(misspelt),
  'reprise Reprise.verifyAll': () => all(reprise.verifyAll(misspelt)),
  'reprise Reprise.diff': () => reprise.diff('demo', 'demo', misspelt),
  'reprise Reprise.experiment': () => reprise.experiment(misspelt),
  'reprise Reprise.copy': () => reprise.copy(reprise, misspelt),
  'reprise Exchange.import': () => reprise.import({}, misspelt),
  'reprise Exchange.importAll': async () => void (await Array.fromAsync(reprise.importAll({}, misspelt))),
  'reprise Exchange.export': () => reprise.export('demo', misspelt),
  'reprise Exchange.exportFiles': () => reprise.at('demo').export(misspelt).files(),
  'reprise Exchange.exportPieces': () => all(reprise.at('demo').export(misspelt)),
  'reprise Exchange.handBack': () => reprise.at('demo').handBack(misspelt),
  'reprise Exchange.exportBundle': () => (await reprise.session('demo')).exportBundle(misspelt),
  'reprise Exchange.prove': () => reprise.at('demo').prove(misspelt),
  'reprise/server makeToken': async () => makeToken(misspelt, createNodePlatform()),
  'reprise verifyBundle': () => verifyBundle('nowhere', misspelt),
  'reprise verifyProof': () => verifyProof({}, misspelt),
  'reprise Session.append': () => session.append(note, misspelt),
  'reprise Session.record': () => session.record(misspelt),
  'reprise Session.replay': () => all(session.replay(misspelt)),
  'reprise Session.find': () => session.find({}, misspelt),
  'reprise Session.findLast': () => session.findLast({}, misspelt),
  'reprise Session.stateAt': () => session.fold(conversation, misspelt),
  'reprise Session.counterfactual': () => session.counterfactual(conversation, misspelt),
  'reprise Session.fork': () => session.fork('main', misspelt),
  'reprise Session.edit': () => session.edit([], misspelt),
  'reprise Session.rewind': () => session.rewind(0, misspelt),
  'reprise Session.revert': () => session.revert(1, misspelt),
  'reprise Session.redo': () => session.redo(misspelt),
  'reprise Session.erase': () => session.erase('main@1', misspelt),
  'reprise Session.verify': () => session.verify(misspelt),
  'reprise Session.setMetadata': () => session.setMetadata({}, misspelt),
  'reprise Session.resume': () => session.resume(agent, misspelt),
  'reprise Session.resumable': () => session.resumable(misspelt),
  'reprise Session.retry': () => session.retry(agent, misspelt),
  'reprise Session.experiment': () => session.experiment(misspelt),
  'reprise Session.archiveBranch': () => session.archiveBranch('main', misspelt),
  'reprise Session.deleteBranch': () => session.deleteBranch('main', misspelt),
  'reprise Session.delete': () => session.delete(misspelt),
  'reprise StateHandle.begin': () => session.state.begin(misspelt),
  'reprise StateHandle.transaction': () => session.state.transaction(() => 1, misspelt),
  'reprise StateHandle.get': () => session.state.get('k', misspelt),
  'reprise StateHandle.getAt': () => session.state.getAt('k', misspelt),
  'reprise StateHandle.keys': () => all(session.state.keys(misspelt)),
  'reprise StateHandle.scan': () => all(session.state.scan('', misspelt)),
  'reprise StateHandle.history': () => all(session.state.history('k', misspelt)),
  'reprise StateHandle.replay': () => all(session.state.replay(misspelt)),
  'reprise StateHandle.diff': () => all(session.state.diff(session, misspelt)),
  'reprise openReprise': () => openReprise(misspelt),
  'reprise defineConfig': () => openReprise({ store: 'memory:', config: defineConfig(misspelt) }),
  'reprise defineProjection': () =>
    defineProjection({
      name: 'n',
      history: 'view',
      initial: () => 0,
      apply: (n: number) => n,
      ...(misspelt as object),
    }),
  'reprise messagesOf': () => messagesOf({ messages: [] }, misspelt),
  'reprise openMemoryStore': () => openMemoryStore({ platform, ...(misspelt as object) }),
  'reprise openPostgresStore': () => openPostgresStore({ url: 'postgres://x', platform, ...(misspelt as object) }),
  'reprise openSqliteStore': () => openSqliteStore({ path: 'x.db', platform, ...(misspelt as object) }),
  'reprise recordFunction': () => recordFunction(() => 1, { name: 'one', ...(misspelt as object) }),
  'reprise recordTools': () => recordTools({}, misspelt),
  'reprise/openai recordOpenAI': () => openai.recordOpenAI(openaiClient, recorder, misspelt),
  'reprise/openai loopAgent': () => openai.loopAgent(async () => '', { client: openaiClient, ...(misspelt as object) }),
  'reprise/anthropic recordAnthropic': () => anthropic.recordAnthropic(anthropicClient, recorder, misspelt),
  'reprise/anthropic loopAgent': () =>
    anthropic.loopAgent(async () => '', { client: anthropicClient, ...(misspelt as object) }),
  'reprise/gemini recordGemini': () => gemini.recordGemini(geminiClient, recorder, misspelt),
  'reprise/gemini loopAgent': () => gemini.loopAgent(async () => '', { client: geminiClient, ...(misspelt as object) }),
  'reprise/testing openModelServer': () => openModelServer([misspelt]),
  'reprise/ai-sdk recordAgent': () => aiSdk.recordAgent(new ToolLoopAgent({ model }), recorder, misspelt),
  'reprise/ai-sdk recordAiSdk': () => aiSdk.recordAiSdk(recorder, misspelt),
  'reprise/ai-sdk recordModel': () => aiSdk.recordModel(model, recorder, misspelt),
  'reprise/ai-sdk recordTools': () => aiSdk.recordTools({}, recorder, misspelt),
  'reprise/ai-sdk aiSdkAgent': () => aiSdk.aiSdkAgent({ model }, misspelt),
  'reprise/openai-agents openaiAgent': () => openaiAgents.openaiAgent(support, misspelt),
  'reprise/openai-agents recordAgent': () => openaiAgents.recordAgent(support, recorder, misspelt),
  'reprise/openai-agents recordRunner': () => openaiAgents.recordRunner(runner, recorder, misspelt),
  'reprise/langgraph recordTools': () => langgraph.recordTools([], recorder, misspelt),
  'reprise/langgraph langgraphAgent': () => langgraph.langgraphAgent(graph, misspelt),
  'reprise/mcp recordTransport': () => mcp.recordTransport(InMemoryTransport.createLinkedPair()[0], recorder, misspelt),
};

/** Options that are not refused by throwing, and where that is proved. */
const elsewhere: Readonly<Record<string, string>> = {
  'reprise SessionRecorder.run': 'a recorder never throws: it tells what nobody reads (the verb suite, record)',
  'reprise SessionRecorder.turn': 'the same',
  'reprise SessionRecorder.task': 'the same',
  'reprise SessionRecorder.call': 'the same',
  'reprise SessionRecorder.startCall': 'the same',
  'reprise SessionRecorder.startRun': 'the same',
  'reprise SessionRecorder.message': 'the same',
  'reprise project': 'a projection is checked where it is defined',
  'reprise/langgraph RepriseSaver.pointOf': "the configuration is LangGraph's own",
};

test('every public function that takes options has its case here', () => {
  expect(new Set([...Object.keys(calls), ...Object.keys(elsewhere)])).toEqual(new Set(takers));
  expect(verbSuite.fork.some(({ title }) => title.includes('a recorder reports unknown fields'))).toBe(true);
});

describe('an option that nobody reads is refused by', () => {
  test.each(Object.keys(calls))('%s', async (name) => {
    const refused = await (async () => calls[name]?.())().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(RepriseError);
    const { code, message, hint } = refused as RepriseError;
    expect(['option.invalid', 'config.invalid', 'projection.invalid', 'session.not-confirmed']).toContain(code);
    if (code !== 'session.not-confirmed') expect(`${message} ${hint}`).toContain('mispelt');
  });
});

test('the callback handler refuses an option that it would not read, and every adapter refuses an effect that does not exist', () => {
  const effects = { refund: 'ireversible' } as never;
  const makers: readonly (() => unknown)[] = [
    () => new langgraph.RepriseCallbackHandler(recorder, misspelt),
    () => new langgraph.RepriseCallbackHandler(recorder, { effects }),
    () => langgraph.recordTools([], recorder, { effects }),
    () => langgraph.langgraphAgent(graph, { effects }),
    () => aiSdk.recordAiSdk(recorder, { effects }),
    () => aiSdk.recordTools({}, recorder, { effects }),
    () => aiSdk.aiSdkAgent({ model }, { effects }),
    () => openaiAgents.recordRunner(runner, recorder, { effects }),
    () => openaiAgents.openaiAgent(support, { effects }),
    () => mcp.recordTransport(InMemoryTransport.createLinkedPair()[0], recorder, { effects }),
  ];
  for (const make of makers) expect(make).toThrow(/^Cannot /);
});
