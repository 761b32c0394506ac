import type { RepriseError } from '../../core/error.ts';
import type { KeySelector } from '../../core/event/keys.ts';
import { checkKeys } from '../../core/known-keys.ts';
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
import type { RestoreOutcome, RestoreRequest } from '../../core/store/restore-request.ts';
import type { NewSession, RenameRequest } from '../../core/store/session-request.ts';
import type { SessionSize } from '../../core/store/session-size.ts';
import type { HealthRequest, StoreHealth } from '../../core/store/store-health.ts';
import { branchNotFound, storeClosed, storeReadOnly } from '../../core/store/store-state.ts';
import type { TokenKeeper, TokenStore } from '../../core/store/token-store.ts';
import type { AskedView, Segment } from '../../core/view/view.ts';
import { heldSnapshotOf, snapshotOf } from '../sql/snapshot-row.ts';
import { Catalogue, type SessionRow } from './catalogue.ts';
import type { Database } from './database.ts';
import { examineAside } from './examination.ts';
import { LogEmptying } from './log-emptying.ts';
import type { Migration } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import { append, sessionOf } from './operations/append.ts';
import { findBranch, findHead, listBranches } from './operations/branch.ts';
import { deleteBranch } from './operations/delete-branch.ts';
import { clearSession, hiddenSessions, hideSession } from './operations/delete-session.ts';
import { erase } from './operations/erase.ts';
import { healthOf } from './operations/health.ts';
import { latestAt, latestPage } from './operations/latest.ts';
import { findPlaces } from './operations/locate.ts';
import { heldParts, partsPage } from './operations/parts.ts';
import { readPage } from './operations/read.ts';
import { findReceipts, heldReceipts, putReceipt } from './operations/receipts.ts';
import { reindex } from './operations/reindex.ts';
import { renameSession } from './operations/rename-session.ts';
import { restore } from './operations/restore.ts';
import { sessionSize } from './operations/session-size.ts';
import { createSession, findSession, listSessions } from './operations/sessions.ts';
import { dropSnapshots, findSnapshot, findSnapshots, heldSnapshots, putSnapshot } from './operations/snapshots.ts';
import { fileTokens } from './operations/tokens.ts';
import { changeDetector, Watchers } from './operations/watch.ts';
import { checkWait } from './option-checks.ts';
import { migrations as ownMigrations } from './schema.ts';
import { isBusy } from './sqlite-error.ts';
import { type OpenOptions, openKeys, type SqliteStoreOptions } from './store-options.ts';
import { pause, turnMsMax, turnOfLoop, Writer } from './writer.ts';

/**
 * Opens the store in one SQLite file. Several processes may have it open; each waits for the others without blocking its
 * own event loop.
 *
 * @example
 * ```ts
 * const platform = createNodePlatform();
 * const store = await openSqliteStore({ path: 'agents.db', platform, busyWaitMs: 2_000 });
 * await using onDisk = await openReprise({ store, platform });
 * ```
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<EventStore & TokenKeeper> {
  checkKeys(options, openKeys);
  return await openMigratedStore(options, ownMigrations);
}

/** Opens the store with these migrations; only tests give their own. */
export async function openMigratedStore(
  options: SqliteStoreOptions,
  migrations: readonly Migration[],
): Promise<EventStore & TokenKeeper> {
  const busyWaitMs = checkWait(options.busyWaitMs ?? limits.busyWaitMsMax);
  const { database, isReadOnly, file } = await openDatabase({ ...options, migrations, busyWaitMs });
  const store = new SqliteStore(database, { ...options, migrations, busyWaitMs, isReadOnly, file });
  store.clearAway();
  return store;
}

class SqliteStore implements EventStore, TokenKeeper {
  readonly tokens: TokenStore;
  readonly #database: Database;
  readonly #options: OpenOptions;
  readonly #catalogue: Catalogue;
  readonly #writer: Writer;
  readonly #watchers: Watchers;
  #closing: Promise<void> | undefined;
  #clearing: Promise<void> = Promise.resolve();
  readonly #log: LogEmptying;
  /** When the event loop last had its turn, as far as known. */
  #turnedAt = 0;

  constructor(database: Database, options: OpenOptions) {
    this.#database = database;
    this.#options = options;
    this.#catalogue = new Catalogue(database, options.migrations);
    this.tokens = fileTokens(database, this.#read.bind(this), this.#write.bind(this));
    this.#log = new LogEmptying(database, options.busyWaitMs);
    this.#watchers = new Watchers(changeDetector(database));
    this.#writer = new Writer(database, this.#catalogue, {
      append: (request) => append(database, this.#catalogue, options.platform, request),
      busyWaitMs: options.busyWaitMs,
      onCommit: () => {
        options.file.checkWritten();
        this.#watchers.wake();
      },
    });
  }

  /** Finishes, in the background, deletions that an earlier process started; `close` interrupts it until the next open. */
  clearAway(): void {
    if (this.#options.isReadOnly) return;
    this.#clearing = this.#clearHidden().catch(() => undefined);
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    this.#checkOpen();
    if (this.#options.isReadOnly) return requests.map(() => ({ ok: false, error: this.#readOnlyError() }));
    const [only] = requests;
    if (requests.length === 1 && only !== undefined) return [await this.#writer.append(only)];
    return await Promise.all(requests.map((request) => this.#writer.append(request)));
  }

  async restore(request: RestoreRequest): Promise<RestoreOutcome> {
    return await this.#write(() => restore(this.#database, this.#catalogue, this.#options.platform, request));
  }

  async branch(ref: BranchRef): Promise<BranchRecord | undefined> {
    return await this.#read(() => findBranch(this.#database, this.#catalogue, ref));
  }

  async branchHead(ref: BranchRef): Promise<BranchHead | undefined> {
    return await this.#read(() => findHead(this.#database, this.#catalogue, ref));
  }

  async branches(ref: SessionRef): Promise<readonly BranchSummary[]> {
    return await this.#read(() => listBranches(this.#database, this.#catalogue, ref));
  }

  async read(ref: SessionRef, view: readonly Segment[], page: PageRequest): Promise<Page> {
    return await this.#read(() =>
      readPage(this.#database, this.#branchIds(sessionOf(this.#catalogue, ref)), view, page),
    );
  }

  async locate(ref: SessionRef, ids: readonly string[]): Promise<ReadonlyMap<string, Point>> {
    return await this.#read(() => {
      const session = this.#catalogue.session(ref);
      if (session === undefined) return new Map<string, Point>();
      return new Map(
        [...findPlaces(this.#database, session, ids)].map(([id, { branch, seq }]) => [id, { branch, seq }]),
      );
    });
  }

  async latest(ref: SessionRef, view: AskedView, select: KeySelector, page: LatestRequest): Promise<LatestPage> {
    return await this.#read(() => {
      if ('keys' in select) checkLimit('selectedKeysMax', select.keys.length, 'look up keys');
      if ('branch' in view) return latestAt(this.#database, this.#catalogue, ref, view, select, page);
      return latestPage(this.#database, this.#branchIds(sessionOf(this.#catalogue, ref)), view, select, page);
    });
  }

  async parts(ref: SessionRef, digests: readonly Digest[], request: PartsRequest = {}): Promise<PartsPage> {
    return await this.#read(() => {
      checkLimit('partsAskedMax', digests.length, 'read parts');
      const session = this.#catalogue.session(ref);
      if (session === undefined) return { parts: new Map(), rest: [] };
      return partsPage(this.#database, session, digests, request);
    });
  }

  watch(ref: BranchRef, after: Seq, signal: Abort): AsyncIterable<Seq> {
    this.#checkOpen();
    return this.#watchers.watch(async () => (await this.branchHead(ref))?.head, after, signal);
  }

  async createSession(ref: SessionRef, options: NewSession): Promise<SessionRecord> {
    return await this.#write(() =>
      createSession(this.#database, this.#catalogue, this.#options.platform, ref, options),
    );
  }

  async session(ref: SessionRef): Promise<SessionRecord | undefined> {
    return await this.#read(() => findSession(this.#database, ref));
  }

  async sessions(request: SessionsRequest): Promise<SessionsPage> {
    return await this.#read(() => listSessions(this.#database, request));
  }

  async deleteSession(ref: SessionRef): Promise<boolean> {
    const id = await this.#write(() => hideSession(this.#database, this.#catalogue, ref));
    if (id === undefined) return false;
    await clearSession(this.#database, id, (work) => this.#write(work));
    await this.#log.empty();
    return true;
  }

  async deleteBranch(request: DeleteBranchRequest): Promise<AppendOutcome> {
    const { platform } = this.#options;
    const outcome = await this.#write(() => deleteBranch(this.#database, this.#catalogue, platform, request));
    await this.#log.empty();
    return outcome;
  }

  async renameSession(ref: SessionRef, request: RenameRequest): Promise<void> {
    const replaced = await this.#write(() => renameSession(this.#database, this.#catalogue, ref, request));
    if (replaced === undefined) return;
    await clearSession(this.#database, replaced, (work) => this.#write(work));
    // The new session may be the one that an erasure left.
    await this.#log.empty();
  }

  async putSnapshot(ref: SessionRef, snapshot: Snapshot): Promise<void> {
    this.#checkOpen();
    if (this.#options.isReadOnly) return;
    const keep = (): void => putSnapshot(this.#database, this.#branchOf({ ...ref, branch: snapshot.branch }), snapshot);
    await this.#writer.run(keep, limits.snapshotWaitMsMax);
  }

  async snapshots(ref: SessionRef, request: SnapshotsRequest): Promise<readonly FoundSnapshot[]> {
    return await this.#read(() =>
      findSnapshots(this.#database, (branch) => this.#findBranchId({ ...ref, branch }), request),
    );
  }

  async snapshot(ref: BranchRef, key: SnapshotKey, seq: Seq): Promise<Snapshot | undefined> {
    return await this.#read(() => {
      const branch = this.#findBranchId(ref);
      const found = branch === undefined ? undefined : findSnapshot(this.#database, branch, key, seq);
      return found === undefined ? undefined : snapshotOf(ref, key, found);
    });
  }

  async heldSnapshots(ref: BranchRef, request: HeldSnapshotsRequest): Promise<readonly Omit<Snapshot, 'value'>[]> {
    return await this.#read(() => {
      const branch = this.#findBranchId(ref);
      if (branch === undefined) return [];
      return heldSnapshots(this.#database, branch, request).map((row) => heldSnapshotOf(ref, row));
    });
  }

  async dropSnapshots(ref: SessionRef): Promise<void> {
    await this.#write(() => dropSnapshots(this.#database, sessionOf(this.#catalogue, ref).id));
  }

  async putReceipt(ref: SessionRef, receipt: Receipt): Promise<void> {
    await this.#write(() => putReceipt(this.#database, sessionOf(this.#catalogue, ref).id, receipt));
  }

  async receipts(ref: SessionRef, digest: Digest): Promise<readonly Receipt[]> {
    return await this.#read(() => {
      const session = this.#catalogue.session(ref);
      return session === undefined ? [] : findReceipts(this.#database, session.id, digest);
    });
  }

  async heldReceipts(ref: SessionRef, request: ReceiptsRequest): Promise<readonly Receipt[]> {
    return await this.#read(() => {
      const session = this.#catalogue.session(ref);
      return session === undefined ? [] : heldReceipts(this.#database, session.id, request);
    });
  }

  async erase(request: EraseRequest): Promise<EraseOutcome> {
    const appends = await this.#write(() => erase(this.#database, this.#catalogue, this.#options.platform, request));
    const isEmptied = await this.#log.empty();
    return { appends, remains: isEmptied ? [] : [`the log "${this.#options.path}-wal", which a reader holds`] };
  }

  async heldParts(ref: SessionRef, { limit, after }: HeldPartsRequest): Promise<readonly Digest[]> {
    return await this.#read(() => {
      const session = this.#catalogue.session(ref);
      const most = Math.min(limit, limits.partsAskedMax);
      return session === undefined ? [] : heldParts(this.#database, session, after, most);
    });
  }

  async reindex(ref: SessionRef, request: ReindexRequest = {}): Promise<ReindexOutcome> {
    const session = await this.#read(() => sessionOf(this.#catalogue, ref));
    return await reindex(this.#database, this.#catalogue, session, request, (work) =>
      request.dryRun === true ? this.#read(work) : this.#write(work),
    );
  }

  async sessionSize(ref: SessionRef): Promise<SessionSize | undefined> {
    return await this.#read(() => sessionSize(this.#database, this.#catalogue, ref));
  }

  async health({ deep = false }: HealthRequest = {}): Promise<StoreHealth> {
    this.#checkOpen();
    const { path, isReadOnly, file } = this.#options;
    const examined = await examineAside({ ...file.location, deep });
    return await this.#read(() => healthOf(this.#database, path, { isReadOnly, examined }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watchers.close();
    await this.#clearing;
    await this.#writer.drain();
    this.#log.stop();
    this.#database.close();
  }

  async #clearHidden(): Promise<void> {
    const hidden = hiddenSessions(this.#database);
    for (const id of hidden) await clearSession(this.#database, id, (work) => this.#write(work));
    if (hidden.length > 0) await this.#log.empty();
  }

  #branchIds(session: SessionRow): (name: string) => number | undefined {
    return (name) => this.#catalogue.branch(session, name)?.id;
  }

  #findBranchId(ref: BranchRef): number | undefined {
    const session = this.#catalogue.session(ref);
    return session === undefined ? undefined : this.#catalogue.branch(session, ref.branch)?.id;
  }

  #branchOf(ref: BranchRef): number {
    const branch = this.#catalogue.branch(sessionOf(this.#catalogue, ref), ref.branch);
    if (branch !== undefined) return branch.id;
    throw branchNotFound(ref);
  }

  /** Runs a read. Retries a busy file after a short wait, and leaves nothing open. */
  async #read<Result>(work: () => Result): Promise<Result> {
    this.#checkOpen();
    const now = performance.now();
    if (now - this.#turnedAt >= turnMsMax) await this.#letTurn();
    const deadline = now + this.#options.busyWaitMs;
    for (let attempt = 0; ; attempt++) {
      try {
        this.#options.file.checkReadable();
        return this.#database.reading(() => {
          this.#catalogue.refresh();
          return work();
        });
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw error;
        await pause(attempt);
      }
    }
  }

  /** Lets timers, sockets and signals run: SQLite answers at once, so a long read would be one turn of the loop. */
  async #letTurn(): Promise<void> {
    await turnOfLoop();
    this.#turnedAt = performance.now();
    this.#checkOpen();
  }

  async #write<Result>(work: () => Result): Promise<Result> {
    this.#checkOpen();
    if (this.#options.isReadOnly) throw this.#readOnlyError();
    return await this.#writer.run(work);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }

  #readOnlyError(): RepriseError {
    const hint = 'Check the rights of the file and its directory, or open it without readOnly.';
    return storeReadOnly(this.#options.path, hint);
  }
}
