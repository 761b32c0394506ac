import type { Event, EventDraft } from '../event/event.ts';
import type { EventFilter } from '../event/filter.ts';
import type { JsonObject } from '../json.ts';
import type { Masker } from '../masking/masking.ts';
import type { Point } from '../point.ts';
import type { Abort, BranchSummary, SessionRecord } from '../store/event-store.ts';
import type { EditOptions } from '../view/edit.ts';

/**
 * The verbs of a branch that read and write its log. This part is in core, so that adapters can ask for it: a `Branch` of
 * `openReprise` has it.
 */
export interface BranchLog {
  /** The name of the branch. */
  readonly name: string;
  append(events: EventDraft | readonly EventDraft[], options?: AppendOptions): Promise<readonly Event[]>;
  replay(options?: ReplayOptions): Replay;
  fork(options?: ForkOptions): Promise<BranchLog>;
  /** Returns the branch as it was at a seq. */
  at(seq: number): Pick<BranchLog, 'replay' | 'fork'>;
}

/** The verbs of a session that an adapter needs: a `Session` of `openReprise` has them. */
export interface SessionLog {
  /** The session's id. */
  readonly id: string;
  branch(name: string): BranchLog;
  tree(): Promise<BranchNode>;
  masker(): Promise<Masker>;
  delete(options: { readonly confirm: string }): Promise<void>;
}

/** Opens sessions by id and lists them. `openReprise` returns one. */
export interface SessionSource {
  /** Opens a session; `session.not-found` unless it exists or `create` is set. */
  session(id: string, options?: { readonly create?: boolean }): Promise<SessionLog>;
  /** Lists the sessions, last appended to first. */
  sessions(): AsyncIterable<Pick<SessionRecord, 'session'>>;
}

/** Under which condition to append. */
export interface AppendOptions {
  /** Only if the head is at this seq. */
  readonly head?: number;
  /** Only if nothing indexed under these keys or prefixes was appended after `since`. */
  readonly unchanged?: {
    readonly since: number;
    readonly keys?: readonly string[];
    readonly prefixes?: readonly string[];
  };
  /** Only while the branch has not been rewound since this epoch. */
  readonly epoch?: number;
  /** Stored events whose lists and bodies these continue, so that what a different process wrote is not stored again. */
  readonly continues?: readonly { readonly branch: string; readonly seq: number }[];
}

/** Which events to replay, and how. */
export interface ReplayOptions {
  /** `view` (the default) is the effective history; `raw` is every stored event that leads to the point. */
  readonly history?: 'view' | 'raw';
  /** Seqs after this one. */
  readonly after?: number;
  /** Seqs up to and including this one. */
  readonly through?: number;
  /** Not before this time. */
  readonly since?: string;
  /** Not after this time. */
  readonly until?: string;
  /** Only events of these types: short for a filter of types. They have the data of their types. */
  readonly types?: readonly string[];
  readonly filter?: EventFilter;
  /** `backward` returns the last event first. */
  readonly direction?: 'forward' | 'backward';
  /** Events at most, counted after filtering. */
  readonly limit?: number;
  readonly signal?: Abort;
}

/** Which events of a branch to replay: those that come, too. */
export interface FollowOptions extends ReplayOptions {
  /** Continues with events that any process appends later, until `signal` is aborted or the loop ends. */
  readonly follow?: boolean;
}

/** A history being read: an async iterator that keeps one page in memory. Leaving the loop releases everything. */
export interface Replay<Item = Event> extends AsyncIterableIterator<Item, void, undefined> {
  return(): Promise<IteratorResult<Item, void>>;
}

/** How to fork. */
export interface ForkOptions extends EditOptions {
  /** The new branch; a free name is chosen if left out. */
  readonly name?: string;
  readonly reason?: string;
  /** Who forks. */
  readonly agent?: string;
  /** Overlays the source's metadata. */
  readonly metadata?: JsonObject;
}

/** A branch and the branches forked from it. */
export interface BranchNode extends Omit<BranchSummary, 'parent'> {
  readonly parent: Point | null;
  /** Why it was forked, as its author wrote it. */
  readonly reason: string | null;
  readonly children: readonly BranchNode[];
}
