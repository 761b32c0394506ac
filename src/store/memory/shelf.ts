import { type Clock, clockAtStart, clockWith } from '../../core/event/clock.ts';
import { sortKeys } from '../../core/event/keys.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import { beginning, type Digest, type Point, type Seq } from '../../core/point.ts';
import type { PlannedEvent } from '../../core/store/append.ts';
import { type BranchState, epochOf } from '../../core/store/branch-state.ts';
import type { Receipt, SessionRef, Snapshot, StoredEvent } from '../../core/store/event-store.ts';
import { sessionNotFound } from '../../core/store/session-request.ts';
import { branchNotFound } from '../../core/store/store-state.ts';
import { lastOf, viewAt } from '../../core/view/view.ts';

/** An event as the store keeps it, with everything a proof needs. */
export type HeldEvent = Required<StoredEvent>;

/** A branch as the store keeps it. */
export interface HeldBranch {
  readonly name: string;
  readonly parent: Point | undefined;
  readonly createdAt: string;
  /** The events appended after the fork, in order. */
  readonly events: HeldEvent[];
  /** The clocks of the branch after each of them. */
  readonly clocks: Clock[];
  /** The parts that its appends brought to the session and that the session still has. */
  readonly parts: Set<Digest>;
  /** Seqs by key, rising. */
  readonly keys: Map<string, Seq[]>;
  /** The keys in order; undefined after a new key, until the next reader sorts them. */
  sortedKeys: readonly string[] | undefined;
  state: BranchState;
}

/** A session as the store keeps it. */
export interface HeldSession extends SessionRef {
  readonly seed: string;
  readonly genesis: Digest;
  readonly root: string;
  readonly createdAt: string;
  erasures: number;
  /** Rises whenever the session becomes the one last appended to. */
  touched: number;
  updatedAt: string;
  readonly branches: Map<string, HeldBranch>;
  readonly places: Map<string, { readonly branch: HeldBranch; readonly seq: Seq }>;
  readonly parts: Map<Digest, PartInput>;
  /** Snapshots by branch, and by key and seq. */
  readonly snapshots: Map<string, Map<string, Snapshot>>;
  readonly receipts: Map<string, Receipt>;
}

/** Everything a memory store keeps. */
export interface Shelf {
  readonly namespaces: Map<string, Map<string, HeldSession>>;
  touches: number;
}

/** Returns one session; undefined if it does not exist. */
export function findHeld(shelf: Shelf, { namespace, session }: SessionRef): HeldSession | undefined {
  return shelf.namespaces.get(namespace)?.get(session);
}

/** Returns one session, or throws `session.not-found`. */
export function heldSession(shelf: Shelf, ref: SessionRef): HeldSession {
  const session = findHeld(shelf, ref);
  if (session !== undefined) return session;
  throw sessionNotFound(ref);
}

/** Returns one branch, or throws `branch.not-found`. */
export function heldBranch(session: HeldSession, name: string): HeldBranch {
  const branch = session.branches.get(name);
  if (branch !== undefined) return branch;
  throw branchNotFound({ session: session.session, branch: name });
}

/** Returns the event at a seq that the branch itself stores. */
export function eventAt(branch: HeldBranch, seq: Seq): HeldEvent | undefined {
  return branch.events[seq - firstSeq(branch)];
}

/** Returns the seq of the first event a branch stores, or would store. */
export function firstSeq(branch: HeldBranch): number {
  return (branch.parent?.seq ?? 0) + 1;
}

/** Returns an event of a plan as the store keeps it. */
export function heldEvent({ keys: _keys, ...event }: PlannedEvent): HeldEvent {
  return { ...event, dataDigest: null, erased: false };
}

/** Keeps an event at the end of a branch. */
export function addEvent(branch: HeldBranch, event: HeldEvent): void {
  branch.events.push(event);
  branch.clocks.push(clockWith(branch.clocks.at(-1) ?? clockAtStart, event));
}

/** Indexes an event under a key; repeating it changes nothing. */
export function indexEvent(branch: HeldBranch, key: string, seq: Seq): void {
  const seqs = branch.keys.get(key);
  if (seqs === undefined) {
    branch.keys.set(key, [seq]);
    branch.sortedKeys = undefined;
  } else if ((seqs.at(-1) as Seq) < seq) seqs.push(seq);
  else if (!seqs.includes(seq)) {
    seqs.push(seq);
    seqs.sort((a, b) => a - b);
  }
}

/** Removes an event from the index of these keys. */
export function unindexEvent(branch: HeldBranch, keys: readonly string[], seq: Seq): void {
  for (const key of keys) {
    const seqs = (branch.keys.get(key) ?? []).filter((held) => held !== seq);
    if (seqs.length > 0) branch.keys.set(key, seqs);
    else if (branch.keys.delete(key)) branch.sortedKeys = undefined;
  }
}

/** Returns the keys of a branch by their UTF-8 bytes. */
export function sortedKeysOf(branch: HeldBranch): readonly string[] {
  branch.sortedKeys ??= sortKeys(branch.keys.keys());
  return branch.sortedKeys;
}

/** Returns the turn of a stored event. */
export function turnAt(session: HeldSession, name: string, seq: Seq): number {
  const branch = session.branches.get(name);
  return branch === undefined ? 0 : (eventAt(branch, seq)?.turn ?? 0);
}

/** Returns the state at a seq that the branch itself stores; undefined if it does not store it. */
export function stateAt(session: HeldSession, { branch: name, seq }: Point): BranchState | undefined {
  const branch = session.branches.get(name);
  if (branch === undefined) return undefined;
  const event = eventAt(branch, seq);
  const isBeginning = branch.parent === undefined && seq === beginning;
  if (event === undefined && !isBeginning) return undefined;
  const markers = branch.state.history.markers.filter((marker) => marker.seq <= seq);
  const history = { root: session.root, markers, head: seq };
  const last = lastOf(viewAt(history, seq));
  const turn = last === undefined ? 0 : (last.carriedTurn ?? turnAt(session, last.branch, last.seq));
  return {
    branch: name,
    history,
    digest: event?.digest ?? session.genesis,
    epoch: epochOf(markers),
    turn,
  };
}
