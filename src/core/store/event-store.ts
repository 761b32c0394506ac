import type { RepriseError } from '../error.ts';
import type { EventFilter } from '../event/filter.ts';
import type { KeySelector } from '../event/keys.ts';
import type { JsonObject } from '../json.ts';
import type { PartInput } from '../parts/parts.ts';
import type { Digest, Point, Seq } from '../point.ts';
import type { Marker } from '../view/marker.ts';
import type { AskedView, Segment } from '../view/view.ts';
import type { Condition } from './append.ts';
import type { EraseRequest } from './erase-request.ts';
import type { LatestPage, LatestRequest } from './latest-request.ts';
import type { RestoreOutcome, RestoreRequest } from './restore.ts';
import type { NewSession, ReceiptsRequest, RenameRequest } from './session-request.ts';
import type { Snapshot, SnapshotKey } from './snapshot-key.ts';
import type { StoreHealth } from './store-health.ts';

export type { EraseRequest } from './erase-request.ts';
export type { LatestPage, LatestRequest } from './latest-request.ts';
export type { AsyncContext, Platform, RequestListener, RequestTold } from './platform.ts';
export type { Snapshot, SnapshotKey } from './snapshot-key.ts';

/** Names a session. */
export interface SessionRef {
  readonly namespace: string;
  readonly session: string;
}

/** Names a branch. */
export interface BranchRef extends SessionRef {
  readonly branch: string;
}

/** An event on its way to the store: a checked draft whose data is encoded. */
export interface EventInput {
  readonly id: string;
  readonly time: string;
  readonly type: string;
  readonly version: number;
  readonly agent?: string;
  readonly run?: string;
  /** Left out: the cause's, else that of the last event in the view. */
  readonly turn?: number;
  readonly cause?: string;
  /** The skeleton: canonical JSON of the data with part references in it. */
  readonly data: string;
  /** What the event is indexed under: `keysOf` of its data, or of the data of the event it carries. */
  readonly keys: readonly string[];
}

/** What an append writes to. */
export type AppendTarget =
  | { readonly kind: 'branch'; readonly branch: string }
  /** A new branch: the first event must be `branch.forked`. `parent` is the branch that stores the event at that seq. */
  | { readonly kind: 'fork'; readonly branch: string; readonly parent: Point };

/** One atomic write. */
export interface AppendRequest extends SessionRef {
  readonly target: AppendTarget;
  readonly events: readonly EventInput[];
  /** Parts the events refer to that the session may not hold yet. */
  readonly parts: readonly PartInput[];
  readonly condition: Condition;
  /** The epoch the writer began in; the append fails with `branch.rewound` in a later one. */
  readonly epoch?: Seq;
}

/** What became of one event. */
export interface Appended {
  readonly id: string;
  readonly seq: Seq;
  readonly turn: number;
  readonly causeSeq?: Seq;
  readonly digest: Digest;
}

/** What became of one append request. */
export type AppendOutcome =
  | { readonly ok: true; readonly known: boolean; readonly branch: string; readonly events: readonly Appended[] }
  | { readonly ok: false; readonly error: RepriseError };

/** An event as stored. */
export interface StoredEvent {
  readonly branch: string;
  readonly seq: Seq;
  readonly id: string;
  readonly time: string;
  readonly type: string;
  readonly version: number;
  readonly agent: string | null;
  readonly run: string | null;
  readonly turn: number;
  readonly cause: string | null;
  readonly causeSeq: Seq | null;
  readonly digest: Digest;
  /** The skeleton; null when erased, or when only the header was asked for. */
  readonly data: string | null;
  /** Null when erased; undefined unless `select` is `proof`. */
  readonly salt?: string | null;
  /** Kept only for an erased payload; undefined unless `select` is `proof`. */
  readonly dataDigest?: Digest | null;
  readonly erased: boolean;
}

/** Where a page ended: an index into the segments and the last seq looked at there. */
export interface Cursor {
  readonly segment: number;
  readonly seq: Seq;
}

/** How to read. */
export interface PageRequest {
  /** Events at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Payload bytes at most, up to `pageBytesMax`; one larger event still makes a page of its own. */
  readonly bytesMax?: number;
  /** `header` leaves `data` out; `full` has it; `proof` also has what verification needs. */
  readonly select: 'header' | 'full' | 'proof';
  readonly direction: 'forward' | 'backward';
  /** Continues after an earlier page of the same view and direction. */
  readonly cursor?: Cursor;
  /**
   * Header conditions; carried segments pass unfiltered, since the event is inside the marker. Read forward, the first
   * event that is not before `since` or `turnAfter` is found at once, however much comes before it.
   */
  readonly filter?: EventFilter;
}

/** Some events of a view. `next` is there while the view may have more, even when `events` is short or empty. */
export interface Page {
  readonly events: readonly StoredEvent[];
  readonly next?: Cursor;
}

/** How far to go when parts are read. */
export interface PartsRequest {
  /** `asked`: only what is asked for. `all` (the default): what that refers to as well, however deep. */
  readonly depth?: 'asked' | 'all';
}

/** Some parts, up to `partsPageMax` of them and `pageBytesMax` bytes; a larger part still makes a page of its own. */
export interface PartsPage {
  readonly parts: ReadonlyMap<Digest, PartInput>;
  /** What to ask for next; empty when everything is there. */
  readonly rest: readonly Digest[];
}

/** Everything about a branch that reading it needs. */
export interface BranchRecord {
  readonly branch: string;
  /** Where it was forked; absent for the branch the session began with. */
  readonly parent?: Point;
  readonly root: string;
  readonly head: Seq;
  /** The digest at the head; the session's genesis when there are no events. */
  readonly digest: Digest;
  /** The seq of its last rewind, 0 if there was none: recorders of an older epoch must not write. */
  readonly epoch: Seq;
  /** The turn of the last event in the view at the head, 0 if the view is empty. */
  readonly turn: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Every structural event that leads to the head, rising, ancestors' included up to the fork points. */
  readonly markers: readonly Marker[];
}

/** A branch in a listing. */
export interface BranchSummary {
  readonly branch: string;
  readonly parent?: Point;
  readonly head: Seq;
  readonly digest: Digest;
  readonly createdAt: string;
  readonly updatedAt: string;
  /**
   * Bytes of payload that the branch stores itself, in UTF-8: the skeletons of its events, and the texts of the parts
   * that its appends were the first to bring to the session. What an erasure takes away no longer counts, and a part
   * that it rewrites counts with its new text. Parts are counted as the session was given them, whatever else in the
   * namespace holds the same ones.
   */
  readonly bytes: number;
}

/** A session in a listing. */
export interface SessionRecord extends SessionRef {
  /** What the genesis was made of. */
  readonly seed: string;
  readonly genesis: Digest;
  /** The branch it began with. */
  readonly root: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** How many payloads were erased; part of every snapshot's key. */
  readonly erasures: number;
}

/** How to list sessions: newest (last appended to) first. */
export interface SessionsRequest {
  /** All namespaces when left out. */
  readonly namespace?: string;
  readonly limit: number;
  /** Continues an earlier listing. */
  readonly cursor?: string;
}

/** Some sessions. */
export interface SessionsPage {
  readonly sessions: readonly SessionRecord[];
  readonly next?: string;
}

/** Evidence about a history, kept beside it. */
export interface Receipt {
  /** The digest of the point it speaks of. */
  readonly digest: Digest;
  readonly kind: string;
  readonly createdAt: string;
  readonly body: JsonObject;
}

/** Stops a wait; the part of AbortSignal that ports need. */
export type Abort = AbortSignal;

/**
 * Where sessions are kept. Guarantees, proved for every store by the contract suite in `reprise/testing`:
 *
 * - Every key is led by the namespace; nothing crosses it, parts included.
 * - Ranges leave out `after` and include `through`.
 * - What an append returned is in every read that begins later, in every process, also after a crash.
 */
export interface EventStore {
  /**
   * Each request is atomic and judged alone; one refused request does not affect the others. Ids are checked before the
   * condition: a batch that is stored already is answered as known, with the seqs it has. The store assigns seq, turn
   * and digest. Resolves only when the events are durable.
   */
  append(requests: readonly AppendRequest[]): Promise<readonly AppendOutcome[]>;

  /**
   * Writes events of one branch as another store has them: ids, times, turns, salts and digests stay what they are, and
   * what was erased stays erased. They must follow on what the branch holds (`append.conflict`), and each must have the
   * digest it is given with (`event.damaged`). Atomic and durable like an append; repeating it changes nothing. Parts are
   * held as they are given, holes included; whether none is missing is for a verification to say.
   */
  restore(request: RestoreRequest): Promise<RestoreOutcome>;

  /** One branch, with all that decides its views; undefined if the session or branch does not exist. */
  branch(ref: BranchRef): Promise<BranchRecord | undefined>;

  /** Every branch of a session by creation; empty if the session does not exist. */
  branches(ref: SessionRef): Promise<readonly BranchSummary[]>;

  /** Events of a view in view order (or from its end), a page at a time. Holds nothing open between pages. */
  read(ref: SessionRef, view: readonly Segment[], page: PageRequest): Promise<Page>;

  /** Where an event is stored, by id; undefined for ids the session does not have. */
  locate(ref: SessionRef, ids: readonly string[]): Promise<ReadonlyMap<string, Point>>;

  /**
   * For each selected key, the last event in view order that is indexed under it, by rising UTF-8 bytes of the key. The
   * view is given by its segments, or by its point, which saves a question; then it is one state of the branch.
   */
  latest(ref: SessionRef, view: AskedView, select: KeySelector, page: LatestRequest): Promise<LatestPage>;

  /**
   * The parts asked for, and unless `depth` is `asked` everything they refer to, as far as this session holds them;
   * others are absent. An answer is a page: what did not fit is in `rest`, and asking for that comes to an end.
   */
  parts(ref: SessionRef, digests: readonly Digest[], request?: PartsRequest): Promise<PartsPage>;

  /** Wake-ups: yields the head whenever it may have moved past `after`. May merge or repeat; ends when aborted. */
  watch(ref: BranchRef, after: Seq, signal: Abort): AsyncIterable<Seq>;

  /** Makes a session with one empty branch; `session.exists` if there is one. */
  createSession(ref: SessionRef, options: NewSession): Promise<SessionRecord>;

  /**
   * Gives a session another id, at once for everyone; `session.exists` if that is taken. With `replaces`, the session
   * that has it goes in the same moment, as with `deleteSession`, if its branches end in exactly these digests
   * (`append.conflict` otherwise).
   */
  renameSession(ref: SessionRef, request: RenameRequest): Promise<void>;

  /** One session; undefined if it does not exist. */
  session(ref: SessionRef): Promise<SessionRecord | undefined>;

  /** Sessions, last appended to first. */
  sessions(request: SessionsRequest): Promise<SessionsPage>;

  /** Forgets a session and everything only it holds; false if there was none. */
  deleteSession(ref: SessionRef): Promise<boolean>;

  /**
   * Keeps a snapshot. A store that is read-only or busy may leave it out; one made before the last erasure is left out,
   * since it may hold what was erased.
   */
  putSnapshot(ref: SessionRef, snapshot: Snapshot): Promise<void>;

  /** Where snapshots are on a branch at or before a seq, nearest first, without their values. */
  snapshots(ref: BranchRef, key: SnapshotKey, through: Seq): Promise<readonly Omit<Snapshot, 'value'>[]>;

  /** The value of one snapshot; undefined if it is gone. */
  snapshot(ref: BranchRef, key: SnapshotKey, seq: Seq): Promise<Snapshot | undefined>;

  /** Deletes every snapshot of a session. Nothing but time is lost. */
  dropSnapshots(ref: SessionRef): Promise<void>;

  /** Keeps a receipt; the same digest and kind replaces the older one. */
  putReceipt(ref: SessionRef, receipt: Receipt): Promise<void>;

  /** The receipts of a point, by kind. */
  receipts(ref: SessionRef, digest: Digest): Promise<readonly Receipt[]>;

  /** Every receipt of a session, a page at a time, by digest and kind. */
  heldReceipts(ref: SessionRef, request: ReceiptsRequest): Promise<readonly Receipt[]>;

  /** Forgets payloads for good and appends their markers, atomically; overwrites what it can. */
  erase(request: EraseRequest): Promise<readonly AppendOutcome[]>;

  /** Every part digest a session holds, a page at a time, rising: for erasure and verification. */
  heldParts(ref: SessionRef, request: { readonly limit: number; readonly after?: Digest }): Promise<readonly Digest[]>;

  /** Builds the key index of a session anew from the log, and whatever else its reads are found by. */
  reindex(ref: SessionRef): Promise<void>;

  /** What the store is and whether it is sound. */
  health(): Promise<StoreHealth>;

  /** Waits for what was begun and lets go of everything. Calling it twice is harmless. */
  close(): Promise<void>;
}
