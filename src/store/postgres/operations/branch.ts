import { given } from '../../../core/json.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import type {
  BranchHead,
  BranchRecord,
  BranchRef,
  BranchSummary,
  SessionRef,
} from '../../../core/store/event-store.ts';
import { type BranchSummaryRow, branchSummaryOf, parentOf } from '../../sql/branch-summary-row.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { findSessionRow } from '../session-row.ts';
import { findBranchOf } from './branch-place.ts';
import { eventAtSql } from './event-at.ts';

type HeadRow = readonly [head: Seq, digest: Digest, epoch: Seq, parent: string | null, parentSeq: Seq | null];

const headSql = `
SELECT b.head, b.digest, b.epoch, p.name, b.parent_seq FROM branches b
LEFT JOIN branches p ON p.namespace_id = $1 AND p.session_id = $2 AND p.id = b.parent_id
WHERE b.namespace_id = $1 AND b.session_id = $2 AND b.name = $3`;

/** Returns where a branch ends; undefined if there is none. */
export async function findHead(queries: Queries, ref: BranchRef): Promise<BranchHead | undefined> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) return undefined;
  const row = await queries.get<HeadRow>(headSql, session.namespaceId, session.id, ref.branch);
  if (row === undefined) return undefined;
  const [head, digest, epoch, parent, parentSeq] = row;
  return { branch: ref.branch, head, digest, epoch, ...given({ parent: parentOf(parent, parentSeq) }) };
}

/** Returns one branch with its markers; undefined if there is none. */
export async function findBranch(
  queries: Queries,
  catalogue: Catalogue,
  ref: BranchRef,
): Promise<BranchRecord | undefined> {
  const found = await findBranchOf(queries, ref);
  if (found === undefined) return undefined;
  const { session, branch } = found;
  const markers = await catalogue.markersOf(queries, session, branch);
  // Reads the time of the head that was read before: the branch may have moved since.
  const [createdAt, updatedAt, parent] = (await queries.get<[string, string | null, string | null]>(
    `SELECT b.created_at, (SELECT time FROM ${eventAtSql}), p.name FROM branches b
     LEFT JOIN branches p ON p.namespace_id = $1 AND p.session_id = $2 AND p.id = b.parent_id
     WHERE b.namespace_id = $1 AND b.session_id = $2 AND b.id = $3`,
    session.namespaceId,
    session.id,
    branch.id,
    branch.head,
  )) ?? ['', null, null];
  const { name, head, digest, epoch, turn } = branch;
  const record = {
    branch: name,
    root: session.root,
    head,
    digest,
    epoch,
    turn,
    createdAt,
    updatedAt: updatedAt ?? createdAt,
    markers,
  };
  return { ...record, ...given({ parent: parentOf(parent, branch.parentSeq) }) };
}

const summariesSql = `
SELECT b.name, p.name, b.parent_seq, b.created_at, b.updated_at, b.event_bytes + b.part_bytes - b.erased_bytes, b.head, b.digest
FROM branches b LEFT JOIN branches p ON p.namespace_id = $1 AND p.session_id = $2 AND p.id = b.parent_id
WHERE b.namespace_id = $1 AND b.session_id = $2 ORDER BY b.id`;

/** Returns every branch of a session by creation. */
export async function listBranches(queries: Queries, ref: SessionRef): Promise<BranchSummary[]> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) return [];
  const rows = await queries.all<BranchSummaryRow>(summariesSql, session.namespaceId, session.id);
  return rows.map(branchSummaryOf);
}
