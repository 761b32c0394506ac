import type { Event, EventDraft } from '../event/event.ts';
import type { EventFilter } from '../event/filter.ts';
import type { JsonObject } from '../json.ts';
import type { Masker } from '../masking/masking.ts';
import type { Point, Seq } from '../point.ts';
import type { PointInput } from '../ref.ts';
import type { Abort, BranchSummary, SessionRecord } from '../store/event-store.ts';
import type { EditOptions } from '../view/edit.ts';

/**
 * The verbs of a session that read and write its log. This part is in core, so that adapters can ask for it: a `Session`
 * of `openReprise` has it.
 */
export interface SessionLog {
  /** The session's id. */
  readonly id: string;

  /**
   * Appends events to a branch (`main` if left out), all or nothing, and returns them as stored.
   *
   * @example
   * ```ts
   * await session.append({ type: 'note.added', agent: 'support', data: { text: 'The customer called.' } });
   * ```
   */
  append(events: EventDraft | readonly EventDraft[], options?: AppendOptions): Promise<readonly Event[]>;

  /**
   * Reads a history again, in order.
   *
   * @example
   * ```ts
   * for await (const { seq, data } of session.replay({ at: 'main@6', filter: { kind: 'tool' } })) console.log(seq, data);
   * ```
   */
  replay(options?: ReplayOptions): Replay;

  /**
   * Makes a branch at a point, with optional edits.
   *
   * @example
   * ```ts
   * const prompt = 'Refund order 7, at most what was paid.';
   * const narrower = await session.fork('main@2', { name: 'narrower', prompt, reason: 'it guessed the amount' });
   * ```
   */
  fork(point: PointInput, options?: ForkOptions): Promise<ForkedBranch>;

  /**
   * Returns every branch, as the tree they grew into.
   *
   * @example
   * ```ts
   * const { branch: root, children } = await session.tree();
   * console.log(root, children.map(({ branch: name, reason }) => `${name}: ${reason}`)); // main [ 'careful: null' ]
   * ```
   */
  tree(): Promise<BranchNode>;

  /**
   * Makes a masker as the recorders of this session use it, for what you write without one: `append`, `fork` and state
   * store what they are given. It masks nothing if the store was opened with `masking: false`. A masker masks the values
   * it has masked before wherever they stand, so use one for what belongs together.
   *
   * @example
   * ```ts
   * const mask = await session.masker();
   * await session.append(mask({ type: 'note.added', data: { text: 'The key is sk-proj-abcDEF1234567890abcDEF1234.' } }));
   * ```
   */
  masker(): Promise<Masker>;

  /**
   * Deletes the whole session. `confirm` must be its id, because this cannot be undone.
   *
   * @example
   * ```ts
   * await session.delete({ confirm: 'refund' });
   * ```
   */
  delete(options: { readonly confirm: string }): Promise<void>;
}

/** Opens sessions by id and lists them. `openReprise` returns one. */
export interface SessionSource {
  /** Opens a session; `session.not-found` unless it exists or `create` is set. */
  session(id: string, options?: { readonly create?: boolean }): Promise<SessionLog>;
  /** Lists the sessions, last appended to first. */
  sessions(): AsyncIterable<Pick<SessionRecord, 'session'>>;
}

/** Where and under which condition to append. */
export interface AppendOptions {
  /** `main` if left out. */
  readonly branch?: string;
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
  /** Up to where; the head of `main` if left out. */
  readonly at?: PointInput;
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
  readonly filter?: EventFilter;
  /** `backward` returns the last event first. */
  readonly direction?: 'forward' | 'backward';
  /** Events at most, counted after filtering. */
  readonly limit?: number;
  /** Continues with events that any process appends later, until `signal` is aborted or the loop ends. */
  readonly follow?: boolean;
  readonly signal?: Abort;
}

/** A history being read: an async iterator that holds one page. Leaving the loop releases everything. */
export interface Replay extends AsyncIterableIterator<Event, void, undefined> {
  return(): Promise<IteratorResult<Event, void>>;
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

/** A branch by its name, with where it was forked and how far it had come. */
export interface ForkedBranch {
  readonly name: string;
  /** The point it was forked at; undefined for the branch the session began with. */
  readonly parent: Point | undefined;
  /** Its last seq when this object was made. */
  readonly head: Seq;
  /** Seqs that its edits left in place although they depend on events that the edits took out. */
  readonly dependents: readonly Seq[];
}

/** A branch and the branches forked from it. */
export interface BranchNode extends Omit<BranchSummary, 'parent'> {
  readonly parent: Point | null;
  /** Why it was forked, as its author wrote it. */
  readonly reason: string | null;
  readonly children: readonly BranchNode[];
}
