import type { Digest, Seq } from '../../../core/point.ts';
import type { BranchRecord, BranchRef, BranchSummary, SessionRef } from '../../../core/store/event-store.ts';
import { arrayLiteral } from '../array-literal.ts';
import { type Catalogue, findBranchRows, findSessionRow } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { eventAtSql } from './event-at.ts';

/** One branch with all that decides its views; undefined if there is none. */
export async function findBranch(
  queries: Queries,
  catalogue: Catalogue,
  ref: BranchRef,
): Promise<BranchRecord | undefined> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) return undefined;
  const [branch] = await findBranchRows(queries, session, arrayLiteral([ref.branch]));
  if (branch === undefined) return undefined;
  const markers = await catalogue.markersOf(queries, session, branch);
  // The time is that of the head that was read, also if the branch has moved on since.
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
  return parent === null ? record : { ...record, parent: { branch: parent, seq: branch.parentSeq as Seq } };
}

type SummaryRow = readonly [
  branch: string,
  parent: string | null,
  parentSeq: Seq | null,
  createdAt: string,
  updatedAt: string,
  bytes: number,
  head: Seq,
  digest: Digest,
];

const summariesSql = `
SELECT b.name, p.name, b.parent_seq, b.created_at, b.updated_at, b.event_bytes + b.part_bytes - b.erased_bytes, b.head, b.digest
FROM branches b LEFT JOIN branches p ON p.namespace_id = $1 AND p.session_id = $2 AND p.id = b.parent_id
WHERE b.namespace_id = $1 AND b.session_id = $2 ORDER BY b.id`;

/** Every branch of a session by creation. */
export async function listBranches(queries: Queries, ref: SessionRef): Promise<BranchSummary[]> {
  const session = await findSessionRow(queries, ref);
  if (session === undefined) return [];
  const rows = await queries.all<SummaryRow>(summariesSql, session.namespaceId, session.id);
  return rows.map(([branch, parent, parentSeq, createdAt, updatedAt, bytes, head, digest]) => {
    const summary = { branch, head, digest, createdAt, updatedAt, bytes };
    return parent === null ? summary : { ...summary, parent: { branch: parent, seq: parentSeq as Seq } };
  });
}
