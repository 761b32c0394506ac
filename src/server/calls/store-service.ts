import type { HandlerContext, ServiceImpl } from '@connectrpc/connect';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { refsIn } from '../../core/parts/decode.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { SessionRef, StoredEvent } from '../../core/store/event-store.ts';
import {
  appendFromWire,
  deletionFromWire,
  eraseFromWire,
  outcomeToWire,
  restoreFromWire,
} from '../../wire/append-codec.ts';
import { branchToWire, headToWire, summaryToWire } from '../../wire/branch-codec.ts';
import type { ReadRequest, StoreService } from '../../wire/generated/reprise/v1/store_pb.ts';
import {
  healthToWire,
  receiptFromWire,
  receiptToWire,
  reindexToWire,
  sizeToWire,
  snapshotFromWire,
  snapshotKeyFromWire,
  snapshotToWire,
} from '../../wire/kept-codec.ts';
import { cursorToWire, pageFromWire, selectFromWire, viewFromWire } from '../../wire/page-codec.ts';
import { beatMs } from '../../wire/protocol.ts';
import { eventToWire, partToWire, pointToWire } from '../../wire/row-codec.ts';
import { branchRefFromWire, sessionRefFromWire, sessionToWire } from '../../wire/session-codec.ts';
import {
  digestFrom,
  digestsFrom,
  fromWhole,
  fromWholeOr,
  seqFrom,
  toWhole,
  toWholeOr,
} from '../../wire/whole-number.ts';
import type { Grant } from '../guarding/grant.ts';
import type { GuardedStore } from '../guarding/guarded-store.ts';
import { withBeats } from '../http/beats.ts';
import type { DoneChanges } from './done-changes.ts';

/** One caller of the store service. */
interface StoreCaller {
  readonly grant: Grant;
  readonly store: GuardedStore;
}

/** The parts of a server that the store calls need. */
export interface StoreServiceParts {
  /** Finds who calls. */
  readonly callerOf: (context: HandlerContext) => StoreCaller;
  /** Recognizes repeated changes. */
  readonly done: DoneChanges;
  /** Aborts when the server drains: followers end then, and continue at a different server. */
  readonly draining: AbortSignal;
  /** Gets the outcome of each append: `ok`, `known`, or a code. */
  readonly onAppend: (outcome: string) => void;
}

/** Returns the store calls. */
export function storeService(parts: StoreServiceParts): ServiceImpl<typeof StoreService> {
  const { callerOf, draining } = parts;
  const storeOf = (context: HandlerContext): GuardedStore => callerOf(context).store;
  return {
    ...changes(parts),
    ...kept(storeOf),
    async getBranch({ branch }, context) {
      const found = await storeOf(context).branch(branchRefFromWire(branch));
      return given({ branch: found === undefined ? undefined : branchToWire(found) });
    },
    async getBranchHead({ branch }, context) {
      const found = await storeOf(context).branchHead(branchRefFromWire(branch));
      return given({ head: found === undefined ? undefined : headToWire(found) });
    },
    async listBranches({ session }, context) {
      return { branches: (await storeOf(context).branches(sessionRefFromWire(session))).map(summaryToWire) };
    },
    read: (request, context) => readPages(storeOf(context), request, context.signal),
    async locate({ session, ids }, context) {
      const found = await storeOf(context).locate(sessionRefFromWire(session), ids);
      return { events: Array.from(found, ([id, point]) => ({ id, point: pointToWire(point) })) };
    },
    async latest(request, context) {
      const { session, keys, prefix, limit, after, select } = request;
      const { entries, next, head } = await storeOf(context).latest(
        sessionRefFromWire(session),
        viewFromWire(request),
        prefix === undefined ? { keys } : { prefix },
        {
          limit: fromWhole(limit),
          select: selectFromWire(select) === 'header' ? 'header' : 'full',
          ...given({ after }),
        },
      );
      return {
        entries: entries.map(({ key, event }) => ({ key, event: eventToWire(event, event.branch) })),
        ...given({ next, head: toWholeOr(head) }),
      };
    },
    async getParts({ session, digests, askedOnly }, context) {
      const depth = askedOnly ? 'asked' : 'all';
      const { parts, rest } = await storeOf(context).parts(sessionRefFromWire(session), digestsFrom(digests), {
        depth,
      });
      return { parts: [...parts.values()].map(partToWire), rest: [...rest] };
    },
    async *watch({ branch, after }, context) {
      const signal = AbortSignal.any([context.signal, draining]);
      const heads = storeOf(context).watch(branchRefFromWire(branch), seqFrom(after), signal);
      for await (const head of withBeats(heads, { everyMs: beatMs, signal })) yield given({ head: toWholeOr(head) });
    },
    ...listings(storeOf),
  };
}

type ListingCall = 'getSession' | 'getSessionSize' | 'listSessions' | 'listHeldParts' | 'getHealth';

function listings(
  storeOf: (context: HandlerContext) => GuardedStore,
): Pick<ServiceImpl<typeof StoreService>, ListingCall> {
  return {
    async getSession({ session }, context) {
      const found = await storeOf(context).session(sessionRefFromWire(session));
      return given({ session: found === undefined ? undefined : sessionToWire(found) });
    },
    async getSessionSize({ session }, context) {
      const found = await storeOf(context).sessionSize(sessionRefFromWire(session));
      return given({ size: found === undefined ? undefined : sizeToWire(found) });
    },
    async listSessions({ namespace, limit, cursor }, context) {
      const { sessions, next } = await storeOf(context).sessions({
        limit: fromWhole(limit),
        ...given({ namespace, cursor }),
      });
      return { sessions: sessions.map(sessionToWire), ...given({ next }) };
    },
    async listHeldParts({ session, limit, after }, context) {
      const request = {
        limit: fromWhole(limit),
        ...given({ after: after === undefined ? undefined : digestFrom(after) }),
      };
      return { digests: [...(await storeOf(context).heldParts(sessionRefFromWire(session), request))] };
    },
    async getHealth({ deep }, context) {
      return healthToWire(await storeOf(context).health({ deep }));
    },
  };
}

/** Sends consecutive pages. Nothing is open between two of them, so a slow client takes up nothing but its connection. */
async function* readPages(store: GuardedStore, request: ReadRequest, signal: AbortSignal) {
  const ref = sessionRefFromWire(request.session);
  const { view, page } = pageFromWire(request);
  let { cursor } = page;
  for (let sent = 0; sent < Math.max(1, request.pages) && !signal.aborted; sent++) {
    const { events, next } = await store.read(ref, view, { ...page, ...given({ cursor }) });
    const parts = page.withParts === true ? await partsOf(store, ref, events) : undefined;
    yield {
      events: events.map((event) => eventToWire(event, event.branch)),
      parts: parts?.map(partToWire) ?? [],
      partsComplete: parts !== undefined,
      ...given({ next: next === undefined ? undefined : cursorToWire(next) }),
    };
    if (next === undefined) return;
    cursor = next;
  }
}

/** Returns the parts that events refer to, however deep; undefined if they are too many for one answer. */
async function partsOf(
  store: GuardedStore,
  ref: SessionRef,
  events: readonly StoredEvent[],
): Promise<PartInput[] | undefined> {
  const wanted = [...new Set(events.flatMap(({ data }) => refsIn(data ?? '')))];
  if (wanted.length === 0) return [];
  if (wanted.length > limits.partsAskedMax) return undefined;
  const { parts, rest } = await store.parts(ref, wanted);
  return rest.length === 0 ? [...parts.values()] : undefined;
}

type ChangeCall =
  | 'append'
  | 'restore'
  | 'createSession'
  | 'renameSession'
  | 'deleteSession'
  | 'deleteBranch'
  | 'erase'
  | 'reindex';

function changes({ callerOf, done, onAppend }: StoreServiceParts): Pick<ServiceImpl<typeof StoreService>, ChangeCall> {
  return {
    async append({ appends }, context) {
      const outcomes = await callerOf(context).store.append(appends.map(appendFromWire));
      for (const outcome of outcomes) onAppend(outcome.ok ? (outcome.known ? 'known' : 'ok') : outcome.error.code);
      return { outcomes: outcomes.map(outcomeToWire) };
    },
    async restore(request, context) {
      const { head, digest } = await callerOf(context).store.restore(restoreFromWire(request));
      return { head: toWhole(head), digest };
    },
    async createSession({ session, root, seed, createdAt, erasures }, context) {
      const options = { root, seed, ...given({ createdAt, erasures: fromWholeOr(erasures) }) };
      const made = await callerOf(context).store.createSession(sessionRefFromWire(session), options);
      return { session: sessionToWire(made) };
    },
    async renameSession(asked, context) {
      const { session, to, replaces, requestId, seed } = asked;
      const { grant, store } = callerOf(context);
      const ref = sessionRefFromWire(session);
      const branches = replaces?.branches.map(({ branch, digest }) => ({ branch, digest: digestFrom(digest) }));
      const request = { to, ...given({ replaces: branches }) };
      await done.once(grant, { call: 'RenameSession', requestId, request: asked }, async () => {
        if (!(await isRenamed(store, ref, to, seed))) await store.renameSession(ref, request);
      });
      return {};
    },
    async deleteSession(asked, context) {
      const { session, requestId, seed } = asked;
      const { grant, store } = callerOf(context);
      const ref = sessionRefFromWire(session);
      const deleted = await done.once(grant, { call: 'DeleteSession', requestId, request: asked }, async () => {
        const isMeant = seed === undefined || (await store.session(ref))?.seed === seed;
        return isMeant && (await store.deleteSession(ref));
      });
      return { deleted };
    },
    async deleteBranch(request, context) {
      const { grant, store } = callerOf(context);
      const deletion = deletionFromWire(request);
      const { requestId } = request;
      const change = { call: 'DeleteBranch', requestId, request };
      const outcome = await done.once(grant, change, () => store.deleteBranch(deletion));
      return { outcome: outcomeToWire(outcome) };
    },
    async erase(request, context) {
      const { grant, store } = callerOf(context);
      const erasure = eraseFromWire(request);
      const change = { call: 'Erase', requestId: request.requestId, request };
      const { appends, remains } = await done.once(grant, change, () => store.erase(erasure));
      return { outcomes: appends.map(outcomeToWire), remains: [...remains] };
    },
    async reindex({ session, dryRun }, context) {
      return reindexToWire(await callerOf(context).store.reindex(sessionRefFromWire(session), { dryRun }));
    },
  };
}

/** Returns true if a session already has its new id: the answer to an earlier call was lost. */
async function isRenamed(store: GuardedStore, ref: SessionRef, to: string, seed: string | undefined): Promise<boolean> {
  if (seed === undefined || (await store.session(ref)) !== undefined) return false;
  return (await store.session({ ...ref, session: to }))?.seed === seed;
}

type KeptCall =
  | 'putSnapshot'
  | 'listSnapshots'
  | 'getSnapshot'
  | 'listHeldSnapshots'
  | 'dropSnapshots'
  | 'putReceipt'
  | 'listReceipts'
  | 'listHeldReceipts';

function kept(storeOf: (context: HandlerContext) => GuardedStore): Pick<ServiceImpl<typeof StoreService>, KeptCall> {
  return {
    async putSnapshot({ session, snapshot }, context) {
      const store = storeOf(context);
      if (snapshot !== undefined) await store.putSnapshot(sessionRefFromWire(session), snapshotFromWire(snapshot));
      return {};
    },
    async listSnapshots({ session, keys, within }, context) {
      const found = await storeOf(context).snapshots(sessionRefFromWire(session), {
        keys: keys.map(snapshotKeyFromWire),
        within: within.map(({ branch, through }) => ({ branch, through: seqFrom(through) })),
      });
      return { snapshots: found.map(snapshotToWire) };
    },
    async getSnapshot({ branch, key, seq }, context) {
      const found = await storeOf(context).snapshot(branchRefFromWire(branch), snapshotKeyFromWire(key), seqFrom(seq));
      return given({ snapshot: found === undefined ? undefined : snapshotToWire(found) });
    },
    async listHeldSnapshots({ branch, limit, after }, context) {
      const place = after === undefined ? undefined : { ...snapshotKeyFromWire(after.key), seq: seqFrom(after.seq) };
      const request = { limit: fromWhole(limit), ...given({ after: place }) };
      const found = await storeOf(context).heldSnapshots(branchRefFromWire(branch), request);
      return { snapshots: found.map(snapshotToWire) };
    },
    async dropSnapshots({ session }, context) {
      await storeOf(context).dropSnapshots(sessionRefFromWire(session));
      return {};
    },
    async putReceipt({ session, receipt }, context) {
      const store = storeOf(context);
      if (receipt !== undefined) await store.putReceipt(sessionRefFromWire(session), receiptFromWire(receipt));
      return {};
    },
    async listReceipts({ session, digest }, context) {
      const found = await storeOf(context).receipts(sessionRefFromWire(session), digestFrom(digest));
      return { receipts: found.map(receiptToWire) };
    },
    async listHeldReceipts({ session, limit, after }, context) {
      const request = {
        limit: fromWhole(limit),
        ...given({
          after: after === undefined ? undefined : { digest: digestFrom(after.digest), kind: after.kind },
        }),
      };
      const found = await storeOf(context).heldReceipts(sessionRefFromWire(session), request);
      return { receipts: found.map(receiptToWire) };
    },
  };
}
