import { limits } from '../../../core/limits.ts';
import { later, previous, type Seq } from '../../../core/point.ts';
import { type EventRow, eventColumns, eventOf } from '../../../core/store/event-row.ts';
import type { Page, PageRequest, StoredEvent } from '../../../core/store/event-store.ts';
import { segmentsFrom } from '../../../core/store/page-segments.ts';
import { inRange } from '../../../core/view/segment.ts';
import type { Segment } from '../../../core/view/view.ts';
import type { Bound, Database } from '../database.ts';
import { lastBefore } from './clocks.ts';
import { type Conditions, conditionsOf, noConditions } from './header-filter.ts';

/** Events of a view, a page at a time. */
export function readPage(
  database: Database,
  branchId: (name: string) => number | undefined,
  view: readonly Segment[],
  page: PageRequest,
): Page {
  const reading = new Reading(database, branchId, page);
  for (const { segment, from, nextAfter } of segmentsFrom(view, page)) {
    const stopped = reading.readSegment(segment, from);
    if (stopped === undefined) continue;
    const next = nextAfter(stopped);
    return next === undefined ? { events: reading.events } : { events: reading.events, next };
  }
  return { events: reading.events };
}

// A few events are read as fast as halved.
const halvingMin = 32;

/** One page being filled: what it holds, and what it may still take. */
class Reading {
  readonly events: StoredEvent[] = [];
  readonly #database: Database;
  readonly #branchId: (name: string) => number | undefined;
  readonly #page: PageRequest;
  readonly #conditions: Conditions;
  readonly #limit: number;
  #bytesLeft: number;
  #scanLeft: number = limits.pageScanMax;

  constructor(database: Database, branchId: (name: string) => number | undefined, page: PageRequest) {
    this.#database = database;
    this.#branchId = branchId;
    this.#page = page;
    this.#conditions = conditionsOf(page.filter);
    this.#limit = Math.min(page.limit, limits.pageEventsMax);
    this.#bytesLeft = Math.min(page.bytesMax ?? limits.pageBytesMax, limits.pageBytesMax);
  }

  /** Takes what the page has room for; gives the last seq looked at if it stopped there, undefined if it went through. */
  readSegment(segment: Segment, cursor: Seq | undefined): Seq | undefined {
    const isForward = this.#page.direction === 'forward';
    let after = isForward ? this.#skip(segment, cursor ?? segment.after) : segment.after;
    let through = isForward ? segment.through : cursor === undefined ? segment.through : previous(cursor);
    while (through > after) {
      const window = Math.min(this.#scanLeft, through - after);
      const range = isForward ? { after, through: later(after, window) } : { after: later(through, -window), through };
      const stopped = this.#readRange(segment, range.after, range.through);
      const at = stopped ?? (isForward ? range.through : later(range.after, 1));
      this.#scanLeft -= isForward ? at - after : later(through, 1) - at;
      if (isForward) after = at;
      else through = previous(at);
      if (stopped !== undefined || this.#scanLeft <= 0 || this.events.length >= this.#limit) return at;
    }
    return undefined;
  }

  /** The seq after which events of a segment can pass the filter at all: before it, a clock has not come so far. */
  #skip(segment: Segment, after: Seq): Seq {
    const branch = this.#branchId(segment.branch);
    if (branch === undefined || segment.carried || segment.through - after < halvingMin) return after;
    return this.#conditions.reached.reduce(
      (from, reached) => lastBefore(this.#database, branch, { after: from, through: segment.through }, reached),
      after,
    );
  }

  /** Reads one range; gives the last seq it took or passed if there may be more of it, undefined if it is done. */
  #readRange(segment: Segment, after: Seq, through: Seq): Seq | undefined {
    const branch = this.#branchId(segment.branch);
    if (branch === undefined) return undefined;
    const conditions = segment.carried ? noConditions : this.#conditions;
    const query = new RangeQuery(conditions, this.#page, [branch, after, through]);
    const limit = this.#limit - this.events.length;
    const { count, isRest } =
      this.#page.select === 'header' ? { count: limit, isRest: false } : this.#fitting(query, limit);
    if (count === 0) return isRest ? undefined : this.#page.direction === 'forward' ? after : later(through, 1);
    const rows = query.rows(this.#database, count);
    for (const row of rows) {
      if (!segment.except.some((range) => inRange(range, row[0])))
        this.events.push(eventOf(segment.branch, row, this.#page.select));
    }
    return isRest || rows.length < count ? undefined : rows.at(-1)?.[0];
  }

  /**
   * How many of the next rows fit into the bytes left, and whether they are known to be all there are: then the rows after
   * them are not gone through again. The first event of a page always fits.
   */
  #fitting(query: RangeQuery, limit: number): { readonly count: number; readonly isRest: boolean } {
    const total = query.bytesAtMost(this.#database, limit);
    if (total !== undefined && total <= this.#bytesLeft) {
      this.#bytesLeft -= total;
      return { count: limit, isRest: false };
    }
    const sizes = query.sizes(this.#database, limit);
    let count = 0;
    for (const size of sizes) {
      if (size > this.#bytesLeft && (this.events.length > 0 || count > 0)) break;
      this.#bytesLeft = Math.max(0, this.#bytesLeft - size);
      count++;
    }
    return { count, isRest: count === sizes.length && sizes.length < limit };
  }
}

/** The same rows asked for in three ways: all of them, their sizes, and the sum of their sizes. */
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
   * No less than the bytes of payload in the next rows: each event knows what its branch had stored by then. Undefined
   * where a filter decides, since that says nothing of those it leaves out.
   */
  bytesAtMost(database: Database, limit: number): number | undefined {
    if (this.#isFiltered) return undefined;
    const [branch, after, through] = this.#range;
    const first = this.#isForward ? after : Math.max(after, through - limit);
    const last = this.#isForward ? Math.min(through, after + limit) : through;
    const [bytes] = database.get<[number]>(bytesBetweenSql, branch, first, last) as [number];
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
