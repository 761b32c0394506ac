import { type Clock, clockAtStart, clockBeside, clockWith } from '../../../core/event/clock.ts';
import type { Seq, SeqRange } from '../../../core/point.ts';
import { holdSession, type SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { eventAtSql } from './event-at.ts';
import type { InTransaction } from './reindex.ts';

/** A question to a clock that only rises along a branch, and what it is given as `$6`. */
export interface Reached {
  readonly sql: string;
  readonly value: string | number;
}

/** Whether time has come so far. */
export function timeReached(since: string): Reached {
  return { sql: 'coalesce(e.latest_time, e.time) >= $6', value: since };
}

/** Whether a turn has come that is greater. */
export function turnPassed(turn: number): Reached {
  return { sql: 'coalesce(e.highest_turn, e.turn) > $6::float8', value: turn };
}

/**
 * The last seq of a range, its beginning included, up to which a clock of the branch has not reached something. A clock
 * only rises, so that the range is halved: a place without an event counts as reached, and nothing is passed over.
 */
export async function lastBefore(
  queries: Queries,
  { namespaceId, id }: SessionKey,
  branch: number,
  { after, through }: SeqRange,
  { sql, value }: Reached,
): Promise<Seq> {
  const halvingSql = `
    WITH RECURSIVE halving (low, high) AS (
      SELECT $4::bigint, $5::bigint + 1
      UNION ALL
      SELECT CASE WHEN is_reached THEN low ELSE middle END, CASE WHEN is_reached THEN middle ELSE high END FROM (
        SELECT low, high, middle, coalesce((
          SELECT ${sql} FROM events e
          WHERE e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = $3 AND e.seq BETWEEN middle AND middle
          ORDER BY e.seq LIMIT 1 -- leaves one index to choose
        ), true) AS is_reached
        FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM halving WHERE high - low > 1) parted
        OFFSET 0 -- asks once, not once a use
      ) asked
    )
    SELECT max(low) FROM halving`;
  const [last] = (await queries.get<[Seq]>(halvingSql, namespaceId, id, branch, after, through, value)) as [Seq];
  return last;
}

/** Rows looked at in one transaction, so that it stays short. */
const rowsMax = 1_000;

/** Makes the clocks of a branch what the log says. */
export async function resetClocks(session: SessionKey, branch: number, inTransaction: InTransaction): Promise<void> {
  let [clock, after]: [clock: Clock, after: Seq | undefined] = [clockAtStart, 0 as Seq];
  while (after !== undefined) {
    const [before, from]: [Clock, Seq] = [clock, after];
    [clock, after] = await inTransaction((queries) => resetNext(queries, session, branch, before, from));
  }
}

/** The clock with the next events and the seq of the last of them; no seq if there are none. */
async function resetNext(
  queries: Queries,
  session: SessionKey,
  branch: number,
  before: Clock,
  after: Seq,
): Promise<[Clock, Seq | undefined]> {
  // Nobody may append in between: it would be with the clock that the branch had.
  await holdSession(queries, session);
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
    if (beside.time !== latestTime || beside.turn !== highestTurn)
      await queries.run(keepSql, namespaceId, id, branch, seq, beside.time, beside.turn);
  }
  const last = rows.at(-1)?.[0];
  if (last === undefined) await queries.run(keepOfBranchSql, namespaceId, id, branch, clock.time, clock.turn);
  return [clock, last];
}

const nextSql = `SELECT seq, time, turn, latest_time, highest_turn FROM events
WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND seq > $4 ORDER BY seq LIMIT $5`;
const keepSql = `UPDATE events SET latest_time = $5, highest_turn = $6 WHERE ctid = (SELECT ctid FROM ${eventAtSql})`;
const keepOfBranchSql = `UPDATE branches SET latest_time = $4, highest_turn = $5
WHERE namespace_id = $1 AND session_id = $2 AND id = $3`;
