import { given } from '../../../core/json.ts';
import type {
  BranchHead,
  BranchRecord,
  BranchRef,
  BranchSummary,
  SessionRef,
} from '../../../core/store/event-store.ts';
import { utf8Length } from '../../../core/utf8.ts';
import { findHeld, type HeldBranch, type HeldSession, type Shelf } from '../shelf.ts';

/** Returns where a branch ends; undefined if there is none. */
export function findHead(shelf: Shelf, ref: BranchRef): BranchHead | undefined {
  const branch = findHeld(shelf, ref)?.branches.get(ref.branch);
  return branch === undefined ? undefined : headOf(branch);
}

function headOf({ name, parent, state }: HeldBranch): BranchHead {
  const { history, digest, epoch } = state;
  return { branch: name, ...given({ parent }), head: history.head, digest, epoch };
}

/** Returns one branch with its markers; undefined if there is none. */
export function findBranch(shelf: Shelf, ref: BranchRef): BranchRecord | undefined {
  const branch = findHeld(shelf, ref)?.branches.get(ref.branch);
  if (branch === undefined) return undefined;
  const { history, turn } = branch.state;
  const { root, markers } = history;
  return {
    ...headOf(branch),
    root,
    turn,
    createdAt: branch.createdAt,
    updatedAt: updatedAt(branch),
    markers,
  };
}

/** Returns every branch of a session by creation. */
export function listBranches(shelf: Shelf, ref: SessionRef): BranchSummary[] {
  const session = findHeld(shelf, ref);
  if (session === undefined) return [];
  return [...session.branches.values()].map((branch) => ({
    branch: branch.name,
    ...given({ parent: branch.parent }),
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

function updatedAt(branch: HeldBranch): string {
  return branch.events.at(-1)?.time ?? branch.createdAt;
}
