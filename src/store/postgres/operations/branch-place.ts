import { RepriseError } from '../../../core/error.ts';
import type { BranchRef, SessionRef } from '../../../core/store/event-store.ts';
import { sessionNotFound } from '../../../core/store/session-request.ts';
import type { Segment } from '../../../core/view/view.ts';
import { arrayLiteral } from '../array-literal.ts';
import { type BranchRow, findBranchRows, findSessionRow, type SessionKey, type SessionRow } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import type { BranchIds } from './read.ts';

/** The key of a session, or `session.not-found`. */
export async function sessionOf(queries: Queries, ref: SessionRef): Promise<SessionKey> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) throw sessionNotFound(ref);
  return session;
}

/** A branch and its session as stored. */
export interface BranchPlace {
  readonly session: SessionRow;
  readonly branch: BranchRow;
}

/** One branch and its session; undefined if either does not exist. */
export async function findBranchOf(queries: Queries, ref: BranchRef): Promise<BranchPlace | undefined> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) return undefined;
  const [branch] = await findBranchRows(queries, session, arrayLiteral([ref.branch]));
  return branch === undefined ? undefined : { session, branch };
}

/** One branch and its session, or the error that says which is missing. */
export async function branchOf(queries: Queries, ref: BranchRef): Promise<BranchPlace> {
  const place = await findBranchOf(queries, ref);
  if (place !== undefined) return place;
  await sessionOf(queries, ref);
  throw new RepriseError('branch.not-found', `Cannot find branch "${ref.branch}" in session "${ref.session}"`, {
    details: { branch: ref.branch },
  });
}

/** The numbers of the branches that a view names. */
export async function branchIds(queries: Queries, session: SessionKey, view: readonly Segment[]): Promise<BranchIds> {
  const names = [...new Set(view.map((segment) => segment.branch))];
  const rows = await findBranchRows(queries, session, arrayLiteral(names));
  return new Map(rows.map((row) => [row.name, row.id]));
}
