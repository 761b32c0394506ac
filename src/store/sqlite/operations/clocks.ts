import { type Clock, clockAtStart, clockBeside, clockWith } from '../../../core/event/clock.ts';
import { beginning, later, type Seq, type SeqRange } from '../../../core/point.ts';
import { clockFault, type FaultList } from '../../../core/store/reindex-request.ts';
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

/** A branch whose clocks are compared with the log, and rebuilt unless it is a dry run. */
export interface Reclocking {
  readonly database: Database;
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
    [clock, after] = await inTransaction(() => resetNext(work, before, from));
  }
}

/** Returns the clock after the next events and the seq of the last of them; no seq if there are none. */
function resetNext(work: Reclocking, before: Clock, after: Seq): [Clock, Seq | undefined] {
  const { database, branch, name, faults, dryRun } = work;
  const rows = database.all<[Seq, string, number]>(nextSql, branch, after, rowsMax);
  const last = rows.at(-1)?.[0];
  const kept = new Map(
    database
      .all<[Seq, string | null, number | null]>(keptSql, branch, after, last ?? lastSeq)
      .map(([seq, time, turn]) => [seq, { time, turn }]),
  );
  let clock = before;
  for (const [seq, time, turn] of rows) {
    clock = clockWith(clock, { time, turn });
    const right = clockBeside(clock, { time, turn });
    const held = kept.get(seq) ?? { time: null, turn: null };
    kept.delete(seq);
    if (held.time === right.time && held.turn === right.turn) continue;
    faults.add(clockFault(name, seq));
    if (dryRun) continue;
    database.run(dropSql, branch, seq);
    keepClock(database, branch, clock, { seq, time, turn });
  }
  for (const seq of kept.keys()) {
    faults.add(clockFault(name, seq));
    if (!dryRun) database.run(dropSql, branch, seq);
  }
  return [clock, last];
}

const nextSql = 'SELECT seq, time, turn FROM events WHERE branch_id = ? AND seq > ? ORDER BY seq LIMIT ?';
const keptSql = 'SELECT seq, time, turn FROM clocks WHERE branch_id = ? AND seq > ? AND seq <= ?';
const dropSql = 'DELETE FROM clocks WHERE branch_id = ? AND seq = ?';
const lastSeq = Number.MAX_SAFE_INTEGER;
