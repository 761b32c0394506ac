import { type Client, createClient } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import type { KeySelector } from '../core/event/keys.ts';
import { given } from '../core/json.ts';
import type { Digest, Point, Seq } from '../core/point.ts';
import type { DeleteBranchRequest } from '../core/store/delete-branch-request.ts';
import type {
  Abort,
  AppendOutcome,
  AppendRequest,
  BranchHead,
  BranchRecord,
  BranchRef,
  BranchSummary,
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
} from '../core/store/event-store.ts';
import type { ReceiptsRequest } from '../core/store/receipt.ts';
import type { RestoreOutcome, RestoreRequest } from '../core/store/restore-request.ts';
import type { NewSession, RenameRequest } from '../core/store/session-request.ts';
import type { SessionSize } from '../core/store/session-size.ts';
import type { HealthRequest, StoreFact, StoreHealth } from '../core/store/store-health.ts';
import type { AskedView, Segment } from '../core/view/view.ts';
import { appendToWire, deletionToWire, eraseToWire, outcomeFromWire, restoreToWire } from '../wire/append-codec.ts';
import { branchFromWire, headFromWire, summaryFromWire } from '../wire/branch-codec.ts';
import { StoreService } from '../wire/generated/reprise/v1/store_pb.ts';
import {
  foundSnapshotFromWire,
  healthFromWire,
  receiptFromWire,
  receiptToWire,
  reindexFromWire,
  sizeFromWire,
  snapshotFromWire,
  snapshotKeyToWire,
  snapshotNameFromWire,
  snapshotToWire,
} from '../wire/kept-codec.ts';
import { readToWire, selectToWire, viewToWire } from '../wire/page-codec.ts';
import { eventFromWire, partFromWire, pointFromWire } from '../wire/row-codec.ts';
import { branchRefToWire, sessionFromWire, sessionRefToWire } from '../wire/session-codec.ts';
import { digestFrom, digestsFrom, seqFrom, seqFromOr, toWhole, toWholeOr } from '../wire/whole-number.ts';
import { AppendBatch } from './append-batch.ts';
import type { Connection } from './connection.ts';
import { PageStreams } from './page-stream.ts';
import { PatientCalls } from './patient-calls.ts';
import { remoteWatch } from './remote-watch.ts';

/** The parts that a remote store is made of. */
export interface RemoteStoreParts {
  /** The address, as it may be shown. */
  readonly url: string;
  /** Facts about the server and the token, for people. */
  readonly facts: readonly StoreFact[];
  readonly connection: Connection;
  readonly platform: Platform;
  readonly busyWaitMs: number;
  readonly readOnly: boolean;
}

/** The store behind a server: every method is a call, and a change whose answer was lost is asked for again. */
export class RemoteStore implements EventStore {
  readonly #url: string;
  readonly #facts: readonly StoreFact[];
  readonly #connection: Connection;
  readonly #client: Client<typeof StoreService>;
  readonly #calls: PatientCalls;
  readonly #batch: AppendBatch;
  readonly #pages: PageStreams;
  readonly #newId: () => string;
  readonly #readOnly: boolean;
  #closed: Promise<void> | undefined;

  constructor({ url, facts, connection, platform, busyWaitMs, readOnly }: RemoteStoreParts) {
    this.#url = url;
    this.#facts = facts;
    this.#connection = connection;
    this.#client = createClient(StoreService, connection.transport);
    this.#calls = new PatientCalls(url, platform, busyWaitMs);
    this.#batch = new AppendBatch((requests) => this.#append(requests));
    this.#pages = new PageStreams(
      (ref, view, page, { pages, signal }) => this.#client.read(readToWire(ref, view, page, pages), { signal }),
      platform,
    );
    this.#newId = platform.newId;
    this.#readOnly = readOnly;
  }

  async append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    this.#checkWrite();
    return requests.length === 0 ? [] : await this.#batch.add(requests);
  }

  async #append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]> {
    const appends = requests.map(appendToWire);
    const { outcomes } = await this.#calls.callToTheEnd(() => this.#client.append({ appends }));
    return outcomes.map(outcomeFromWire);
  }

  async restore(request: RestoreRequest): Promise<RestoreOutcome> {
    this.#checkWrite();
    const wire = restoreToWire(request);
    const { head, digest } = await this.#calls.call(() => this.#client.restore(wire));
    return { head: seqFrom(head), digest: digestFrom(digest) };
  }

  async branch(ref: BranchRef): Promise<BranchRecord | undefined> {
    const { branch } = await this.#calls.call(() => this.#client.getBranch({ branch: branchRefToWire(ref) }));
    return branch === undefined ? undefined : branchFromWire(branch);
  }

  async branchHead(ref: BranchRef): Promise<BranchHead | undefined> {
    const { head } = await this.#calls.call(() => this.#client.getBranchHead({ branch: branchRefToWire(ref) }));
    return head === undefined ? undefined : headFromWire(head);
  }

  async branches(ref: SessionRef): Promise<readonly BranchSummary[]> {
    const { branches } = await this.#calls.call(() => this.#client.listBranches({ session: sessionRefToWire(ref) }));
    return branches.map(summaryFromWire);
  }

  async read(ref: SessionRef, view: readonly Segment[], page: PageRequest): Promise<Page> {
    return await this.#calls.call(() => this.#pages.read(ref, view, page));
  }

  async locate(ref: SessionRef, ids: readonly string[]): Promise<ReadonlyMap<string, Point>> {
    const { events } = await this.#calls.call(() =>
      this.#client.locate({ session: sessionRefToWire(ref), ids: [...ids] }),
    );
    return new Map(events.flatMap(({ id, point }) => (point === undefined ? [] : [[id, pointFromWire(point)]])));
  }

  async latest(ref: SessionRef, view: AskedView, select: KeySelector, page: LatestRequest): Promise<LatestPage> {
    const selected = 'keys' in select ? { keys: [...select.keys] } : { prefix: select.prefix };
    const { entries, next, head } = await this.#calls.call(() =>
      this.#client.latest({
        session: sessionRefToWire(ref),
        ...viewToWire(view),
        ...selected,
        limit: toWhole(page.limit),
        select: selectToWire(page.select),
        ...given({ after: page.after }),
      }),
    );
    return {
      entries: entries.flatMap(({ key, event }) =>
        event === undefined ? [] : [{ key, event: eventFromWire(event, page.select) }],
      ),
      ...given({ next, head: seqFromOr(head) }),
    };
  }

  async parts(ref: SessionRef, digests: readonly Digest[], request: PartsRequest = {}): Promise<PartsPage> {
    const { parts, rest } = await this.#calls.call(() =>
      this.#client.getParts({
        session: sessionRefToWire(ref),
        digests: [...digests],
        askedOnly: request.depth === 'asked',
      }),
    );
    const held = parts.map(partFromWire);
    return { parts: new Map(held.map((part) => [part.digest, part])), rest: digestsFrom(rest) };
  }

  watch(ref: BranchRef, after: Seq, signal: Abort): AsyncIterable<Seq> {
    return remoteWatch(this.#client, this.#calls, ref, after, signal);
  }

  async createSession(ref: SessionRef, options: NewSession): Promise<SessionRecord> {
    this.#checkWrite();
    const { root, seed, createdAt, erasures } = options;
    const wire = {
      session: sessionRefToWire(ref),
      root,
      seed,
      ...given({ createdAt, erasures: toWholeOr(erasures) }),
    };
    return await this.#calls.call(async (attempt) => {
      try {
        const { session } = await this.#client.createSession(wire);
        if (session !== undefined) return sessionFromWire(session);
        throw new Error('The server sent no session');
      } catch (error) {
        // The answer to an earlier attempt was lost: the seed says whether the session is the one that it created.
        const found = attempt > 1 ? await this.session(ref) : undefined;
        if (found !== undefined && found.seed === seed) return found;
        throw error;
      }
    });
  }

  async renameSession(ref: SessionRef, { to, replaces }: RenameRequest): Promise<void> {
    this.#checkWrite();
    const requestId = this.#newId();
    const branches = replaces?.map(({ branch, digest }) => ({ branch, digest }));
    // A repeated call may reach a different server: the seed says whether the session was renamed before.
    const seed = (await this.session(ref))?.seed;
    await this.#calls.call(() =>
      this.#client.renameSession({
        session: sessionRefToWire(ref),
        to,
        requestId,
        ...given({ seed, replaces: branches === undefined ? undefined : { branches } }),
      }),
    );
  }

  async session(ref: SessionRef): Promise<SessionRecord | undefined> {
    const { session } = await this.#calls.call(() => this.#client.getSession({ session: sessionRefToWire(ref) }));
    return session === undefined ? undefined : sessionFromWire(session);
  }

  async sessions({ namespace, limit, cursor }: SessionsRequest): Promise<SessionsPage> {
    const { sessions, next } = await this.#calls.call(() =>
      this.#client.listSessions({ limit: toWhole(limit), ...given({ namespace, cursor }) }),
    );
    return { sessions: sessions.map(sessionFromWire), ...given({ next }) };
  }

  async deleteSession(ref: SessionRef): Promise<boolean> {
    this.#checkWrite();
    const requestId = this.#newId();
    // Without the seed, a repeated call could delete a session that took the id in between.
    const seed = (await this.session(ref))?.seed;
    if (seed === undefined) return false;
    return await this.#calls.call(async (attempt) => {
      const { deleted } = await this.#client.deleteSession({ session: sessionRefToWire(ref), requestId, seed });
      return deleted || attempt > 1;
    });
  }

  async deleteBranch(request: DeleteBranchRequest): Promise<AppendOutcome> {
    this.#checkWrite();
    const wire = deletionToWire(request, this.#newId());
    const { outcome } = await this.#calls.call(() => this.#client.deleteBranch(wire));
    return outcomeFromWire(outcome);
  }

  async putSnapshot(ref: SessionRef, snapshot: Snapshot): Promise<void> {
    this.#calls.checkOpen();
    if (this.#readOnly) return;
    const wire = { session: sessionRefToWire(ref), snapshot: snapshotToWire(snapshot) };
    await this.#calls.call(() => this.#client.putSnapshot(wire));
  }

  async snapshots(ref: SessionRef, { keys, within }: SnapshotsRequest): Promise<readonly FoundSnapshot[]> {
    if (keys.length === 0 || within.length === 0) return [];
    const wire = {
      session: sessionRefToWire(ref),
      keys: keys.map(snapshotKeyToWire),
      within: within.map(({ branch, through }) => ({ branch, through: toWhole(through) })),
    };
    const { snapshots } = await this.#calls.call(() => this.#client.listSnapshots(wire));
    return snapshots.map(foundSnapshotFromWire);
  }

  async snapshot(ref: BranchRef, key: SnapshotKey, seq: Seq): Promise<Snapshot | undefined> {
    const wire = { branch: branchRefToWire(ref), key: snapshotKeyToWire(key), seq: toWhole(seq) };
    const { snapshot } = await this.#calls.call(() => this.#client.getSnapshot(wire));
    return snapshot === undefined ? undefined : snapshotFromWire(snapshot);
  }

  async heldSnapshots(ref: BranchRef, request: HeldSnapshotsRequest): Promise<readonly Omit<Snapshot, 'value'>[]> {
    const { limit, after } = request;
    const place = after === undefined ? undefined : { key: snapshotKeyToWire(after), seq: toWhole(after.seq) };
    const wire = { branch: branchRefToWire(ref), limit: toWhole(limit), ...given({ after: place }) };
    const { snapshots } = await this.#calls.call(() => this.#client.listHeldSnapshots(wire));
    return snapshots.map(snapshotNameFromWire);
  }

  async dropSnapshots(ref: SessionRef): Promise<void> {
    this.#checkWrite();
    await this.#calls.call(() => this.#client.dropSnapshots({ session: sessionRefToWire(ref) }));
  }

  async putReceipt(ref: SessionRef, receipt: Receipt): Promise<void> {
    this.#checkWrite();
    const wire = { session: sessionRefToWire(ref), receipt: receiptToWire(receipt) };
    await this.#calls.call(() => this.#client.putReceipt(wire));
  }

  async receipts(ref: SessionRef, digest: Digest): Promise<readonly Receipt[]> {
    const { receipts } = await this.#calls.call(() =>
      this.#client.listReceipts({ session: sessionRefToWire(ref), digest }),
    );
    return receipts.map(receiptFromWire);
  }

  async heldReceipts(ref: SessionRef, { limit, after }: ReceiptsRequest): Promise<readonly Receipt[]> {
    const { receipts } = await this.#calls.call(() =>
      this.#client.listHeldReceipts({ session: sessionRefToWire(ref), limit: toWhole(limit), ...given({ after }) }),
    );
    return receipts.map(receiptFromWire);
  }

  async erase(request: EraseRequest): Promise<EraseOutcome> {
    this.#checkWrite();
    const wire = eraseToWire(request, this.#newId());
    const { outcomes, remains } = await this.#calls.call(() => this.#client.erase(wire));
    return { appends: outcomes.map(outcomeFromWire), remains };
  }

  async heldParts(ref: SessionRef, { limit, after }: HeldPartsRequest): Promise<readonly Digest[]> {
    const { digests } = await this.#calls.call(() =>
      this.#client.listHeldParts({ session: sessionRefToWire(ref), limit: toWhole(limit), ...given({ after }) }),
    );
    return digestsFrom(digests);
  }

  async reindex(ref: SessionRef, { dryRun = false }: ReindexRequest = {}): Promise<ReindexOutcome> {
    if (!dryRun) this.#checkWrite();
    const wire = { session: sessionRefToWire(ref), dryRun };
    return reindexFromWire(await this.#calls.call(() => this.#client.reindex(wire)));
  }

  async sessionSize(ref: SessionRef): Promise<SessionSize | undefined> {
    const { size } = await this.#calls.call(() => this.#client.getSessionSize({ session: sessionRefToWire(ref) }));
    return size === undefined ? undefined : sizeFromWire(size);
  }

  async health({ deep = false }: HealthRequest = {}): Promise<StoreHealth> {
    const health = healthFromWire(await this.#calls.call(() => this.#client.getHealth({ deep })), this.#url);
    return { ...health, facts: [...this.#facts, ...health.facts] };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#calls.close();
    this.#pages.drop();
    await this.#batch.settled();
    await this.#calls.settled();
    this.#connection.close();
  }

  #checkWrite(): void {
    this.#calls.checkOpen();
    this.#pages.drop();
    if (this.#readOnly)
      throw new RepriseError('store.read-only', 'Cannot write: the store was opened for reading only', {
        hint: 'Open it without readOnly.',
      });
  }
}
