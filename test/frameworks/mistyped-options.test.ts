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
import { makeToken, serve } from '../../src/server.ts';
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
const takers = Object.entries({
  ...doors,
  'reprise/fleet': { file: 'src/fleet.ts' },
  'reprise/coding': { file: 'src/coding.ts' },
}).flatMap(([door, { file }]) =>
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
  'reprise Look.as': () => session.at('main@1').as('db', misspelt),
  'reprise Look.fold': () => session.fold(conversation, misspelt),
  'reprise Look.replay': () => all(session.at('main@1').replay(misspelt)),
  'reprise Look.find': () => session.find({}, misspelt),
  'reprise Look.findLast': () => session.findLast({}, misspelt),
  'reprise Look.resumable': () => session.resumable(misspelt),
  'reprise Look.counterfactual': () => session.counterfactual(conversation, misspelt),
  'reprise Look.diff': () => session.diff('demo', misspelt),
  'reprise Look.verify': () => session.verify(misspelt),
  'reprise Look.prove': () => session.at('main@1').prove(misspelt),
  'reprise Look.audit': () => all(session.at('main@1').audit(misspelt)),
  'reprise Look.fork': () => session.at('main@1').fork(misspelt),
  'reprise Look.retry': () => session.retry(agent, misspelt),
  'reprise Look.experiment': () => session.experiment(misspelt),
  'reprise Look.export': () => session.export(misspelt).text(),
  'reprise Look.handBack': () => session.handBack(misspelt),
  'reprise Look.exportBundle': () => session.at('main@1').exportBundle(misspelt),
  'reprise Branch.as': () => session.as('db', misspelt),
  'reprise Branch.using': () => session.using(misspelt),
  'reprise Branch.append': () => session.append(note, misspelt),
  'reprise Branch.record': () => session.record(misspelt),
  'reprise Branch.replay': () => all(session.replay(misspelt)),
  'reprise Branch.audit': () => all(session.audit(misspelt)),
  'reprise Branch.resume': () => session.resume(agent, misspelt),
  'reprise Branch.runForward': () => session.runForward(misspelt),
  'reprise Branch.edit': () => session.edit([], misspelt),
  'reprise Branch.rewind': () => session.rewind(0, misspelt),
  'reprise Branch.revert': () => session.revert(1, misspelt),
  'reprise Branch.redo': () => session.redo(misspelt),
  'reprise Branch.spawn': () => session.spawn('db', misspelt),
  'reprise Session.fork': () => session.fork('main', misspelt),
  'reprise Session.erase': () => session.erase('main@1', misspelt),
  'reprise Session.archiveBranch': () => session.archiveBranch('main', misspelt),
  'reprise Session.deleteBranch': () => session.deleteBranch('main', misspelt),
  'reprise Session.exportBundle': () => session.exportBundle(misspelt),
  'reprise Session.delete': () => session.delete(misspelt),
  'reprise AgentLook.replay': () => all(session.at('main@1').as('db').replay(misspelt)),
  'reprise AgentLook.fold': () =>
    session.as('db').fold({ ...conversation, ...(misspelt as object) } as typeof conversation),
  'reprise/fleet AgentBeliefsReader.list': () => session.at('main@1').as('db').beliefs.list(misspelt),
  'reprise/fleet AgentBeliefs.commit': () => session.as('db').beliefs.commit(misspelt),
  'reprise/fleet BeliefsReader.list': () => session.at('main@1').beliefs.list(misspelt),
  'reprise/fleet Beliefs.commit': () => session.beliefs.commit(misspelt),
  'reprise/fleet Beliefs.revert': () => session.beliefs.revert('b1', misspelt),
  'reprise/fleet Beliefs.setStrategy': () => session.beliefs.setStrategy('highest-trust', misspelt),
  'reprise/fleet Fleet.change': () => session.fleet.change('db', misspelt),
  'reprise/fleet Fleet.end': () => session.fleet.end('db', misspelt),
  'reprise/fleet Tasks.start': () => session.fleet.task.start(misspelt),
  'reprise/fleet Tasks.claim': () => session.fleet.task.claim(misspelt),
  'reprise/fleet Tasks.end': () => session.fleet.task.end(misspelt),
  'reprise/fleet Tasks.verificationFailed': () => session.fleet.task.verificationFailed(misspelt),
  'reprise/coding CodingReader.context': () => session.coding.context(misspelt),
  'reprise/coding CodingReader.files': () => session.coding.files(misspelt),
  'reprise/coding CodingReader.replay': () => session.coding.replay(misspelt),
  'reprise/coding CodingReader.replayRun': () => session.coding.replayRun('fix', misspelt),
  'reprise/coding CodingReader.replayCounterfactual': () => session.coding.replayCounterfactual(misspelt),
  'reprise/coding CodingReader.exportRun': () => session.coding.exportRun('fix', 'exported', misspelt),
  'reprise/coding Coding.startRun': () => session.coding.startRun(misspelt),
  'reprise/coding readTestReport': () => readTestReport([], misspelt),
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
  'reprise Reprise.import': () => reprise.import({}, misspelt),
  'reprise Reprise.importAll': async () => void (await Array.fromAsync(reprise.importAll({}, misspelt))),
  'reprise/server makeToken': async () => makeToken(misspelt, createNodePlatform()),
  'reprise verifyBundle': () => verifyBundle('nowhere', misspelt),
  'reprise verifyProof': () => verifyProof({}, misspelt),
  'reprise StateReader.get': () => session.state.get('k', misspelt),
  'reprise StateReader.keys': () => all(session.state.keys('', misspelt)),
  'reprise StateReader.scan': () => all(session.state.scan('', misspelt)),
  'reprise StateReader.history': () => all(session.state.history('k', misspelt)),
  'reprise StateReader.replay': () => all(session.state.replay(misspelt)),
  'reprise StateReader.diff': () => all(session.state.diff(session, misspelt)),
  'reprise State.begin': () => session.state.begin(misspelt),
  'reprise State.transaction': () => session.state.transaction(() => 1, misspelt),
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
  'reprise/server serve': () => serve(misspelt),
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

/** Functions whose only parameter is an object of names that is not called options. */
const alsoAsked = [
  'reprise/fleet AgentBeliefsReader.list',
  'reprise/fleet AgentBeliefs.commit',
  'reprise/fleet BeliefsReader.list',
];

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
  expect(new Set([...Object.keys(calls), ...Object.keys(elsewhere)])).toEqual(new Set([...takers, ...alsoAsked]));
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
