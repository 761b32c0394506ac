import type { KeySelector } from '../event/keys.ts';
import type { Digest, Point, Seq } from '../point.ts';
import type { AskedView, Segment } from '../view/view.ts';
import type { AppendOutcome, AppendRequest } from './append-request.ts';
import type { BranchHead, BranchRecord, BranchSummary } from './branch-record.ts';
import type { DeleteBranchRequest } from './delete-branch-request.ts';
import type { EraseOutcome, EraseRequest } from './erase-request.ts';
import type { LatestPage, LatestRequest } from './latest-request.ts';
import type { HeldPartsRequest, Page, PageRequest, PartsPage, PartsRequest } from './page-request.ts';
import type { Receipt, ReceiptsRequest } from './receipt.ts';
import type { ReindexOutcome, ReindexRequest } from './reindex-request.ts';
import type { RestoreOutcome, RestoreRequest } from './restore-request.ts';
import type { BranchRef, SessionRef } from './session-ref.ts';
import type { NewSession, RenameRequest, SessionRecord, SessionsPage, SessionsRequest } from './session-request.ts';
import type { SessionSize } from './session-size.ts';
import type { FoundSnapshot, HeldSnapshotsRequest, Snapshot, SnapshotKey, SnapshotsRequest } from './snapshot-key.ts';
import type { HealthRequest, StoreHealth } from './store-health.ts';

// Types that importers of the port need most.
export type { AppendOutcome, AppendRequest, AppendTarget, EventInput } from './append-request.ts';
export type { BranchHead, BranchRecord, BranchSummary } from './branch-record.ts';
export type { DeleteBranchRequest } from './delete-branch-request.ts';
export type { EraseOutcome, EraseRequest } from './erase-request.ts';
export type { LatestPage, LatestRequest } from './latest-request.ts';
export type {
  Cursor,
  EventSelect,
  HeldPartsRequest,
  Page,
  PageRequest,
  PartsPage,
  PartsRequest,
} from './page-request.ts';
export type { AsyncContext, Platform, RequestListener, RequestTold } from './platform.ts';
export type { Receipt } from './receipt.ts';
export type { ReindexOutcome, ReindexRequest } from './reindex-request.ts';
export type { RestoredEvent, RestoreRequest } from './restore-request.ts';
export type { BranchRef, SessionRef } from './session-ref.ts';
export type { SessionRecord, SessionsPage, SessionsRequest } from './session-request.ts';
export type { FoundSnapshot, HeldSnapshotsRequest, Snapshot, SnapshotKey, SnapshotsRequest } from './snapshot-key.ts';
export type { StoredEvent } from './stored-event.ts';

/** Stops a wait; the part of AbortSignal that ports need. */
export type Abort = AbortSignal;

/**
 * Where sessions are kept. The contract suite in `reprise/testing` proves these guarantees for every store:
 *
 * - Every key starts with the namespace; nothing crosses it, parts included.
 * - Ranges leave out `after` and include `through`.
 * - Every read that starts after an append has returned sees its events, in every process, even after a crash.
 */
export interface EventStore {
  /**
   * Appends events. Each request is atomic and judged alone; a refused request does not affect the others. The store
   * checks ids before the condition: it answers a batch that it already has as known, with the seqs it has. The store
   * assigns seq, turn and digest, and resolves only when the events are durable.
   */
  append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]>;

  /**
   * Writes events of one branch exactly as a different store has them, with their ids, times, turns, salts and digests;
   * erased payloads stay erased. The events must follow the head of the branch (`append.conflict`), and each must match
   * its digest (`event.damaged`). Atomic and durable like an append; repeating it changes nothing. The session has the
   * parts as given, holes included; only a verification finds out whether a part is missing.
   */
  restore(request: RestoreRequest): Promise<RestoreOutcome>;

  /** Returns one branch with its markers, which decide its views; undefined if the session or branch does not exist. */
  branch(ref: BranchRef): Promise<BranchRecord | undefined>;

  /**
   * Returns where a branch ends, without its markers; undefined if the session or branch does not exist. Costs the same
   * however often the branch was edited: for existence checks and polls.
   */
  branchHead(ref: BranchRef): Promise<BranchHead | undefined>;

  /** Returns every branch of a session by creation; empty if the session does not exist. */
  branches(ref: SessionRef): Promise<readonly BranchSummary[]>;

  /** Reads events of a view in view order (or from its end), a page at a time. Keeps nothing open between pages. */
  read(ref: SessionRef, view: readonly Segment[], page: PageRequest): Promise<Page>;

  /** Returns where events are stored, by id; leaves out ids the session does not have. */
  locate(ref: SessionRef, ids: readonly string[]): Promise<ReadonlyMap<string, Point>>;

  /**
   * Returns, for each selected key, the last event in view order that is indexed under it, by rising UTF-8 bytes of the
   * key. The caller gives the view by its segments or by its point. A point saves a lookup, and the answer then comes
   * from one state of the branch.
   */
  latest(ref: SessionRef, view: AskedView, select: KeySelector, page: LatestRequest): Promise<LatestPage>;

  /**
   * Returns the parts asked for and, unless `depth` is `asked`, everything they refer to; leaves out parts this session
   * does not have. An answer is a page: `rest` names the parts that did not fit, and asking for those comes to an end.
   */
  parts(ref: SessionRef, digests: readonly Digest[], request?: PartsRequest): Promise<PartsPage>;

  /** Yields the head whenever it may have moved past `after`. May merge or repeat wake-ups; ends when aborted. */
  watch(ref: BranchRef, after: Seq, signal: Abort): AsyncIterable<Seq>;

  /** Creates a session with one empty branch; `session.exists` if there is one. */
  createSession(ref: SessionRef, options: NewSession): Promise<SessionRecord>;

  /**
   * Gives a session a new id, at once for everyone; `session.exists` if the id is taken. With `replaces`, the store
   * deletes the session that has the id in the same moment, as `deleteSession` does, if its branches end in exactly
   * these digests (`append.conflict` otherwise).
   */
  renameSession(ref: SessionRef, request: RenameRequest): Promise<void>;

  /** Returns one session; undefined if it does not exist. */
  session(ref: SessionRef): Promise<SessionRecord | undefined>;

  /** Lists sessions, last appended to first. */
  sessions(request: SessionsRequest): Promise<SessionsPage>;

  /** Deletes a session and everything that only it has; false if there was none. */
  deleteSession(ref: SessionRef): Promise<boolean>;

  /**
   * Deletes a branch that nothing grows from, with its events, snapshots and receipts and the parts named in the request,
   * and appends the event that records it, atomically. Refuses a branch that others grow from or that the session began
   * with (`branch.in-use`), and a session whose branches do not end where the caller read them (`append.conflict`). Parts
   * that it brought and that stay count as brought by the first branch. The name is free again.
   */
  deleteBranch(request: DeleteBranchRequest): Promise<AppendOutcome>;

  /**
   * Keeps a snapshot. A store that is read-only or busy may skip it. It must skip one made before the last erasure,
   * since that snapshot may contain erased content.
   */
  putSnapshot(ref: SessionRef, snapshot: Snapshot): Promise<void>;

  /**
   * Returns, key by key, where snapshots are on the branches that lead to a point, nearest first; leaves out those whose
   * digest is not that of their point. The nearest one of each key comes with its value, as far as an answer has room.
   */
  snapshots(ref: SessionRef, request: SnapshotsRequest): Promise<readonly FoundSnapshot[]>;

  /** Returns one snapshot with its value; undefined if it is gone. */
  snapshot(ref: BranchRef, key: SnapshotKey, seq: Seq): Promise<Snapshot | undefined>;

  /** Returns where every snapshot of a branch is, without its value, a page at a time, by key and seq: for verification. */
  heldSnapshots(ref: BranchRef, request: HeldSnapshotsRequest): Promise<readonly Omit<Snapshot, 'value'>[]>;

  /** Deletes every snapshot of a session. Only time is lost. */
  dropSnapshots(ref: SessionRef): Promise<void>;

  /** Keeps a receipt; it replaces an older one of the same digest and kind. */
  putReceipt(ref: SessionRef, receipt: Receipt): Promise<void>;

  /** Returns the receipts of a point, by kind. */
  receipts(ref: SessionRef, digest: Digest): Promise<readonly Receipt[]>;

  /** Returns every receipt of a session, a page at a time, by digest and kind. */
  heldReceipts(ref: SessionRef, request: ReceiptsRequest): Promise<readonly Receipt[]>;

  /** Erases payloads for good and appends their markers, atomically; overwrites the stored bytes where it can. */
  erase(request: EraseRequest): Promise<EraseOutcome>;

  /** Returns every part digest of a session, a page at a time, rising: for erasure and verification. */
  heldParts(ref: SessionRef, request: HeldPartsRequest): Promise<readonly Digest[]>;

  /**
   * Rebuilds the key index of a session from the log, and every other index that its reads use; returns what was wrong.
   * With `dryRun` it only compares, in a store that is read-only too.
   */
  reindex(ref: SessionRef, request?: ReindexRequest): Promise<ReindexOutcome>;

  /** Measures a session; undefined if it does not exist. */
  sessionSize(ref: SessionRef): Promise<SessionSize | undefined>;

  /** Reports what the store is and whether it is sound; `deep` compares the store's own indexes with its rows, too. */
  health(request?: HealthRequest): Promise<StoreHealth>;

  /** Waits for work under way and releases everything. Calling it twice is harmless. */
  close(): Promise<void>;
}
