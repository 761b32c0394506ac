/** One request for each verb and call of a server, for the page of the wire. One without does not compile. */
import type { JsonObject } from '../src/core/json.ts';
import type { VerbName } from '../src/server/calls/verb-table.ts';
import type { ServerService } from '../src/wire/generated/reprise/v1/server_pb.ts';
import type { SessionService } from '../src/wire/generated/reprise/v1/session_pb.ts';
import type { StateService } from '../src/wire/generated/reprise/v1/state_pb.ts';
import type { StoreService } from '../src/wire/generated/reprise/v1/store_pb.ts';
import type { StudioService } from '../src/wire/generated/reprise/v1/studio_pb.ts';
import type { VerbService } from '../src/wire/generated/reprise/v1/verb_pb.ts';
import type { WireWorld } from './wire-world.ts';

/** The requests of one service, by call. */
type Requests<Service extends { readonly method: object }> = Readonly<Record<keyof Service['method'], JsonObject>>;

/** The arguments of every verb. */
export type VerbExamples = Readonly<Record<VerbName, JsonObject>>;

/** The requests of every service. */
export interface WireExamples {
  readonly ServerService: Requests<typeof ServerService>;
  readonly SessionService: Requests<typeof SessionService>;
  readonly StateService: Requests<typeof StateService>;
  readonly VerbService: Requests<typeof VerbService>;
  readonly StoreService: Requests<typeof StoreService>;
  readonly StudioService: Requests<typeof StudioService>;
}

const demo = { session: 'demo' };
const main = { ...demo, branch: 'main' };
const text = (value: unknown): string => JSON.stringify(value);
const note = (content: string): string => text({ type: 'note.added', data: { text: content } });

/** Returns the arguments of the verbs, on the sessions of a world. */
export function verbExamples({ experiment }: WireWorld): VerbExamples {
  return {
    ...repriseExamples,
    'reprise.findExperiment': { experiment },
    ...lookExamples,
    ...branchExamples,
    ...sessionExamples,
    ...stateVerbExamples,
    ...fleetExamples,
    ...codingExamples,
    ...agentExamples,
  };
}

/** Returns the requests, on the sessions of a world. */
export function wireExamples(world: WireWorld): WireExamples {
  return {
    ServerService: { getVersion: {} },
    VerbService: {
      call: { verb: 'look.fold', arguments: text({ ref: 'demo@4', projection: 'metadata' }) },
      stream: { verb: 'look.replay', arguments: text({ ref: 'demo@2' }) },
    },
    SessionService: bulkExamples,
    StateService: stateExamples,
    StoreService: { ...storeLooks, ...storeChanges(world) },
    StudioService: { ...studioExamples, readExperiment: { experiment: world.experiment } },
  };
}

const repriseExamples = {
  'reprise.session': { session: 'demo' },
  'reprise.createSession': { session: 'new', metadata: { owner: 'support' } },
  'reprise.sessions': {},
  'reprise.sessionsPage': { limit: 10 },
  'reprise.replay': { sessions: ['demo', 'old'], limit: 3 },
  'reprise.diff': { left: 'demo', right: 'demo/careful', states: ['conversation'] },
  'reprise.resolve': { ref: 'latest' },
  'reprise.sessionSize': { session: 'demo' },
} as const;

const lookExamples = {
  'look.locate': { ref: 'demo/careful@2' },
  'look.fold': { ref: 'demo@4', projection: 'conversation' },
  'look.folds': { ref: 'demo@4', projections: ['runs', 'summary'] },
  'look.replay': { ref: 'demo@4', after: 1, leaveOut: ['digest'] },
  'look.find': { ref: 'demo', filter: 'type=^note' },
  'look.findLast': { ref: 'demo', filter: { types: ['note.added'] } },
  'look.known': { ref: 'demo@5' },
  'look.metadata': { ref: 'new' },
  'look.counterfactual': { ref: 'demo@4', projection: 'conversation', exclude: [2] },
  'look.fingerprint': { ref: 'demo@5' },
  'look.verify': { ref: 'demo' },
  'look.prove': { ref: 'demo@3' },
  'look.audit': { ref: 'outage', limit: 5 },
  'look.fork': { ref: 'demo@2', name: 'order-8', prompt: 'Order 8' },
  'look.export': { ref: 'demo', format: 'shipit' },
  'look.exportFiles': { ref: 'demo', format: 'shipit' },
  'look.handBack': { ref: 'demo', format: 'claude-code' },
} as const;

const branchExamples = {
  'branch.append': { ref: 'new', events: [{ type: 'note.added', data: { text: 'A note' } }], head: 1 },
  'branch.edit': { ref: 'demo/careful', edits: [{ kind: 'prompt', text: 'Order 9' }] },
  'branch.rewind': { ref: 'demo/careful@3', reason: 'a wrong note' },
  'branch.revert': { ref: 'demo/order-8@2', reason: 'asked twice' },
  'branch.redo': { ref: 'demo/careful' },
  'branch.setMetadata': { ref: 'new', set: { owner: 'billing' } },
} as const;

const sessionExamples = {
  'session.branches': { session: 'demo' },
  'session.tree': { session: 'demo' },
  'session.branch': { session: 'demo', branch: 'careful' },
  'session.toJSON': { session: 'old' },
  'session.archiveBranch': { session: 'old', branch: 'tried' },
  'session.deleteBranch': { session: 'old', branch: 'tried', confirm: 'tried' },
  'session.erase': { ref: 'old@1', reason: 'a name in it' },
  'session.repair': { session: 'old' },
  'session.dropSnapshots': { session: 'demo' },
  'session.delete': { session: 'older', confirm: 'older' },
} as const;

const support = { ref: 'demo', agent: 'support' };

const stateVerbExamples = {
  'state.get': { ...support, key: 'plan' },
  'state.keys': { ...support },
  'state.scan': { ...support, prefix: 'pl' },
  'state.history': { ...support, key: 'plan' },
  'state.replay': { ref: 'demo@5', agent: 'support' },
  'state.diff': { ref: 'demo@1', other: 'demo@5', agent: 'support' },
  'state.transaction': {
    ...support,
    operations: [{ key: 'plan', op: 'write', value: { next: 'done' } }],
    read: [{ key: 'plan', version: 1 }],
    requestId: 'commit-1',
  },
} as const;

const outage = { ref: 'outage' };

const fleetExamples = {
  'beliefs.list': { ...outage },
  'beliefs.strategy': { ...outage },
  'beliefs.commit': { ...outage, id: 'claim-1', topic: 'database', kind: 'fact', claim: 'The pool is full' },
  'beliefs.settle': { ...outage },
  'beliefs.revert': { ...outage, belief: 'claim-1', reason: 'a wrong reading' },
  'beliefs.setStrategy': { ...outage, strategy: 'highest-trust' },
  'fleet.agents': { ...outage, story: 0 },
  'fleet.tasks': { ...outage },
  'branch.spawn': { ...outage, agent: 'cache', scope: ['cache'] },
  'fleet.change': { ...outage, agent: 'cache', role: 'reader' },
  'fleet.end': { ...outage, agent: 'cache', outcome: 'ok' },
  'branch.mutate': { ...outage, mutation: { claim: 'The cache is cold', topic: 'cache' } },
  'fleet.task.start': { ...outage, task: 't1', title: 'Find the slow query' },
  'fleet.task.claim': { ...outage, task: 't1', agent: 'db' },
  'fleet.task.end': { ...outage, task: 't1', result: 'orders_by_customer' },
  'fleet.task.verificationFailed': { ...outage, task: 't1', signals: ['tests'] },
} as const;

const parser = { ref: 'parser' };

const codingExamples = {
  'coding.goal': { ...parser, title: 'Make the parser tests pass' },
  'coding.constraint': { ...parser, key: 'keep_api', text: 'Keep the API.' },
  'coding.testRun': { ...parser, command: 'npm test', exitCode: 0, framework: 'vitest' },
  'coding.patch': { ...parser, file: 'src/two.ts', after: 'export const two = 2;\n' },
  'coding.decision': { ...parser, decision: 'Split the parser', reason: 'It is long.' },
  'coding.procedure': { ...parser, text: 'Run npm test.' },
  'coding.evidence': { ...parser, title: 'A trace', content: { ms: 12 } },
  'coding.risk': { ...parser, title: 'An instruction in a page' },
  'coding.fact': { ...parser, text: 'The parser is recursive.' },
  'coding.prepareRequest': { ...parser, model: 'large-1', input: 'Fix the parser.' },
  'coding.configure': { ...parser, budgetTokens: 4_000 },
  'coding.context': { ...parser, budgetTokens: 500 },
  'coding.files': { ...parser },
  'coding.replay': { ...parser, model: 'large-1', input: 'Go on.' },
  'coding.replayRun': { ...parser, run: 'fix-1', model: 'large-1', input: 'Go on.' },
  'coding.replayCounterfactual': { ...parser, exclude: [2] },
  'coding.endRun': { ...parser, run: 'fix-1', outcome: 'ok' },
  'coding.startRun': { ...parser, run: 'fix-2' },
  'coding.diffRuns': { ...parser, before: 'fix-1', after: 'fix-2' },
} as const;

const asDb = { ref: 'outage', agent: 'db' };

const agentExamples = {
  'agent.replay': { ...asDb },
  'agent.fold': { ...asDb, projection: 'conversation' },
  'agent.known': { ...asDb },
  'agent.beliefs.list': { ...asDb, topic: 'database' },
  'agent.beliefs.commit': { ...asDb, topic: 'database', kind: 'fact', claim: 'The pool is full again' },
} as const;

const bulkExamples: WireExamples['SessionService'] = {
  appendEvents: { ref: 'new', events: [note('Stored once, by its id.')] },
  streamAppends: { batch: 1, append: { ref: 'new', events: [note('A batch')] } },
  replayEvents: { ref: 'demo@4', after: 1, filter: 'type=^note', leaveOut: ['digest'] },
};

const place = { ref: 'demo', agent: 'support' };
const held = { place, transaction: '$TRANSACTION' };

const stateExamples: WireExamples['StateService'] = {
  commitState: {
    place,
    operations: [{ key: 'plan', value: text({ next: 'closed' }) }],
    read: [{ key: 'plan', version: 2 }],
    requestId: 'commit-2',
  },
  beginTransaction: { place, timeoutMs: 60_000 },
  writeState: { ...held, key: 'order', value: text({ id: 7 }) },
  deleteState: { ...held, key: 'plan' },
  readState: { ...held, key: 'order' },
  commitTransaction: { ...held },
  abortTransaction: { place, transaction: '$TRANSACTION' },
};

const studioExamples: Omit<WireExamples['StudioService'], 'readExperiment'> = {
  readSessions: { filter: text({ outcome: 'ok' }), limit: 10 },
  readIndex: { ...demo, around: 2 },
  readEvents: { ...main, seqs: [1, 2] },
  readGists: { ...main, seqs: [1, 2] },
  readText: { ...main, seq: 2, path: '/data/message/content', offset: 6, length: 1 },
  readContext: { ...demo, point: 'main@4' },
  readKnown: { ...demo, point: 'main@5', projections: ['state'], since: 'main@4' },
  readChanges: { ...demo, projection: 'state', path: '/support/plan' },
  readCauses: { ...demo, point: 'main@2' },
  searchEvents: { ...demo, text: 'order', filter: text({ types: ['message.added'] }) },
  compareViews: { left: 'demo', right: 'demo/careful', states: ['state'] },
  compareTable: { refs: ['demo', 'demo/careful'] },
  readTree: { ...demo },
  previewEdits: { ...demo, point: 'main@4', edits: text([{ kind: 'prompt', text: 'Order 9' }]) },
  previewChange: { ...demo, point: 'main@3', change: 'rewind' },
  readStore: {},
  listAgents: {},
  startRun: { ...demo, point: 'main@2', order: text({ kind: 'fork', agent: 'payer' }), requestId: 'start-1' },
  answerQuestion: { run: '$RUN', question: 'q1', answer: text({ kind: 'effect', answer: 'run' }) },
  stopRun: { run: '$RUN' },
  listRuns: {},
  follow: { subscriptions: [{ branch: { ...main, after: 2 } }, { runs: {} }] },
  exportPage: { ref: 'demo', rules: text(['note.added']), preview: true },
};

const session = { namespace: 'default', session: 'demo' };
const branch = { namespace: 'default', ...main };
const key = { projection: 'mine', version: '1', upcasts: 0, erasures: 0 };
const point = { branch: 'main', seq: 4, digest: '0'.repeat(64) };
const view = [{ branch: 'main', after: 0, through: 4 }];
const row = (id: string): JsonObject => ({
  id,
  time: '2026-11-15T10:00:00.000Z',
  type: 'note.added',
  version: 1,
  data: text({ text: 'A row' }),
});

const storeLooks = {
  getBranch: { branch },
  getBranchHead: { branch },
  listBranches: { session },
  read: { session, view, limit: 2, select: 'EVENT_SELECT_FULL', pages: 2, withParts: true },
  locate: { session, ids: ['row-1'] },
  latest: { session, point: { branch: 'main' }, prefix: '', limit: 5, select: 'EVENT_SELECT_HEADER' },
  getParts: { session, digests: ['0'.repeat(64)] },
  watch: { branch, after: 0 },
  getSession: { session },
  listSessions: { namespace: 'default', limit: 10 },
  listSnapshots: { session, keys: [key], within: [{ branch: 'main', through: 5 }] },
  getSnapshot: { branch, key, seq: 4 },
  listHeldSnapshots: { branch, limit: 10 },
  listReceipts: { session, digest: '0'.repeat(64) },
  listHeldReceipts: { session, limit: 10 },
  listHeldParts: { session, limit: 10 },
  getSessionSize: { session },
  getHealth: {},
} as const;

function storeChanges({ first, heads }: WireWorld): Omit<WireExamples['StoreService'], keyof typeof storeLooks> {
  const old = { namespace: 'default', session: 'old' };
  const pruned = { namespace: 'default', session: 'pruned' };
  const { causeSeq: _, cause: __, dataDigest: ___, ...proof } = first;
  return {
    append: { appends: [{ session, branch: 'main', events: [row('row-1')] }] },
    restore: { session: { ...session, session: 'restored' }, branch: 'main', events: [{ ...proof }] },
    createSession: { session: { ...session, session: 'made' }, root: 'main', seed: 'a random text' },
    renameSession: { session: { ...session, session: 'made' }, to: 'renamed', requestId: 'rename-1' },
    deleteSession: { session: { ...session, session: 'oldest' }, requestId: 'delete-1' },
    deleteBranch: {
      branch: { ...pruned, branch: 'failed' },
      heads: heads.map((each) => ({ ...each })),
      append: { session: pruned, branch: 'main', events: [row('row-2')] },
      requestId: 'delete-2',
    },
    putSnapshot: { session, snapshot: { key, ...point, value: '1' } },
    dropSnapshots: { session },
    putReceipt: {
      session,
      receipt: {
        digest: '0'.repeat(64),
        kind: 'mine',
        createdAt: '2026-11-15T10:00:00.000Z',
        body: text({ ok: true }),
      },
    },
    erase: { session: old, requestId: 'erase-1' },
    reindex: { session, dryRun: true },
  };
}
