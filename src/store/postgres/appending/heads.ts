import type { Clock } from '../../../core/event/clock.ts';
import type { Point } from '../../../core/point.ts';
import type { BranchState } from '../../../core/store/branch-state.ts';
import type { SessionRef } from '../../../core/store/event-store.ts';
import type { SessionKey } from '../session-row.ts';

/** A branch whose head this process believes it knows. */
export interface KnownBranch {
  readonly session: SessionKey;
  readonly id: number;
  readonly state: BranchState;
  readonly eventBytes: number;
  readonly clock: Clock;
}

/** Where an event of this process is. */
export type KnownPlace = Point & { readonly turn: number };

const branchesHeldMax = 10_000;
const idsHeldMax = 20_000;
/** How many appends go the careful way, after a different process wrote to a session, before the next guess. */
const careMin = 4;
const careMax = 256;

/**
 * The heads of branches as this process last wrote them, or is about to. A different process may have moved them since,
 * so the server must compare them when it writes.
 */
export class Heads {
  readonly #branches = new Map<string, KnownBranch>();
  readonly #care = new Map<number, { times: number; left: number }>();
  #ids = new Map<number, Map<string, KnownPlace>>();
  #olderIds: ReadonlyMap<number, ReadonlyMap<string, KnownPlace>> = new Map();
  #idCount = 0;
  /** Events on their way: the server has not confirmed them yet. */
  readonly #sent = new Map<number, Map<string, KnownPlace>>();

  find(ref: SessionRef, branch: string): KnownBranch | undefined {
    return this.#branches.get(placeOf(ref, branch));
  }

  /** Notes where a branch is after a commit of the careful way. */
  remember(ref: SessionRef, known: KnownBranch): void {
    const care = this.#care.get(known.session.id);
    if (care !== undefined && care.left > 0) {
      care.left--;
      return;
    }
    this.advance(ref, known);
  }

  /** Notes where a branch will be. */
  advance(ref: SessionRef, known: KnownBranch): void {
    if (this.#branches.size >= branchesHeldMax) this.#branches.clear();
    this.#branches.set(placeOf(ref, known.state.branch), known);
  }

  /**
   * Returns where an event of a session is, if this process wrote it lately. An event on its way counts only for
   * appends to the same branch: the server compares only that head, so others would not notice if it was not written.
   */
  placeOf({ id: session }: SessionKey, id: string, branch: string): KnownPlace | undefined {
    const written = this.#ids.get(session)?.get(id) ?? this.#olderIds.get(session)?.get(id);
    if (written !== undefined) return written;
    const sent = this.#sent.get(session)?.get(id);
    return sent?.branch === branch ? sent : undefined;
  }

  /** Notes events of a session that are on their way. */
  addSent(session: number, places: ReadonlyMap<string, KnownPlace>): void {
    const held = this.#sent.get(session) ?? new Map<string, KnownPlace>();
    this.#sent.set(session, held);
    for (const [id, place] of places) held.set(id, place);
  }

  /** Notes that events of a session which were on their way are written. */
  addWritten(session: number, places: ReadonlyMap<string, KnownPlace>): void {
    const sent = this.#sent.get(session);
    for (const id of places.keys()) sent?.delete(id);
    if (sent?.size === 0) this.#sent.delete(session);
    if (this.#idCount >= idsHeldMax) {
      this.#olderIds = this.#ids;
      this.#ids = new Map();
      this.#idCount = 0;
    }
    const held = this.#ids.get(session) ?? new Map<string, KnownPlace>();
    this.#ids.set(session, held);
    for (const [id, { branch, seq, turn }] of places) held.set(id, { branch, seq, turn });
    this.#idCount += places.size;
  }

  /** Notes that the belief about these sessions was right. */
  confirm(sessions: Iterable<SessionKey>): void {
    if (this.#care.size > 0) for (const { id } of sessions) this.#care.delete(id);
  }

  /** Notes that the belief about these sessions was wrong, since others write to them. Forgets everything. */
  mistrust(sessions: Iterable<SessionKey>): void {
    this.forget();
    if (this.#care.size >= branchesHeldMax) this.#care.clear();
    for (const { id } of sessions) {
      const times = Math.min(careMax, (this.#care.get(id)?.times ?? careMin / 2) * 2);
      this.#care.set(id, { times, left: times });
    }
  }

  /** Forgets everything, since an append on its way may not have been written. */
  forget(): void {
    this.#branches.clear();
    this.#ids = new Map();
    this.#olderIds = new Map();
    this.#idCount = 0;
    this.#sent.clear();
  }
}

// Names have no control characters, so a line break cannot be part of one.
function placeOf({ namespace, session }: SessionRef, branch: string): string {
  return `${namespace}\n${session}\n${branch}`;
}
