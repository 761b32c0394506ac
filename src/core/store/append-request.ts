import type { RepriseError } from '../error.ts';
import type { PartInput } from '../parts/parts.ts';
import type { Digest, Point, Seq } from '../point.ts';
import type { SessionRef } from './session-ref.ts';

/** An event on its way to the store: a checked draft whose data is encoded. */
export interface EventInput {
  readonly id: string;
  readonly time: string;
  readonly type: string;
  readonly version: number;
  readonly agent?: string;
  readonly run?: string;
  /** If left out, the store takes the turn of the cause, or else of the last event in the view. */
  readonly turn?: number;
  readonly cause?: string;
  /** The skeleton: canonical JSON of the data with part references in it. */
  readonly data: string;
  /** The keys to index the event under: `keysOf` of its data, or of the data of the event it carries. */
  readonly keys: readonly string[];
}

/** The branch that an append writes to. */
export type AppendTarget =
  | { readonly kind: 'branch'; readonly branch: string }
  /** A new branch: the first event must be `branch.forked`. `parent` is the branch that stores the event at that seq. */
  | { readonly kind: 'fork'; readonly branch: string; readonly parent: Point };

/** A condition that must be met when an append is written. */
export type Condition =
  /** The head is at this seq. */
  | { readonly kind: 'head'; readonly seq: Seq }
  /** Nothing indexed under these keys or prefixes was appended after `since`; a structural event changes every key. */
  | UnchangedCondition
  /** Always met: for recorders, which only add. */
  | { readonly kind: 'any' };

/** Met as long as nothing indexed under these keys or prefixes was appended after `since`. */
export interface UnchangedCondition {
  readonly kind: 'unchanged';
  readonly since: Seq;
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
}

/** One atomic write. */
export interface AppendRequest extends SessionRef {
  readonly target: AppendTarget;
  readonly events: readonly EventInput[];
  /** Parts the events refer to that the session may not have yet. */
  readonly parts: readonly PartInput[];
  readonly condition: Condition;
  /** The epoch in which the writer started; in a later one the append fails with `branch.rewound`. */
  readonly epoch?: Seq;
}

/** One event as an append stored it. */
export interface Appended {
  readonly id: string;
  readonly seq: Seq;
  readonly turn: number;
  readonly causeSeq?: Seq;
  readonly digest: Digest;
}

/** The outcome of one append request. */
export type AppendOutcome =
  | { readonly ok: true; readonly known: boolean; readonly branch: string; readonly events: readonly Appended[] }
  | { readonly ok: false; readonly error: RepriseError };
