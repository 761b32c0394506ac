import { checkId } from '../core/id.ts';
import { mainBranch, type PointInput } from '../core/ref.ts';
import type { BranchNode, ForkOptions } from '../core/session/session-log.ts';
import type { BranchSummary } from '../core/store/branch-record.ts';
import { Branch, type ForkedBranch } from './branch.ts';
import { type BundleOptions, type ExportedBundle, writeBundle } from './bundling/write-bundle.ts';
import { type ArchiveOptions, archiveBranch } from './changing/archive-branch.ts';
import { type DeleteBranchOptions, type DeletedBranch, deleteBranch } from './changing/delete-branch.ts';
import { deleteSession } from './changing/delete-session.ts';
import { type Engine, sessionRef } from './context/engine.ts';
import { type Erased, type EraseOptions, erase } from './erasing/erase.ts';
import { sessionRecord } from './history/place.ts';
import { placeInSession, Where } from './history/where.ts';
import { Look } from './look.ts';
import { type SessionJson, sessionJson } from './looking/session-json.ts';
import { branchTree } from './looking/tree.ts';
import { type Repaired, repair } from './proving/repair.ts';

let engineHeld: (session: Session) => Engine;

/** Returns the engine of a session, for readings that look at one place in several ways. */
export function engineOf(session: Session): Engine {
  return engineHeld(session);
}

/**
 * One tree of history: all branches grown from one beginning. A session acts as its `main` branch, because that is what
 * people type first. A point is a string such as `main@12`, `@turn:3` or `narrower`, or
 * `{ branch?, seq | turn | story | run | time }`; without a branch it is on `main`.
 */
export class Session extends Branch {
  readonly #engine: Engine;

  static {
    engineHeld = (session) => session.#engine;
  }

  constructor(engine: Engine, id: string) {
    super(engine, id, mainBranch);
    this.#engine = engine;
  }

  /** The session's id. */
  get id(): string {
    return this.sessionId;
  }

  /**
   * Returns a look at a point of the session. It reads nothing: the look finds its place at its first verb.
   *
   * @example
   * ```ts
   * const { messages } = await session.at('careful@3').fold(conversation);
   * const before = session.at({ branch: 'careful', turn: 0 });
   * ```
   */
  override at(point: PointInput | number): Look {
    if (typeof point === 'number') return super.at(point);
    return new Look(Where.at(this.#engine, placeInSession(this.id, point)));
  }

  /**
   * Returns a branch by name. It reads nothing: its first verb fails with `branch.not-found` if there is none.
   *
   * @example
   * ```ts
   * const { seq } = await session.branch('careful').locate(); // its head
   * ```
   */
  branch(name: string): Branch {
    return new Branch(this.#engine, this.id, checkId('branch', name));
  }

  /**
   * Makes a branch, at a point or at the head of `main`, with optional edits. `session.at(point).fork(…)` is the long form.
   *
   * @example
   * ```ts
   * const prompt = 'Refund order 7, at most what was paid.';
   * const narrower = await session.fork('main@2', { name: 'narrower', prompt, reason: 'it guessed the amount' });
   * ```
   */
  override fork(options?: ForkOptions): Promise<ForkedBranch>;
  override fork(point: string | number, options?: ForkOptions): Promise<ForkedBranch>;
  override async fork(first: string | number | ForkOptions = {}, second: ForkOptions = {}): Promise<ForkedBranch> {
    return typeof first === 'object' ? super.fork(first) : this.at(first).fork(second);
  }

  /**
   * Returns every branch, the first one first: its head, where it was forked, and when it was written to.
   *
   * @example
   * ```ts
   * for (const { branch: name, head, parent } of await session.branches()) console.log(name, head, parent);
   * ```
   */
  async branches(): Promise<readonly BranchSummary[]> {
    const branches = await this.#engine.store.branches(sessionRef(this.#engine, this.id));
    if (branches.length === 0) await sessionRecord(this.#engine, this.id);
    return branches;
  }

  /**
   * Returns every branch, as the tree they grew into.
   *
   * @example
   * ```ts
   * const { branch: root, children } = await session.tree();
   * console.log(root, children.map(({ branch: name, reason }) => `${name}: ${reason}`)); // main [ 'careful: null' ]
   * ```
   */
  tree(): Promise<BranchNode> {
    return branchTree(this.#engine, this.id);
  }

  /**
   * Erases the payload of the event at a point for good, wherever the session has the same content.
   *
   * @example
   * ```ts
   * const { events } = await session.erase('main@2', { reason: 'personal data' });
   * ```
   */
  async erase(point: PointInput, options: EraseOptions = {}): Promise<Erased> {
    const where = Where.at(this.#engine, placeInSession(this.id, point));
    return erase(this.#engine, await where.event('erase'), options);
  }

  /**
   * Hides a branch from listings, or shows it again with `undo`. Nothing is removed.
   *
   * @example
   * ```ts
   * await session.archiveBranch(branch.name, { reason: 'it led nowhere' });
   * ```
   */
  archiveBranch(branch: string, options: ArchiveOptions = {}): Promise<void> {
    return archiveBranch(this.#engine, this.id, branch, options);
  }

  /**
   * Deletes a branch that nothing grows from, for good, and records on the first branch that it did.
   *
   * @example
   * ```ts
   * const { name } = await session.fork('main@2');
   * await session.deleteBranch(name, { confirm: name });
   * ```
   */
  deleteBranch(branch: string, options: DeleteBranchOptions): Promise<DeletedBranch> {
    return deleteBranch(this.#engine, this.id, branch, options);
  }

  /**
   * Rebuilds what is derived from the log: the key index, the clocks, and snapshots, which the next looks make again.
   * Changes no event. Returns what was wrong.
   *
   * @example
   * ```ts
   * const { count } = await session.repair(); // 0: nothing was wrong
   * ```
   */
  repair(): Promise<Repaired> {
    return repair(this.#engine, this.id);
  }

  /**
   * Deletes every snapshot: nothing but time is lost.
   *
   * @example
   * ```ts
   * await session.dropSnapshots();
   * ```
   */
  dropSnapshots(): Promise<void> {
    return this.#engine.store.dropSnapshots(sessionRef(this.#engine, this.id));
  }

  /**
   * Writes the whole session as a bundle, with all its branches. A look or a branch writes only its own history.
   *
   * @example
   * ```ts
   * const { manifest, events } = await session.exportBundle({ to: 'refund.tgz' });
   * console.log(manifest.root, events);
   * await using bundle = await openReprise('bundle:refund.tgz'); // a store to read, with one session
   * ```
   */
  override async exportBundle(options: BundleOptions): Promise<ExportedBundle> {
    const ref = { session: this.id, branch: mainBranch, at: { kind: 'head' } } as const;
    return writeBundle(this.#engine, ref, true, options);
  }

  /**
   * Returns the session as one JSON value: every branch with its lineage and its own events, parts inlined.
   *
   * @example
   * ```ts
   * for (const { branch: name, events } of (await session.toJSON()).branches) console.log(name, events.length);
   * ```
   */
  toJSON(): Promise<SessionJson> {
    return sessionJson(this.#engine, this.id);
  }

  /**
   * Deletes the whole session. `confirm` must be its id, because this cannot be undone.
   *
   * @example
   * ```ts
   * await session.delete({ confirm: 'refund' });
   * ```
   */
  delete(options: { readonly confirm: string }): Promise<void> {
    return deleteSession(this.#engine, this.id, options?.confirm);
  }
}
