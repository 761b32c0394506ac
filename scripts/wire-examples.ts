/** One request for each call of a server, for the page of the wire. A call without one does not compile. */
import type { JsonObject } from '../src/core/json.ts';
import type { CodingService } from '../src/wire/generated/reprise/v1/coding_pb.ts';
import type { FleetService } from '../src/wire/generated/reprise/v1/fleet_pb.ts';
import type { ServerService } from '../src/wire/generated/reprise/v1/server_pb.ts';
import type { SessionService } from '../src/wire/generated/reprise/v1/session_pb.ts';
import type { StateService } from '../src/wire/generated/reprise/v1/state_pb.ts';
import type { StoreService } from '../src/wire/generated/reprise/v1/store_pb.ts';
import type { StudioService } from '../src/wire/generated/reprise/v1/studio_pb.ts';
import type { WireWorld } from './wire-world.ts';

/** The requests of one service, by call. */
type Requests<Service extends { readonly method: object }> = Readonly<Record<keyof Service['method'], JsonObject>>;

/** The requests of every service. */
export interface WireExamples {
  readonly ServerService: Requests<typeof ServerService>;
  readonly SessionService: Requests<typeof SessionService>;
  readonly StateService: Requests<typeof StateService>;
  readonly CodingService: Requests<typeof CodingService>;
  readonly FleetService: Requests<typeof FleetService>;
  readonly StoreService: Requests<typeof StoreService>;
  readonly StudioService: Requests<typeof StudioService>;
}

const demo = { session: 'demo' };
const main = { ...demo, branch: 'main' };
const text = (value: unknown): string => JSON.stringify(value);
const note = (content: string): string => text({ type: 'note.added', data: { text: content } });

/** Returns the requests, on the sessions of a world. */
export function wireExamples(world: WireWorld): WireExamples {
  return {
    ServerService: { getVersion: {} },
    SessionService: { ...sessionExamples, getExperiment: { experiment: world.experiment } },
    StateService: stateExamples,
    CodingService: codingExamples,
    FleetService: fleetExamples,
    StoreService: { ...storeLooks, ...storeChanges(world) },
    StudioService: { ...studioExamples, readExperiment: { experiment: world.experiment } },
  };
}

const sessionExamples: Omit<WireExamples['SessionService'], 'getExperiment'> = {
  openSession: { session: 'new', create: true, metadata: text({ owner: 'support' }) },
  scanSessions: { limit: 10 },
  removeSession: { session: 'older', confirm: 'older' },
  appendEvents: { session: 'new', events: [note('Stored once, by its id.')], options: text({ head: 1 }) },
  streamAppends: { session: 'new', events: [note('A batch')], batch: 1 },
  replayEvents: { ...demo, options: text({ at: 'main@4', after: 1 }), leaveOut: ['digest'] },
  findEvent: { ...demo, filter: text({ types: ['note.added'] }), last: true },
  getStateAt: { ...demo, point: 'main@4', projection: 'conversation' },
  counterfactual: { ...demo, point: 'main@4', projection: 'conversation', options: text({ exclude: [2] }) },
  forkBranch: { ...demo, point: 'main@2', options: text({ name: 'order-8', prompt: 'Order 8' }) },
  editBranch: { ...demo, point: 'careful', edits: text([{ kind: 'prompt', text: 'Order 9' }]) },
  rewindBranch: { ...demo, point: 'careful@3', options: text({ reason: 'a wrong note' }) },
  revertEvent: { ...demo, point: 'order-8@2', options: text({ reason: 'asked twice' }) },
  redoBranch: { ...demo, point: 'careful' },
  eraseEvent: { session: 'old', point: 'main@1', options: text({ reason: 'a name in it' }) },
  archiveBranch: { session: 'old', branch: 'tried' },
  removeBranch: { session: 'old', branch: 'tried', options: text({ confirm: 'tried' }) },
  getFingerprint: { ...demo, point: 'main@5' },
  verifySession: { ...demo },
  locatePoint: { ...demo, point: 'careful@2' },
  getTree: { ...demo },
  getBranchState: { ...demo, branch: 'careful' },
  getMetadata: { session: 'new' },
  setMetadata: { session: 'new', set: text({ owner: 'billing' }) },
  describeSession: { ...demo },
  diff: { left: 'demo', right: 'demo/careful', options: text({ states: ['conversation'] }) },
  resolveRef: { ref: 'latest' },
  exportHistory: { ref: 'demo', format: 'shipit' },
  exportFiles: { ref: 'demo', format: 'shipit' },
  handBack: { ref: 'demo', format: 'claude-code' },
  proveHistory: { ref: 'demo@3' },
};

const support = { ...demo, agent: 'support' };
const held = { ...support, transaction: '$TRANSACTION' };

const stateExamples: WireExamples['StateService'] = {
  getState: { ...support, key: 'plan' },
  listKeys: { ...support },
  scanState: { ...support, prefix: 'pl' },
  getHistory: { ...support, key: 'plan' },
  replayState: { ...support, options: text({ at: 'main@5' }) },
  diffState: { ...support, left: 'main@1', right: 'main@5' },
  commitState: {
    ...support,
    operations: text([{ key: 'plan', op: 'write', value: { next: 'done' } }]),
    read: text([{ key: 'plan', version: 1 }]),
    requestId: 'commit-1',
  },
  beginTransaction: { ...support, options: text({ timeoutMs: 60_000 }) },
  writeState: { ...held, key: 'order', value: text({ id: 7 }) },
  deleteState: { ...held, key: 'plan' },
  readState: { ...held, key: 'order' },
  commitTransaction: { ...held },
  abortTransaction: { ...support, transaction: '$TRANSACTION' },
};

const place = { session: 'parser', branch: 'main' };

const codingExamples: WireExamples['CodingService'] = {
  recordCoding: { place, verb: 'goal', input: text({ title: 'Make the parser tests pass' }) },
  prepareRequest: { place, input: text({ model: 'large-1', input: 'Fix the parser.' }) },
  configureCoding: { place, settings: text({ budgetTokens: 4_000 }) },
  getContext: { place, options: text({ budgetTokens: 500 }) },
  getFiles: { place },
  replayCoding: { place, run: 'fix-1', options: text({ model: 'large-1', input: 'Go on.' }) },
  replayCodingWithout: { place, options: text({ exclude: [2] }) },
  diffRuns: { place, after: 'fix-1' },
};

const outage = { session: 'outage' };

const fleetExamples: WireExamples['FleetService'] = {
  changeFleet: { ...outage, verb: 'spawn', input: text(['cache', { scope: ['cache'] }]) },
  getFleet: { ...outage, where: text({ turn: 0 }) },
  getStrategy: { ...outage },
  commitBelief: { ...outage, agent: 'db', input: text({ topic: 'database', kind: 'fact', claim: 'The pool is full' }) },
  listBeliefs: { ...outage, agent: 'db' },
  auditFleet: { ...outage, options: text({ limit: 5 }) },
  replayAgent: { ...outage, agent: 'db' },
  getAgentState: { ...outage, agent: 'db', projection: 'conversation' },
  getKnown: { ...outage, agent: 'db', point: 'main' },
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
  listSnapshots: { branch, key, through: 5 },
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
