import { RepriseError } from '../../core/error.ts';
import type { KeySelector } from '../../core/event/keys.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { checkLimit, limits } from '../../core/limits.ts';
import type { Digest, Point, Seq } from '../../core/point.ts';
import type {
  Abort,
  AppendOutcome,
  AppendRequest,
  BranchHead,
  BranchRecord,
  BranchRef,
  BranchSummary,
  DeleteBranchRequest,
  EraseOutcome,
  EraseRequest,
  EventStore,
  FoundSnapshot,
  HeldPartsRequest,
  HeldSnapshotsRequest,
  LatestPage,
  LatestRequest,
  Page,
  PageRequest,
  PartsPage,
  PartsRequest,
  Platform,
  Receipt,
  ReindexOutcome,
  ReindexRequest,
  SessionRecord,
  SessionRef,
  SessionsPage,
  SessionsRequest,
  Snapshot,
  SnapshotKey,
  SnapshotsRequest,
} from '../../core/store/event-store.ts';
import type { ReceiptsRequest } from '../../core/store/receipt.ts';
import type { ChainedRestore, ChainRestorer, RestoreOutcome } from '../../core/store/restore-request.ts';
import type { NewSession, RenameRequest } from '../../core/store/session-request.ts';
import type { SessionSize } from '../../core/store/session-size.ts';
import type { StoreHealth } from '../../core/store/store-health.ts';
import { storeClosed } from '../../core/store/store-state.ts';
import type { TokenKeeper, TokenStore } from '../../core/store/token-store.ts';
import type { AskedView, Segment } from '../../core/view/view.ts';
import { append } from './operations/append.ts';
import { findBranch, findHead, listBranches } from './operations/branch.ts';
import { deleteBranch } from './operations/delete-branch.ts';
import { deleteSession } from './operations/delete-session.ts';
import { erase } from './operations/erase.ts';
import { health } from './operations/health.ts';
import { latestAt, latestPage } from './operations/latest.ts';
import { locate } from './operations/locate.ts';
import { partsPage } from './operations/parts.ts';
import { readPage } from './operations/read.ts';
import { findReceipts, heldReceipts, putReceipt } from './operations/receipts.ts';
import { reindex } from './operations/reindex.ts';
import { renameSession } from './operations/rename-session.ts';
import { restore } from './operations/restore.ts';
import { sessionSize } from './operations/session-size.ts';
import { createSession, listSessions, recordOf } from './operations/sessions.ts';
import { findSnapshot, findSnapshots, heldSnapshots, putSnapshot } from './operations/snapshots.ts';
import { memoryTokens } from './operations/tokens.ts';
import { Watchers } from './operations/watch.ts';
import { findHeld, heldBranch, heldSession, type Shelf } from './shelf.ts';

/**
 * Opens a store that lives in this process and ends with it: for tests and throwaway sessions.
 *
 * @example
 * ```ts
 * const platform = createNodePlatform();
 * await using inMemory = await openReprise({ store: openMemoryStore({ platform }), platform });
 * ```
 */
export function openMemoryStore(options: { readonly platform: Platform }): EventStore & TokenKeeper & ChainRestorer {
  checkKeys(options, openKeys);
  return new MemoryStore(options.platform);
}

const openKeys: KnownKeys = optionKeys<{ platform: Platform }>('open the store', { platform: true }, 'openMemoryStore');

/** Events that reads may return before timers and sockets get their turn. */
const turnEventsMax = 2_000;

// The methods are async so that an error becomes a rejection, as with every other store.
class MemoryStore implements EventStore, TokenKeeper, ChainRestorer {
  readonly tokens: TokenStore = memoryTokens(() => this.#open());
  readonly #platform: Platform;
  readonly #shelf: Shelf = { namespaces: new Map(), touches: 0 };
  readonly #watchers = new Watchers();
  #isClosed = false;
  #readSinceTurn = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    const shelf = this.#open();
    const outcomes = requests.map((request): AppendOutcome => {
      try {
        return append(shelf, this.#platform, request);
      } catch (error) {
        if (error instanceof RepriseError) return { ok: false, error };
        throw error;
      }
    });
    this.#watchers.wake();
    return outcomes;
  }

  async restore(request: ChainedRestore): Promise<RestoreOutcome> {
    const outcome = restore(this.#open(), this.#platform, request);
    this.#watchers.wake();
    return outcome;
  }

  async branch(ref: BranchRef): Promise<BranchRecord | undefined> {
    return findBranch(this.#open(), ref);
  }

  async branchHead(ref: BranchRef): Promise<BranchHead | undefined> {
    return findHead(this.#open(), ref);
  }

  async branches(ref: SessionRef): Promise<readonly BranchSummary[]> {
    return listBranches(this.#open(), ref);
  }

  async read(ref: SessionRef, view: readonly Segment[], page: PageRequest): Promise<Page> {
    if (this.#readSinceTurn >= turnEventsMax) await this.#letTurn();
    const read = readPage(heldSession(this.#open(), ref), view, page);
    this.#readSinceTurn += read.events.length;
    return read;
  }

  /** Lets timers, sockets and signals run: this store answers at once, so a long history would be one turn. */
  async #letTurn(): Promise<void> {
    this.#readSinceTurn = 0;
    await new Promise<void>((resolve) => {
      this.#platform.startTimer(0, resolve);
    });
  }

  async locate(ref: SessionRef, ids: readonly string[]): Promise<ReadonlyMap<string, Point>> {
    return locate(this.#open(), ref, ids);
  }

  async latest(ref: SessionRef, view: AskedView, select: KeySelector, page: LatestRequest): Promise<LatestPage> {
    const shelf = this.#open();
    return 'branch' in view
      ? latestAt(findHeld(shelf, ref), view, select, page)
      : latestPage(heldSession(shelf, ref), view, select, page);
  }

  async parts(ref: SessionRef, digests: readonly Digest[], request: PartsRequest = {}): Promise<PartsPage> {
    const session = findHeld(this.#open(), ref);
    checkLimit('partsAskedMax', digests.length, 'read parts');
    return session === undefined ? { parts: new Map(), rest: [] } : partsPage(session, digests, request);
  }

  watch(ref: BranchRef, after: Seq, signal: Abort): AsyncIterable<Seq> {
    const shelf = this.#open();
    return this.#watchers.watch(
      () => findHeld(shelf, ref)?.branches.get(ref.branch)?.state.history.head,
      after,
      signal,
    );
  }

  async createSession(ref: SessionRef, options: NewSession): Promise<SessionRecord> {
    const record = createSession(this.#open(), this.#platform, ref, options);
    this.#watchers.wake();
    return record;
  }

  async session(ref: SessionRef): Promise<SessionRecord | undefined> {
    const session = findHeld(this.#open(), ref);
    return session === undefined ? undefined : recordOf(session);
  }

  async sessions(request: SessionsRequest): Promise<SessionsPage> {
    return listSessions(this.#open(), request);
  }

  async deleteSession(ref: SessionRef): Promise<boolean> {
    return deleteSession(this.#open(), ref);
  }

  async deleteBranch(request: DeleteBranchRequest): Promise<AppendOutcome> {
    const outcome = deleteBranch(this.#open(), this.#platform, request);
    this.#watchers.wake();
    return outcome;
  }

  async renameSession(ref: SessionRef, request: RenameRequest): Promise<void> {
    renameSession(this.#open(), ref, request);
    this.#watchers.wake();
  }

  async putSnapshot(ref: SessionRef, snapshot: Snapshot): Promise<void> {
    const session = heldSession(this.#open(), ref);
    heldBranch(session, snapshot.branch);
    putSnapshot(session, snapshot);
  }

  async snapshots(ref: SessionRef, request: SnapshotsRequest): Promise<readonly FoundSnapshot[]> {
    const session = findHeld(this.#open(), ref);
    return session === undefined ? [] : findSnapshots(session, request);
  }

  async heldSnapshots(ref: BranchRef, request: HeldSnapshotsRequest): Promise<readonly Omit<Snapshot, 'value'>[]> {
    const session = findHeld(this.#open(), ref);
    return session === undefined ? [] : heldSnapshots(session, ref.branch, request);
  }

  async snapshot(ref: BranchRef, key: SnapshotKey, seq: Seq): Promise<Snapshot | undefined> {
    const session = findHeld(this.#open(), ref);
    return session === undefined ? undefined : findSnapshot(session, ref.branch, key, seq);
  }

  async dropSnapshots(ref: SessionRef): Promise<void> {
    heldSession(this.#open(), ref).snapshots.clear();
  }

  async putReceipt(ref: SessionRef, receipt: Receipt): Promise<void> {
    putReceipt(heldSession(this.#open(), ref), receipt);
  }

  async receipts(ref: SessionRef, digest: Digest): Promise<readonly Receipt[]> {
    const session = findHeld(this.#open(), ref);
    return session === undefined ? [] : findReceipts(session, digest);
  }

  async heldReceipts(ref: SessionRef, request: ReceiptsRequest): Promise<readonly Receipt[]> {
    const session = findHeld(this.#open(), ref);
    return session === undefined ? [] : heldReceipts(session, request);
  }

  async erase(request: EraseRequest): Promise<EraseOutcome> {
    const appends = erase(this.#open(), this.#platform, request);
    this.#watchers.wake();
    return { appends, remains: [] };
  }

  async heldParts(ref: SessionRef, { limit, after }: HeldPartsRequest): Promise<readonly Digest[]> {
    const digests = [...(findHeld(this.#open(), ref)?.parts.keys() ?? [])].filter(
      (digest) => after === undefined || digest > after,
    );
    return digests.sort().slice(0, Math.min(limit, limits.partsAskedMax));
  }

  async reindex(ref: SessionRef, request: ReindexRequest = {}): Promise<ReindexOutcome> {
    return reindex(heldSession(this.#open(), ref), request);
  }

  async sessionSize(ref: SessionRef): Promise<SessionSize | undefined> {
    return sessionSize(this.#open(), ref);
  }

  async health(): Promise<StoreHealth> {
    return health(this.#open());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watchers.close();
  }

  #open(): Shelf {
    if (this.#isClosed) throw storeClosed();
    return this.#shelf;
  }
}
