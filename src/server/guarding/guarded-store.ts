import { RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import { refusal } from '../../core/store/append-judgement.ts';
import type { DeleteBranchRequest } from '../../core/store/delete-branch-request.ts';
import type {
  AppendOutcome,
  AppendRequest,
  EraseOutcome,
  EraseRequest,
  EventStore,
  Platform,
  RestoredEvent,
  SessionRecord,
  SessionRef,
  SessionsPage,
  SessionsRequest,
  Snapshot,
} from '../../core/store/event-store.ts';
import type { RestoreOutcome, RestoreRequest } from '../../core/store/restore-request.ts';
import { type NewSession, type RenameRequest, sessionNotFound } from '../../core/store/session-request.ts';
import type { HealthRequest, StoreHealth } from '../../core/store/store-health.ts';
import { checkNamespace, checkRight, type Grant, hasRight, type Right } from './grant.ts';
import { guardedSnapshots } from './guarded-snapshots.ts';
import { checkDeltas, honestKeys, partsFor } from './honest-events.ts';

/** The methods of a store that a caller can reach; a server closes its store itself. */
export type GuardedStore = Omit<EventStore, 'close'>;

/**
 * The right that each method takes. `restore` and `renameSession` take `append`, too, where they carry out a copy into
 * a session that does not exist yet.
 */
export const rightOf: Readonly<Record<keyof GuardedStore, Right>> = {
  branch: 'read',
  branchHead: 'read',
  branches: 'read',
  read: 'read',
  locate: 'read',
  latest: 'read',
  parts: 'read',
  watch: 'read',
  session: 'read',
  sessions: 'read',
  snapshots: 'read',
  snapshot: 'read',
  heldSnapshots: 'read',
  receipts: 'read',
  heldReceipts: 'read',
  heldParts: 'read',
  sessionSize: 'read',
  health: 'read',
  append: 'append',
  createSession: 'append',
  putSnapshot: 'append',
  dropSnapshots: 'append',
  putReceipt: 'append',
  erase: 'admin',
  deleteSession: 'admin',
  deleteBranch: 'admin',
  reindex: 'admin',
  restore: 'admin',
  renameSession: 'admin',
};

/** The world of a guard. */
export interface GuardParts {
  readonly store: EventStore;
  readonly platform: Platform;
  /** The names of the projections whose snapshots the server makes itself. */
  readonly shipped: ReadonlySet<string>;
  /** Gets a place where a caller found a snapshot of a shipped projection worth keeping. */
  readonly keep: (ref: SessionRef, wanted: Omit<Snapshot, 'value'>) => void;
}

/** Returns the store as one caller may use it: derived data from the caller is ignored and recomputed. */
export function guardStore(parts: GuardParts, grant: Grant): GuardedStore {
  const allowed = (method: keyof GuardedStore, { namespace }: { readonly namespace: string }): EventStore => {
    checkRight(grant, rightOf[method], attempts[method]);
    checkNamespace(grant, namespace);
    return parts.store;
  };
  return {
    branch: async (ref) => await allowed('branch', ref).branch(ref),
    branchHead: async (ref) => await allowed('branchHead', ref).branchHead(ref),
    branches: async (ref) => await allowed('branches', ref).branches(ref),
    read: async (ref, view, page) => await allowed('read', ref).read(ref, view, page),
    locate: async (ref, ids) => await allowed('locate', ref).locate(ref, ids),
    latest: async (ref, view, select, page) => await allowed('latest', ref).latest(ref, view, select, page),
    parts: async (ref, digests, request) => await allowed('parts', ref).parts(ref, digests, request),
    watch: (ref, after, signal) => allowed('watch', ref).watch(ref, after, signal),
    session: async (ref) => await allowed('session', ref).session(ref),
    receipts: async (ref, digest) => await allowed('receipts', ref).receipts(ref, digest),
    heldReceipts: async (ref, request) => await allowed('heldReceipts', ref).heldReceipts(ref, request),
    heldParts: async (ref, request) => await allowed('heldParts', ref).heldParts(ref, request),
    dropSnapshots: async (ref) => await allowed('dropSnapshots', ref).dropSnapshots(ref),
    putReceipt: async (ref, receipt) => await allowed('putReceipt', ref).putReceipt(ref, receipt),
    deleteSession: async (ref) => await allowed('deleteSession', ref).deleteSession(ref),
    deleteBranch: async (request) => await deleteBranch({ ...parts, store: allowed('deleteBranch', request) }, request),
    sessionSize: async (ref) => await allowed('sessionSize', ref).sessionSize(ref),
    reindex: async (ref, request) => {
      // To compare is to look.
      const store = request?.dryRun === true ? allowed('heldParts', ref) : allowed('reindex', ref);
      return await store.reindex(ref, request);
    },
    append: async (requests) => await appendAll(parts, requests, (request) => allowed('append', request)),
    createSession: async (ref, options) => await createSession(allowed('createSession', ref), ref, options),
    erase: async (request) => await erase({ ...parts, store: allowed('erase', request) }, request),
    restore: async (request) => await restore(parts, grant, request),
    renameSession: async (ref, request) => await renameSession(parts, grant, ref, request),
    sessions: async (request) => await listSessions(parts, grant, request),
    health: async (request) => await reportHealth(parts, grant, request),
    ...guardedSnapshots(parts, grant, allowed),
  };
}

const attempts: Readonly<Record<keyof GuardedStore, string>> = {
  branch: 'read the branch',
  branchHead: 'read the branch',
  branches: 'list branches',
  read: 'read events',
  locate: 'find events',
  latest: 'read by key',
  parts: 'read parts',
  watch: 'follow the branch',
  session: 'read the session',
  sessions: 'list sessions',
  snapshots: 'read snapshots',
  snapshot: 'read a snapshot',
  heldSnapshots: 'read snapshots',
  receipts: 'read receipts',
  heldReceipts: 'read receipts',
  heldParts: 'list parts',
  sessionSize: 'measure the session',
  health: 'read the health of the store',
  append: 'append',
  createSession: 'create the session',
  putSnapshot: 'keep a snapshot',
  dropSnapshots: 'drop snapshots',
  putReceipt: 'keep a receipt',
  erase: 'erase',
  deleteSession: 'delete the session',
  deleteBranch: 'delete the branch',
  reindex: 'rebuild the index',
  restore: 'restore events',
  renameSession: 'rename the session',
};

async function listSessions({ store }: GuardParts, grant: Grant, request: SessionsRequest): Promise<SessionsPage> {
  checkRight(grant, 'read', attempts.sessions);
  const { namespaces } = grant;
  const [only] = namespaces ?? [];
  if (request.namespace !== undefined) checkNamespace(grant, request.namespace);
  if (request.namespace !== undefined || namespaces === undefined) return await store.sessions(request);
  if (only !== undefined && namespaces.length === 1) return await store.sessions({ ...request, namespace: only });
  throw new RepriseError('store.denied', 'Cannot list every namespace: the token has only some of them', {
    hint: `List one of its namespaces: ${namespaces.join(', ')}.`,
  });
}

/** Reports on the namespaces of the caller. Facts about the machine are for those who run all of it. */
async function reportHealth({ store }: GuardParts, grant: Grant, request?: HealthRequest): Promise<StoreHealth> {
  checkRight(grant, 'read', attempts.health);
  const { namespaces: own } = grant;
  if (own === undefined && hasRight(grant, 'admin')) return await store.health(request);
  const health = await store.health();
  const namespaces = health.namespaces.filter(({ name }) => own === undefined || own.includes(name));
  return {
    ...health,
    namespaces,
    bytes: namespaces.reduce((bytes, each) => bytes + each.bytes, 0),
    facts: health.facts.slice(0, 0),
    tables: [],
    advice: [],
  };
}

async function appendAll(
  parts: GuardParts,
  requests: readonly AppendRequest[],
  check: (request: AppendRequest) => void,
): Promise<readonly AppendOutcome[]> {
  const judged = await Promise.all(
    requests.map(async (request): Promise<AppendRequest | AppendOutcome> => {
      try {
        check(request);
        return await honestAppend(parts, request);
      } catch (error) {
        return refusal(error);
      }
    }),
  );
  const outcomes = await parts.store.append(judged.flatMap((each) => ('ok' in each ? [] : [each])));
  const stored = outcomes[Symbol.iterator]();
  return judged.map((each) => ('ok' in each ? each : (stored.next().value ?? refusal(new Error('No outcome')))));
}

/** Checks an append, and gives its events the keys that their data has. */
async function honestAppend(parts: GuardParts, request: AppendRequest, mayErase = false): Promise<AppendRequest> {
  const { target, events } = request;
  if (target.kind === 'fork') checkId('branch', target.branch);
  if (!mayErase && events.some(({ type }) => type === 'payload.erased'))
    throw new RepriseError('event.reserved', 'Cannot append "payload.erased": only an erasure writes it', {
      hint: 'Use erase.',
    });
  for (const part of request.parts) checkHole(part);
  const known = await partsFor(
    parts.store,
    request,
    events.map(({ data }) => data),
    request.parts,
  );
  checkDeltas(known, parts.platform.sha256);
  return { ...request, events: events.map((event) => ({ ...event, keys: honestKeys(event, known) })) };
}

/** Refuses a part that says that an erasure left a hole in it: only an erasure does. */
function checkHole({ damaged, digest }: PartInput): void {
  if (damaged === true)
    throw new RepriseError('part.damaged', `Cannot append: the part ${digest.slice(0, 12)}… has a hole`, {
      hint: 'Send the whole part.',
      details: { digest },
    });
}

async function createSession(store: EventStore, ref: SessionRef, options: NewSession): Promise<SessionRecord> {
  checkId('namespace', ref.namespace);
  checkId('session', ref.session);
  checkId('branch', options.root);
  return await store.createSession(ref, options);
}

async function erase(parts: GuardParts, request: EraseRequest): Promise<EraseOutcome> {
  const appends = await Promise.all(
    request.appends.map((append) => {
      if (append.namespace !== request.namespace || append.session !== request.session)
        throw new RepriseError('option.invalid', 'Cannot erase: one of its appends is for a different session');
      return honestAppend(parts, append, true);
    }),
  );
  const known = await knownAppends(parts.store, request, appends);
  return known === undefined ? await parts.store.erase({ ...request, appends }) : { appends: known, remains: [] };
}

async function deleteBranch(parts: GuardParts, request: DeleteBranchRequest): Promise<AppendOutcome> {
  const { append } = request;
  if ((await parts.store.session(request)) === undefined) throw sessionNotFound(request);
  if (append.namespace !== request.namespace || append.session !== request.session)
    throw new RepriseError('option.invalid', 'Cannot delete the branch: its append is for a different session');
  const honest = await honestAppend(parts, append);
  const [known] = (await knownAppends(parts.store, request, [honest])) ?? [];
  return known ?? (await parts.store.deleteBranch({ ...request, append: honest }));
}

/**
 * Returns the outcomes of appends that are already stored, undefined if one is not. A change that ends with them was
 * made before, perhaps by a different server: the answer to it was lost.
 */
async function knownAppends(
  store: EventStore,
  ref: SessionRef,
  appends: readonly AppendRequest[],
): Promise<readonly AppendOutcome[] | undefined> {
  const ids = appends.flatMap(({ events }) => events.map(({ id }) => id));
  if (ids.length === 0 || (await store.locate(ref, ids)).size < ids.length) return undefined;
  return await store.append(appends);
}

/** The end of the name under which a copy is made until it is proved. */
const copying = /~copying-[0-9a-f]{12}$/;

async function restore(parts: GuardParts, grant: Grant, request: RestoreRequest): Promise<RestoreOutcome> {
  const { store, platform } = parts;
  const isErased =
    request.events.some(({ erased, type }) => erased || type === 'payload.erased') ||
    request.parts.some(({ damaged }) => damaged === true);
  const right = isErased && !copying.test(request.session) ? 'admin' : 'append';
  checkRight(grant, right, attempts.restore);
  checkNamespace(grant, request.namespace);
  checkId('branch', request.branch);
  const whole = request.parts.filter(({ damaged }) => damaged !== true);
  const skeletons = request.events.flatMap(({ data }) => data ?? []);
  const known = await partsFor(store, request, skeletons, whole);
  checkDeltas(known, platform.sha256);
  const events = request.events.map((event): RestoredEvent => ({ ...event, keys: restoredKeys(event, known) }));
  const outcome = await store.restore({ ...request, events });
  // The marker of an erasure keeps the keys of what it erased.
  if (isErased) await store.reindex(request);
  return outcome;
}

function restoredKeys(event: RestoredEvent, known: Parameters<typeof honestKeys>[1]): readonly string[] {
  const { id, time, type, version, agent, run, turn, cause, data } = event;
  if (data === null) return [];
  const sent = { id, time, type, version, turn, data };
  return honestKeys(
    {
      ...sent,
      ...(agent === null ? {} : { agent }),
      ...(run === null ? {} : { run }),
      ...(cause === null ? {} : { cause }),
    },
    known,
  );
}

async function renameSession(
  { store }: GuardParts,
  grant: Grant,
  ref: SessionRef,
  request: RenameRequest,
): Promise<void> {
  const isCopy = copying.test(ref.session) && request.replaces === undefined;
  checkRight(grant, isCopy ? 'append' : 'admin', attempts.renameSession);
  checkNamespace(grant, ref.namespace);
  checkId('session', request.to);
  await store.renameSession(ref, request);
}
