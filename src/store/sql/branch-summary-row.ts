import { given } from '../../core/json.ts';
import type { Digest, Point, Seq } from '../../core/point.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';

/** A branch as a listing selects it. */
export type BranchSummaryRow = readonly [
  branch: string,
  parent: string | null,
  parentSeq: Seq | null,
  createdAt: string,
  updatedAt: string,
  bytes: number,
  head: Seq,
  digest: Digest,
];

/** Returns the summary of a row. */
export function branchSummaryOf(row: BranchSummaryRow): BranchSummary {
  const [branch, parent, parentSeq, createdAt, updatedAt, bytes, head, digest] = row;
  return { branch, head, digest, createdAt, updatedAt, bytes, ...given({ parent: parentOf(parent, parentSeq) }) };
}

/** Returns the point a branch was forked at; undefined for the first branch of a session. */
export function parentOf(branch: string | null, seq: Seq | null): Point | undefined {
  return branch === null || seq === null ? undefined : { branch, seq };
}
