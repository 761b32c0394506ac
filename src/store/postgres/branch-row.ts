import type { Clock } from '../../core/event/clock.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { Queries } from './connection.ts';
import type { SessionKey } from './session-row.ts';

/** A branch as stored. */
export interface BranchRow {
  readonly id: number;
  readonly name: string;
  readonly parentId: number | null;
  readonly parentSeq: Seq | null;
  readonly depth: number;
  readonly head: Seq;
  readonly digest: Digest;
  readonly turn: number;
  readonly epoch: Seq;
  readonly lastMarker: Seq;
  readonly eventBytes: number;
  readonly clock: Clock;
}

/** A branch as its columns, in the order of {@link branchColumns}. */
export type BranchColumns = readonly [
  id: number,
  name: string,
  parentId: number | null,
  parentSeq: Seq | null,
  depth: number,
  head: Seq,
  digest: Digest,
  turn: number,
  epoch: Seq,
  lastMarker: Seq,
  eventBytes: number,
  latestTime: string,
  highestTurn: number,
];

/** The columns of a branch `b`. */
export const branchColumns: string =
  'b.id, b.name, b.parent_id, b.parent_seq, b.depth, b.head, b.digest, b.turn, b.epoch, b.marker, b.event_bytes, b.latest_time, b.highest_turn';

/** Returns a branch from its columns, which more may follow. */
export function branchOfColumns(row: readonly [...BranchColumns, ...unknown[]]): BranchRow {
  const [id, name, parentId, parentSeq, depth, head, digest, turn, epoch, lastMarker, eventBytes] = row;
  const clock = { time: row[11], turn: row[12] };
  return { id, name, parentId, parentSeq, depth, head, digest, turn, epoch, lastMarker, eventBytes, clock };
}

/** Returns the branches of these names that a session has. */
export async function findBranchRows(
  queries: Queries,
  { namespaceId, id }: SessionKey,
  names: string,
): Promise<BranchRow[]> {
  const rows = await queries.all<BranchColumns>(
    `SELECT ${branchColumns} FROM branches b WHERE b.namespace_id = $1 AND b.session_id = $2 AND b.name = ANY($3::text[])`,
    namespaceId,
    id,
    names,
  );
  return rows.map(branchOfColumns);
}
