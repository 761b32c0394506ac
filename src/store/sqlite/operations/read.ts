import type { Seq } from '../../../core/point.ts';
import type { Page, PageRequest } from '../../../core/store/event-store.ts';
import type { Segment } from '../../../core/view/view.ts';
import { type EventRow, eventColumns } from '../../sql/event-row.ts';
import { type PageRange, PageReading } from '../../sql/page-reading.ts';
import type { Bound, Database } from '../database.ts';
import { lastBefore } from './clocks.ts';
import { type Conditions, conditionsOf, noConditions } from './header-filter.ts';

// Reading fewer events than this is as fast as halving.
const halvingMin = 32;

/** Reads a page of events of a view. */
export function readPage(
  database: Database,
  branchId: (name: string) => number | undefined,
  view: readonly Segment[],
  request: PageRequest,
): Page {
  const conditions = conditionsOf(request.filter);
  const reading = new PageReading(view, request);
  for (let range = reading.next(); range !== undefined; range = reading.next()) {
    const branch = branchId(range.segment.branch);
    if (branch === undefined) reading.take(range, [], { isDone: true });
    else if (maySkip(range, conditions)) reading.skip(lastUnreached(database, branch, range, conditions));
    else readRange(database, branch, reading, range, conditions, request);
  }
  return reading.page;
}

function maySkip({ segment, after, isStart }: PageRange, { clocks }: Conditions): boolean {
  return isStart && clocks.length > 0 && !segment.carried && segment.through - after >= halvingMin;
}

/** Returns the seq after which events of a segment can pass the filter at all. */
function lastUnreached(database: Database, branch: number, { segment, after }: PageRange, { clocks }: Conditions): Seq {
  return clocks.reduce(
    (from, term) => lastBefore(database, branch, { after: from, through: segment.through }, term),
    after,
  );
}

function readRange(
  database: Database,
  branch: number,
  reading: PageReading,
  range: PageRange,
  conditions: Conditions,
  request: PageRequest,
): void {
  const query = new RangeQuery(range.segment.carried ? noConditions : conditions, request, [
    branch,
    range.after,
    range.through,
  ]);
  const { limit } = range;
  const { count, isRest } =
    request.select === 'header' ? { count: limit, isRest: false } : fitting(database, query, reading, limit);
  const rows = count === 0 ? [] : query.rows(database, count);
  const isDone = isRest || rows.length < count;
  const isWindow = isDone && reading.isWindow(range);
  const reached = isWindow ? reading.withGap(range, nextStored(database, branch, range, request)) : range;
  reading.take(reached, rows, { isDone });
}

/** Returns the nearest seq of a branch beyond a range, in reading direction; null if there is none. */
function nextStored(database: Database, branch: number, range: PageRange, { direction }: PageRequest): Seq | null {
  const [sql, from] =
    direction === 'forward'
      ? (['SELECT min(seq) FROM events WHERE branch_id = ? AND seq > ?', range.through] as const)
      : (['SELECT max(seq) FROM events WHERE branch_id = ? AND seq <= ?', range.after] as const);
  return database.one<[Seq | null]>(sql, branch, from)[0];
}

/**
 * Returns how many of the next rows have room, and whether they are known to be all there are: then the store does not go
 * through the rows after them again.
 */
function fitting(
  database: Database,
  query: RangeQuery,
  reading: PageReading,
  limit: number,
): { readonly count: number; readonly isRest: boolean } {
  const total = query.bytesAtMost(database, limit);
  if (total <= reading.bytesLeft) {
    reading.spend(total);
    return { count: limit, isRest: false };
  }
  const sizes = query.sizes(database, limit);
  const count = reading.fit(sizes);
  return { count, isRest: count === sizes.length && sizes.length < limit };
}

/** Asks for the same rows in three ways: all of them, their sizes, and the sum of their sizes. */
class RangeQuery {
  readonly #where: string;
  readonly #columns: string;
  readonly #values: readonly Bound[];
  readonly #range: readonly [branch: number, after: Seq, through: Seq];
  readonly #isFiltered: boolean;
  readonly #isForward: boolean;

  constructor(conditions: Conditions, page: PageRequest, range: readonly [branch: number, after: Seq, through: Seq]) {
    const order = page.direction === 'forward' ? 'ASC' : 'DESC';
    this.#where = `FROM events e WHERE e.branch_id = ? AND e.seq > ? AND e.seq <= ?${conditions.sql} ORDER BY e.seq ${order} LIMIT ?`;
    this.#columns = eventColumns[page.select];
    this.#values = [...range, ...conditions.values];
    this.#range = range;
    this.#isFiltered = conditions.sql !== '';
    this.#isForward = page.direction === 'forward';
  }

  rows(database: Database, limit: number): EventRow[] {
    return database.all<EventRow>(`SELECT ${this.#columns} ${this.#where}`, ...this.#values, limit);
  }

  /**
   * Returns an upper bound for the payload bytes of the next rows: each event row has the total of its branch so far. With
   * a filter, the rows may be anywhere in the range, and the events that it leaves out count too.
   */
  bytesAtMost(database: Database, limit: number): number {
    const [branch, after, through] = this.#range;
    const most = this.#isFiltered ? through - after : limit;
    const first = this.#isForward ? after : Math.max(after, through - most);
    const last = this.#isForward ? Math.min(through, after + most) : through;
    const [bytes] = database.one<[number]>(bytesBetweenSql, branch, first, last);
    return bytes;
  }

  sizes(database: Database, limit: number): number[] {
    return database
      .all<[number | null]>(`SELECT octet_length(e.data) ${this.#where}`, ...this.#values, limit)
      .map(([bytes]) => bytes ?? 0);
  }
}

const bytesUpTo = (seq: string): string =>
  `coalesce((SELECT branch_bytes FROM events WHERE branch_id = ?1 AND seq <= ${seq} ORDER BY seq DESC LIMIT 1), 0)`;
const bytesBetweenSql = `SELECT ${bytesUpTo('?3')} - ${bytesUpTo('?2')}`;
