import type { RepriseError } from '../../core/error.ts';
import type { KeySelector } from '../../core/event/keys.ts';
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
import { type ReceiptsRequest } from '../../core/store/receipt.ts';
import type { RestoreOutcome, RestoreRequest } from '../../core/store/restore-request.ts';
import { type NewSession, type RenameRequest, sessionNotFound } from '../../core/store/session-request.ts';
import type { SessionSize } from '../../core/store/session-size.ts';
import type { StoreHealth } from '../../core/store/store-health.ts';
import { storeClosed, storeReadOnly } from '../../core/store/store-state.ts';
import type { TokenKeeper, TokenStore } from '../../core/store/token-store.ts';
import type { AskedView, Segment } from '../../core/view/view.ts';
import { heldSnapshotOf, snapshotOf } from '../sql/snapshot-row.ts';
import { type Repeatable, Writer } from './appending/writer.ts';
import { Catalogue } from './catalogue.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import type { Migration } from './migrate.ts';
import { type OpenedDatabase, openDatabase } from './open-database.ts';
import { findBranch, findHead, listBranches } from './operations/branch.ts';
import { branchIds, branchOf, findBranchOf, sessionOf } from './operations/branch-place.ts';
import { deleteBranch } from './operations/delete-branch.ts';
import { clearSession, hiddenSessions, hideSession } from './operations/delete-session.ts';
import { erase } from './operations/erase.ts';
import { type HealthOptions, healthOf } from './operations/health.ts';
import { latestAt, latestPage } from './operations/latest.ts';
import { findPlaces } from './operations/locate.ts';
import { heldParts, partsPage } from './operations/parts.ts';
import { readPage } from './operations/read.ts';
import { findReceipts, heldReceipts, putReceipt } from './operations/receipts.ts';
import { reindex } from './operations/reindex.ts';
import { renameSession } from './operations/rename-session.ts';
import { againInDoubt, restore } from './operations/restore.ts';
import { sessionSize } from './operations/session-size.ts';
import { createSession, findSession, listSessions } from './operations/sessions.ts';
import { dropSnapshots, findSnapshot, findSnapshots, heldSnapshots, putSnapshot } from './operations/snapshots.ts';
import { databaseTokens } from './operations/tokens.ts';
import { vacuum } from './operations/vacuum.ts';
import { Watchers, watchKey } from './operations/watch.ts';
import type { WrittenBranch } from './operations/write-rows.ts';
import { isPassing, postgresCode } from './postgres-error.ts';
import { migrations as ownMigrations } from './schema.ts';
import { findSessionRow, type SessionKey } from './session-row.ts';
import { checkedBounds, checkOptions, type PostgresStoreOptions } from './store-options.ts';

/**
 * Opens the store in a PostgreSQL database, which many processes on many machines may share. Needs the package `postgres`
 * in addition to Reprise.
 *
 * @example
 * ```ts
 * const platform = createNodePlatform();
 * const openShared = async (): Promise<Reprise> => {
 *   const store = await openPostgresStore({ url: 'postgres://reprise@localhost/agents', platform, connections: 4 });
 *   return await openReprise({ store, platform });
 * };
 * ```
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<EventStore & TokenKeeper> {
  checkOptions(options);
  return await openMigratedStore(options, ownMigrations);
}

/** Opens the store with these migrations; only tests give their own. */
export async function openMigratedStore(
  options: PostgresStoreOptions,
  migrations: readonly Migration[],
): Promise<EventStore & TokenKeeper> {
  const opened = await openDatabase({ ...options, ...checkedBounds(options), migrations });
  const store = new PostgresStore(opened, options.platform, options.readOnly === true);
  store.clearAway();
  return store;
}

class PostgresStore implements EventStore, TokenKeeper {
  readonly tokens: TokenStore = databaseTokens(
    (work) => this.#read(work),
    (work) => this.#write(work),
  );
  readonly #database: Database;
  readonly #platform: Platform;
  readonly #isReadOnly: boolean;
  readonly #health: HealthOptions;
  readonly #catalogue = new Catalogue();
  readonly #writer: Writer;
  readonly #watchers: Watchers;
  #closing: Promise<void> | undefined;
  #clearing: Promise<void> = Promise.resolve();

  constructor({ database, connect, location, schema }: OpenedDatabase, platform: Platform, isReadOnly: boolean) {
    this.#database = database;
    this.#platform = platform;
    this.#isReadOnly = isReadOnly;
    this.#health = { location, schema, isReadOnly, connectionsMax: database.connectionsMax };
    database.whenLost(() => this.#catalogue.forget());
    const channel = `reprise_${schema}`;
    const tell = (message: string): Promise<void> => database.run('SELECT pg_notify($1, $2)', channel, message);
    this.#watchers = new Watchers({ connect, channel, tell });
    this.#writer = new Writer(database, this.#catalogue, {
      platform,
      onCommit: (moved) => this.#watchers.moved(moved),
    });
  }

  /** Deletes, in the background, the rows that an interrupted deletion has left behind. */
  clearAway(): void {
    if (this.#isReadOnly) return;
    this.#clearing = this.#clearHidden().catch(() => {
      // The rows are hidden; the next process that opens the store tries again.
    });
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    this.#checkOpen();
    if (this.#isReadOnly) return requests.map(() => ({ ok: false, error: this.#readOnlyError() }));
    const [only] = requests;
    if (requests.length === 1 && only !== undefined) return [await this.#writer.append(only)];
    return await Promise.all(requests.map((request) => this.#writer.append(request)));
  }

  async restore(request: RestoreRequest): Promise<RestoreOutcome> {
    const { outcome, group } = await againInDoubt(() =>
      this.#write((queries) => restore(queries, this.#catalogue, this.#platform, request)),
    );
    this.#tell(group.committed());
    return outcome;
  }

  async branch(ref: BranchRef): Promise<BranchRecord | undefined> {
    return await this.#read((queries) => findBranch(queries, this.#catalogue, ref));
  }

  async branchHead(ref: BranchRef): Promise<BranchHead | undefined> {
    return await this.#read((queries) => findHead(queries, ref));
  }

  async branches(ref: SessionRef): Promise<readonly BranchSummary[]> {
    return await this.#read((queries) => listBranches(queries, ref));
  }

  async read(ref: SessionRef, view: readonly Segment[], page: PageRequest): Promise<Page> {
    return await this.#read(async (queries) => {
      const session = await findSessionRow(queries, ref);
      if (session === undefined) throw sessionNotFound(ref);
      return await readPage(queries, session, await branchIds(queries, session, view), view, page);
    });
  }

  async locate(ref: SessionRef, ids: readonly string[]): Promise<ReadonlyMap<string, Point>> {
    return await this.#read(async (queries) => {
      const session = await findSessionRow(queries, ref);
      if (session === undefined) return new Map();
      const places = await findPlaces(queries, session, ids);
      return new Map([...places].map(([id, { branch, seq }]) => [id, { branch, seq }]));
    });
  }

  async latest(ref: SessionRef, view: AskedView, select: KeySelector, page: LatestRequest): Promise<LatestPage> {
    return await this.#read(async (queries) => {
      if ('keys' in select) checkLimit('selectedKeysMax', select.keys.length, 'look up keys');
      const session = await findSessionRow(queries, ref);
      if ('branch' in view) return await latestAt(queries, this.#catalogue, session, view, select, page);
      if (session === undefined) throw sessionNotFound(ref);
      return await latestPage(queries, session, await branchIds(queries, session, view), view, select, page);
    });
  }

  async parts(ref: SessionRef, digests: readonly Digest[], request: PartsRequest = {}): Promise<PartsPage> {
    return await this.#read(async (queries) => {
      checkLimit('partsAskedMax', digests.length, 'read parts');
      const session = await findSessionRow(queries, ref);
      if (session === undefined) return { parts: new Map(), rest: [] };
      return await partsPage(queries, session, digests, request);
    });
  }

  watch(ref: BranchRef, after: Seq, signal: Abort): AsyncIterable<Seq> {
    this.#checkOpen();
    const look = (): Promise<{ readonly key: string; readonly head: Seq } | undefined> =>
      this.#database.read(async (queries) => {
        const found = await findBranchOf(queries, ref);
        return found === undefined
          ? undefined
          : { key: watchKey(found.session.id, found.branch.id), head: found.branch.head };
      });
    return this.#watchers.watch(look, after, signal);
  }

  async createSession(ref: SessionRef, options: NewSession): Promise<SessionRecord> {
    return await this.#write((queries, isRepeated) =>
      createSession(queries, this.#platform, ref, { ...options, isRepeated }),
    );
  }

  async session(ref: SessionRef): Promise<SessionRecord | undefined> {
    return await this.#read((queries) => findSession(queries, ref));
  }

  async sessions(request: SessionsRequest): Promise<SessionsPage> {
    return await this.#read((queries) => listSessions(queries, request));
  }

  async deleteSession(ref: SessionRef): Promise<boolean> {
    let tried: SessionKey | undefined;
    const hidden = await this.#write(async (queries, isRepeated) => {
      tried = await hideSession(queries, ref, isRepeated ? tried : undefined);
      return tried;
    });
    if (hidden === undefined) return false;
    await clearSession(hidden, (work) => this.#write(work));
    return true;
  }

  async deleteBranch(request: DeleteBranchRequest): Promise<AppendOutcome> {
    const { outcome, group } = await this.#write((queries, isRepeated) =>
      deleteBranch(queries, this.#catalogue, this.#platform, request, isRepeated),
    );
    this.#tell(group.committed());
    // It may remember where the branch ended.
    this.#catalogue.forget();
    await vacuum(this.#database);
    return outcome;
  }

  async renameSession(ref: SessionRef, request: RenameRequest): Promise<void> {
    const replaced = await this.#write((queries, isRepeated) => renameSession(queries, ref, request, isRepeated));
    if (replaced === undefined) return;
    await clearSession(replaced, (work) => this.#write(work));
    // The new session may be the one that an erasure left.
    await vacuum(this.#database);
  }

  async putSnapshot(ref: SessionRef, snapshot: Snapshot): Promise<void> {
    this.#checkOpen();
    if (this.#isReadOnly) return;
    try {
      await this.#writer.run(async (queries) => {
        const { session, branch } = await branchOf(queries, { ...ref, branch: snapshot.branch });
        await putSnapshot(queries, session, branch.id, snapshot);
      }, limits.snapshotWaitMsMax);
    } catch (error) {
      // Only time is lost if a different writer holds the session, the connection was cut, or the user may only read.
      if (!isPassing(error) && postgresCode(error) !== '42501') throw error;
    }
  }

  async snapshots(ref: SessionRef, request: SnapshotsRequest): Promise<readonly FoundSnapshot[]> {
    return await this.#read((queries) => findSnapshots(queries, ref, request));
  }

  async snapshot(ref: BranchRef, key: SnapshotKey, seq: Seq): Promise<Snapshot | undefined> {
    return await this.#read(async (queries) => {
      const found = await findBranchOf(queries, ref);
      if (found === undefined) return undefined;
      const row = await findSnapshot(queries, found.session, found.branch.id, key, seq);
      return row === undefined ? undefined : snapshotOf(ref, key, row);
    });
  }

  async heldSnapshots(ref: BranchRef, request: HeldSnapshotsRequest): Promise<readonly Omit<Snapshot, 'value'>[]> {
    return await this.#read(async (queries) => {
      const found = await findBranchOf(queries, ref);
      if (found === undefined) return [];
      const rows = await heldSnapshots(queries, found.session, found.branch.id, request);
      return rows.map((row) => heldSnapshotOf(ref, row));
    });
  }

  async dropSnapshots(ref: SessionRef): Promise<void> {
    await this.#write(async (queries) => dropSnapshots(queries, await sessionOf(queries, ref)));
  }

  async putReceipt(ref: SessionRef, receipt: Receipt): Promise<void> {
    await this.#write(async (queries) => {
      if (!(await putReceipt(queries, await sessionOf(queries, ref), receipt))) throw sessionNotFound(ref);
    });
  }

  async receipts(ref: SessionRef, digest: Digest): Promise<readonly Receipt[]> {
    return await this.#read(async (queries) => {
      const session = await findSessionRow(queries, ref);
      return session === undefined ? [] : await findReceipts(queries, session, digest);
    });
  }

  async heldReceipts(ref: SessionRef, request: ReceiptsRequest): Promise<readonly Receipt[]> {
    return await this.#read(async (queries) => {
      const session = await findSessionRow(queries, ref);
      return session === undefined ? [] : await heldReceipts(queries, session, request);
    });
  }

  async erase(request: EraseRequest): Promise<EraseOutcome> {
    const { outcomes, group } = await this.#write((queries, isRepeated) =>
      erase(queries, this.#catalogue, this.#platform, request, isRepeated),
    );
    this.#tell(group.committed());
    await vacuum(this.#database);
    return { appends: outcomes, remains: [] };
  }

  async heldParts(ref: SessionRef, { limit, after }: HeldPartsRequest): Promise<readonly Digest[]> {
    const most = Math.min(limit, limits.partsAskedMax);
    return await this.#read(async (queries) => {
      const session = await findSessionRow(queries, ref);
      return session === undefined ? [] : await heldParts(queries, session, after, most);
    });
  }

  async reindex(ref: SessionRef, request: ReindexRequest = {}): Promise<ReindexOutcome> {
    const session = await this.#read((queries) => sessionOf(queries, ref));
    return await reindex(session, request, (work) => (request.dryRun === true ? this.#read(work) : this.#write(work)));
  }

  async sessionSize(ref: SessionRef): Promise<SessionSize | undefined> {
    return await this.#read((queries) => sessionSize(queries, ref));
  }

  async health(): Promise<StoreHealth> {
    return await this.#read((connection) => healthOf(connection, this.#health));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#clearing;
    await this.#writer.drain();
    await this.#watchers.close();
    await this.#database.close();
  }

  async #clearHidden(): Promise<void> {
    for (const session of await this.#database.read(hiddenSessions))
      await clearSession(session, (work) => this.#writer.run(work));
  }

  readonly #tell = (moved: readonly WrittenBranch[]): void =>
    this.#watchers.moved(moved.map(({ facts, row }) => watchKey(facts.session.id, row.id)));

  /** Runs a read on one connection. Waits for a server that is gone, and leaves nothing open. */
  async #read<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    this.#checkOpen();
    return await this.#database.read(work);
  }

  async #write<Result>(work: Repeatable<Result>): Promise<Result> {
    this.#checkOpen();
    if (this.#isReadOnly) throw this.#readOnlyError();
    return await this.#writer.run(work);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw storeClosed();
  }

  #readOnlyError(): RepriseError {
    return storeReadOnly(this.#health.location, 'Open it without readOnly.');
  }
}
