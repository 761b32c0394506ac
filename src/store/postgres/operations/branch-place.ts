import type { BranchRef, SessionRef } from '../../../core/store/event-store.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import { branchNotFound } from '../../../core/store/store-state.ts';
import type { Segment } from '../../../core/view/view.ts';
import { arrayLiteral } from '../array-literal.ts';
import { type BranchRow, findBranchRows } from '../branch-row.ts';
import type { Queries } from '../connection.ts';
import { findSessionRow, type SessionKey, type SessionRow } from '../session-row.ts';
import type { BranchIds } from './read.ts';

/** Returns the key of a session, or throws `session.not-found`. */
export async function sessionOf(queries: Queries, ref: SessionRef): Promise<SessionKey> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) throw sessionNotFound(ref);
  return session;
}

/** A branch and its session as stored. */
interface FoundBranch {
  readonly session: SessionRow;
  readonly branch: BranchRow;
}

/** Returns one branch and its session; undefined if either does not exist. */
export async function findBranchOf(queries: Queries, ref: BranchRef): Promise<FoundBranch | undefined> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) return undefined;
  const [branch] = await findBranchRows(queries, session, arrayLiteral([ref.branch]));
  return branch === undefined ? undefined : { session, branch };
}

/** Returns one branch and its session, or throws an error that says which is missing. */
export async function branchOf(queries: Queries, ref: BranchRef): Promise<FoundBranch> {
  const found = await findBranchOf(queries, ref);
  if (found !== undefined) return found;
  await sessionOf(queries, ref);
  throw branchNotFound(ref);
}

/** Returns the numbers of the branches that a view names. */
export async function branchIds(queries: Queries, session: SessionKey, view: readonly Segment[]): Promise<BranchIds> {
  const names = [...new Set(view.map((segment) => segment.branch))];
  const rows = await findBranchRows(queries, session, arrayLiteral(names));
  return new Map(rows.map((row) => [row.name, row.id]));
}
