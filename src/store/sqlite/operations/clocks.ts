import { type Clock, clockAtStart, clockBeside, clockWith } from '../../../core/event/clock.ts';
import { beginning, later, type Seq, type SeqRange } from '../../../core/point.ts';
import type { ClockTerm } from '../../sql/header-terms.ts';
import type { Database, InTransaction } from '../database.ts';

const clocked = 'FROM events e LEFT JOIN clocks c ON c.branch_id = e.branch_id AND c.seq = e.seq WHERE e.branch_id = ?';

const clockColumns = { time: 'coalesce(c.time, e.time)', turn: 'coalesce(c.turn, e.turn)' } as const;

/**
 * Returns the last seq of a range, its start included, up to which no event can satisfy a condition on a clock. A clock
 * only rises, so this halves the range. A seq without an event counts as satisfying, so that nothing is skipped.
 */
export function lastBefore(
  database: Database,
  branch: number,
  { after, through }: SeqRange,
  { column, operator, value }: ClockTerm,
): Seq {
  const reachedSql = `SELECT ${clockColumns[column]} ${operator} ? ${clocked} AND e.seq = ?`;
  let [low, high] = [after, later(through, 1)];
  while (high - low > 1) {
    const middle = later(low, Math.floor((high - low) / 2));
    const [isReached] = database.get<[number]>(reachedSql, value, branch, middle) ?? [1];
    if (isReached === 1) high = middle;
    else low = middle;
  }
  return low;
}

/** Returns the clocks at the head of a branch. */
export function lastClock(database: Database, branch: number): Clock {
  const row = database.get<[string, number]>(lastClockSql, branch);
  return row === undefined ? clockAtStart : { time: row[0], turn: row[1] };
}

const lastClockSql = `SELECT coalesce(c.time, e.time), coalesce(c.turn, e.turn) ${clocked} ORDER BY e.seq DESC LIMIT 1`;

/** Keeps the clock of an event whose own time or turn lies behind. */
export function keepClock(
  database: Database,
  branch: number,
  clock: Clock,
  event: Clock & { readonly seq: Seq },
): void {
  const { time, turn } = clockBeside(clock, event);
  if (time !== null || turn !== null) database.run(keepSql, branch, event.seq, time, turn);
}

const keepSql = 'INSERT OR REPLACE INTO clocks (branch_id, seq, time, turn) VALUES (?, ?, ?, ?)';

/** Rows in one transaction, so that it stays short. */
const rowsMax = 1_000;

/** Rebuilds the clocks of a branch from the log. */
export async function resetClocks(database: Database, branch: number, inTransaction: InTransaction): Promise<void> {
  let [clock, after]: [clock: Clock, after: Seq | undefined] = [clockAtStart, beginning];
  while (after !== undefined) {
    const [before, from]: [Clock, Seq] = [clock, after];
    [clock, after] = await inTransaction(() => resetNext(database, branch, before, from));
  }
}

/** Returns the clock after the next events and the seq of the last of them; no seq if there are none. */
function resetNext(database: Database, branch: number, before: Clock, after: Seq): [Clock, Seq | undefined] {
  const rows = database.all<[Seq, string, number]>(nextSql, branch, after, rowsMax);
  const last = rows.at(-1)?.[0];
  database.run('DELETE FROM clocks WHERE branch_id = ? AND seq > ? AND seq <= ?', branch, after, last ?? lastSeq);
  let clock = before;
  for (const [seq, time, turn] of rows) {
    clock = clockWith(clock, { time, turn });
    keepClock(database, branch, clock, { seq, time, turn });
  }
  return [clock, last];
}

const nextSql = 'SELECT seq, time, turn FROM events WHERE branch_id = ? AND seq > ? ORDER BY seq LIMIT ?';
const lastSeq = Number.MAX_SAFE_INTEGER;
