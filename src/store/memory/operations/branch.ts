import { given } from '../../../core/json.ts';
import type { BranchRecord, BranchRef, BranchSummary, SessionRef } from '../../../core/store/event-store.ts';
import { utf8Length } from '../../../core/utf8.ts';
import { findHeld, type HeldBranch, type HeldSession, type Shelf } from '../shelf.ts';

/** One branch with all that decides its views; undefined if there is none. */
export function findBranch(shelf: Shelf, ref: BranchRef): BranchRecord | undefined {
  const branch = findHeld(shelf, ref)?.branches.get(ref.branch);
  if (branch === undefined) return undefined;
  const { history, digest, epoch, turn } = branch.state;
  const { root, head, markers } = history;
  return {
    branch: branch.name,
    ...parentOf(branch),
    root,
    head,
    digest,
    epoch,
    turn,
    createdAt: branch.createdAt,
    updatedAt: updatedAt(branch),
    markers,
  };
}

/** Every branch of a session by creation. */
export function listBranches(shelf: Shelf, ref: SessionRef): BranchSummary[] {
  const session = findHeld(shelf, ref);
  if (session === undefined) return [];
  return [...session.branches.values()].map((branch) => ({
    branch: branch.name,
    ...parentOf(branch),
    head: branch.state.history.head,
    digest: branch.state.digest,
    createdAt: branch.createdAt,
    updatedAt: updatedAt(branch),
    bytes: bytesOf(session, branch),
  }));
}

function bytesOf(session: HeldSession, { events, parts }: HeldBranch): number {
  let bytes = 0;
  for (const event of events) bytes += utf8Length(event.data ?? '');
  for (const digest of parts) bytes += utf8Length(session.parts.get(digest)?.text ?? '');
  return bytes;
}

function parentOf({ parent }: HeldBranch): Pick<BranchRecord, 'parent'> {
  return given({ parent });
}

function updatedAt(branch: HeldBranch): string {
  return branch.events.at(-1)?.time ?? branch.createdAt;
}
