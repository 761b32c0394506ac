import { given } from '../../core/json.ts';
import { type Ref, refText } from '../../core/ref.ts';
import type { Marked } from '../../engine/changing/mark.ts';
import type { Erased } from '../../engine/erasing/erase.ts';
import type { Session } from '../../engine/session.ts';
import { branchesOf, ownEvents } from '../branch-tree.ts';
import type { StateRow } from './state-entries.ts';

/** The result of a rewind or redo, as `--json` prints it. */
export interface MarkAnswer extends Marked {
  /** The branch. */
  readonly ref: string;
}

/** The result of an edit or revert, as `--json` prints it. */
export interface EditAnswer extends MarkAnswer {
  /** Seqs that depend on a removed event and stayed. */
  readonly dependents: readonly number[];
}

/** The payloads that an erasure removed or would remove, as `reprise erase --json` prints them. */
export interface EraseAnswer extends Erased {
  readonly ref: string;
  readonly dryRun: boolean;
}

/** A state value that was written, as `reprise set --json` prints it. */
export interface SetAnswer extends StateRow {
  readonly ref: string;
  /** The id of the event. */
  readonly txn: string;
  /** Whether the session was created for it. */
  readonly created: boolean;
}

/** A state key that was deleted, as `reprise delete --json` prints it. */
export interface DeleteAnswer extends StateRow {
  readonly ref: string;
  /** The id of the event; null if there was no such key. */
  readonly txn: string | null;
  readonly deleted: boolean;
}

/** How many events and branches a session has. */
export interface SessionCounts {
  readonly events: number;
  readonly branches: number;
}

/** A session that was deleted, as `reprise delete-session --json` prints it. */
export interface DeleteSessionAnswer extends SessionCounts {
  readonly session: string;
  readonly deleted: true;
}

/** Returns the JSON answer for a marker that was appended. */
export function markAnswer(
  { session, branch }: Ref,
  { marker, undone, restored, dependents }: Marked & { readonly dependents?: readonly number[] },
): MarkAnswer & Partial<EditAnswer> {
  return { ref: refText({ session, branch }), marker, undone, restored, ...given({ dependents }) };
}

/** Counts the events and branches of a session. */
export async function countsOf(session: Session): Promise<SessionCounts> {
  const nodes = await branchesOf(session);
  return { events: nodes.reduce((sum, node) => sum + ownEvents(node), 0), branches: nodes.length };
}

/** A branch that was archived, shown again or deleted, as `reprise branch --json` prints it. */
export interface BranchAnswer {
  readonly ref: string;
  readonly session: string;
  readonly branch: string;
  /** `archive`, `unarchive` or `delete`. */
  readonly action: string;
  /** The events it had; null if it was not deleted. */
  readonly events: number | null;
}
