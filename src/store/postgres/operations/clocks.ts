import { type Clock, clockAtStart, clockBeside, clockWith } from '../../../core/event/clock.ts';
import { beginning, type Seq, type SeqRange } from '../../../core/point.ts';
import { clockFault, type FaultList } from '../../../core/store/reindex-request.ts';
import type { ClockTerm } from '../../sql/header-terms.ts';
import type { InTransaction, Queries } from '../connection.ts';
import { holdSession, type SessionKey } from '../session-row.ts';
import { eventAtSql } from './event-at.ts';

const clockColumns = {
  time: 'coalesce(e.latest_time, e.time)',
  turn: 'coalesce(e.highest_turn, e.turn)',
} as const;
const clockValues = { time: '$6', turn: '$6::float8' } as const;

/**
 * Returns the last seq of a range, its start included, up to which no event can satisfy a condition on a clock. A clock
 * only rises, so this halves the range. A seq without an event counts as satisfying, so that nothing is skipped.
 */
export async function lastBefore(
  queries: Queries,
  { namespaceId, id }: SessionKey,
  branch: number,
  { after, through }: SeqRange,
  { column, operator, value }: ClockTerm,
): Promise<Seq> {
  const halvingSql = `
    WITH RECURSIVE halving (low, high) AS (
      SELECT $4::bigint, $5::bigint + 1
      UNION ALL
      SELECT CASE WHEN is_reached THEN low ELSE middle END, CASE WHEN is_reached THEN middle ELSE high END FROM (
        SELECT low, high, middle, coalesce((
          SELECT ${clockColumns[column]} ${operator} ${clockValues[column]} FROM events e
          WHERE e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = $3 AND e.seq BETWEEN middle AND middle
          ORDER BY e.seq LIMIT 1 -- leaves one index to choose
        ), true) AS is_reached
        FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM halving WHERE high - low > 1) parted
        OFFSET 0 -- asks once, not once a use
      ) asked
    )
    SELECT max(low) FROM halving`;
  const row = await queries.get<[Seq]>(halvingSql, namespaceId, id, branch, after, through, value);
  return row?.[0] ?? after;
}

/** Rows in one transaction, so that it stays short. */
const rowsMax = 1_000;

/** A branch whose clocks are compared with the log, and rebuilt unless it is a dry run. */
export interface Reclocking {
  readonly session: SessionKey;
  readonly branch: number;
  readonly name: string;
  readonly faults: FaultList;
  readonly dryRun: boolean;
}

/** Compares the clocks of a branch with the log, and rebuilds them. */
export async function resetClocks(work: Reclocking, inTransaction: InTransaction): Promise<void> {
  let [clock, after]: [clock: Clock, after: Seq | undefined] = [clockAtStart, beginning];
  while (after !== undefined) {
    const [before, from]: [Clock, Seq] = [clock, after];
    [clock, after] = await inTransaction((queries) => resetNext(queries, work, before, from));
  }
}

/** Returns the clock after the next events and the seq of the last of them; no seq if there are none. */
async function resetNext(
  queries: Queries,
  work: Reclocking,
  before: Clock,
  after: Seq,
): Promise<[Clock, Seq | undefined]> {
  const { session, branch, name, faults, dryRun } = work;
  // Keeps writers out: an append in between would continue from the old clock.
  if (!dryRun) await holdSession(queries, session);
  const { namespaceId, id } = session;
  const rows = await queries.all<[Seq, string, number, string | null, number | null]>(
    nextSql,
    namespaceId,
    id,
    branch,
    after,
    rowsMax,
  );
  let clock = before;
  for (const [seq, time, turn, latestTime, highestTurn] of rows) {
    clock = clockWith(clock, { time, turn });
    const beside = clockBeside(clock, { time, turn });
    if (beside.time === latestTime && beside.turn === highestTurn) continue;
    faults.add(clockFault(name, seq));
    if (!dryRun) await queries.run(keepSql, namespaceId, id, branch, seq, beside.time, beside.turn);
  }
  const last = rows.at(-1)?.[0];
  if (last === undefined) await resetHead(queries, work, { ...clock, seq: after });
  return [clock, last];
}

/** Compares the clocks that the branch itself keeps for its next append. A dry run holds no lock, so it looks at its head. */
async function resetHead(queries: Queries, work: Reclocking, clock: Clock & { readonly seq: Seq }): Promise<void> {
  const { session, branch, name, faults, dryRun } = work;
  const [head, time, turn] = await queries.one<[Seq, string, number]>(headSql, session.namespaceId, session.id, branch);
  if (time === clock.time && turn === clock.turn) return;
  if (dryRun && head !== clock.seq && clock.seq > beginning) return;
  faults.add(clockFault(name, clock.seq));
  if (!dryRun) await queries.run(keepOfBranchSql, session.namespaceId, session.id, branch, clock.time, clock.turn);
}

const headSql = `SELECT head, latest_time, highest_turn FROM branches
WHERE namespace_id = $1 AND session_id = $2 AND id = $3`;
const nextSql = `SELECT seq, time, turn, latest_time, highest_turn FROM events
WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND seq > $4 ORDER BY seq LIMIT $5`;
const keepSql = `UPDATE events SET latest_time = $5, highest_turn = $6 WHERE ctid = (SELECT ctid FROM ${eventAtSql})`;
const keepOfBranchSql = `UPDATE branches SET latest_time = $4, highest_turn = $5
WHERE namespace_id = $1 AND session_id = $2 AND id = $3`;
