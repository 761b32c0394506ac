import { limits } from '../../../core/limits.ts';
import { later, previous, type Seq } from '../../../core/point.ts';
import { type EventRow, eventColumns, eventOf } from '../../../core/store/event-row.ts';
import type { Page, PageRequest, StoredEvent } from '../../../core/store/event-store.ts';
import { segmentsFrom } from '../../../core/store/page-segments.ts';
import { inRange } from '../../../core/view/segment.ts';
import type { Segment } from '../../../core/view/view.ts';
import type { SessionKey } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { lastBefore } from './clocks.ts';
import { type Conditions, conditionsOf, noConditions } from './header-filter.ts';

/** The numbers of the branches that a view is made of. */
export type BranchIds = ReadonlyMap<string, number>;

/** Events of a view, a page at a time. */
export async function readPage(
  queries: Queries,
  session: SessionKey,
  branches: BranchIds,
  view: readonly Segment[],
  page: PageRequest,
): Promise<Page> {
  const reading = new Reading(queries, session, branches, page);
  for (const { segment, from, nextAfter } of segmentsFrom(view, page)) {
    const stopped = await reading.readSegment(segment, from);
    if (stopped === undefined) continue;
    const next = nextAfter(stopped);
    return next === undefined ? { events: reading.events } : { events: reading.events, next };
  }
  return { events: reading.events };
}

// A few events are read as fast as halved.
const halvingMin = 1_000;

/** One page being filled: what it holds, and what it may still take. */
class Reading {
  readonly events: StoredEvent[] = [];
  readonly #queries: Queries;
  readonly #session: SessionKey;
  readonly #branches: BranchIds;
  readonly #page: PageRequest;
  readonly #conditions: Conditions;
  readonly #limit: number;
  #bytesLeft: number;
  #scanLeft: number = limits.pageScanMax;

  constructor(queries: Queries, session: SessionKey, branches: BranchIds, page: PageRequest) {
    this.#queries = queries;
    this.#session = session;
    this.#branches = branches;
    this.#page = page;
    this.#conditions = conditionsOf(page.filter);
    this.#limit = Math.min(page.limit, limits.pageEventsMax);
    this.#bytesLeft = Math.min(page.bytesMax ?? limits.pageBytesMax, limits.pageBytesMax);
  }

  /** Takes what the page has room for; gives the last seq looked at if it stopped there, undefined if it went through. */
  async readSegment(segment: Segment, cursor: Seq | undefined): Promise<Seq | undefined> {
    const isForward = this.#page.direction === 'forward';
    let after = isForward ? await this.#skip(segment, cursor ?? segment.after) : segment.after;
    let through = isForward ? segment.through : cursor === undefined ? segment.through : previous(cursor);
    while (through > after) {
      const window = Math.min(this.#scanLeft, through - after);
      const range = isForward ? { after, through: later(after, window) } : { after: later(through, -window), through };
      const stopped = await this.#readRange(segment, range.after, range.through);
      const at = stopped ?? (isForward ? range.through : later(range.after, 1));
      this.#scanLeft -= isForward ? at - after : later(through, 1) - at;
      if (isForward) after = at;
      else through = previous(at);
      if (stopped !== undefined || this.#scanLeft <= 0 || this.events.length >= this.#limit) return at;
    }
    return undefined;
  }

  /** The seq after which events of a segment can pass the filter at all: before it, a clock has not come so far. */
  async #skip(segment: Segment, after: Seq): Promise<Seq> {
    const branch = this.#branches.get(segment.branch);
    if (branch === undefined || segment.carried || segment.through - after < halvingMin) return after;
    let from = after;
    for (const reached of this.#conditions.reached) {
      const range = { after: from, through: segment.through };
      from = await lastBefore(this.#queries, this.#session, branch, range, reached);
    }
    return from;
  }

  /** Reads one range; gives the last seq it took or passed if there may be more of it, undefined if it is done. */
  async #readRange(segment: Segment, after: Seq, through: Seq): Promise<Seq | undefined> {
    const branch = this.#branches.get(segment.branch);
    if (branch === undefined) return undefined;
    const conditions = segment.carried ? noConditions : this.#conditions;
    const limit = this.#limit - this.events.length;
    const rows = await this.#rows(conditions, [branch, after, through], limit);
    let taken = 0;
    for (const [index, row] of rows.entries()) {
      if (!this.#hasRoom(row, index)) break;
      taken++;
      this.#take(segment, conditions, row);
    }
    if (taken === 0 && rows.length > 0) return this.#page.direction === 'forward' ? after : later(through, 1);
    return taken === limit || taken < rows.length || (taken > 0 && this.#bytesLeft === 0)
      ? rows[taken - 1]?.[0]
      : undefined;
  }

  #hasRoom(row: EventRow, index: number): boolean {
    const bytes = row[12] === null ? 0 : Buffer.byteLength(row[12]);
    const isFirst = index === 0 && this.events.length === 0;
    if (bytes > this.#bytesLeft && !isFirst) return false;
    this.#bytesLeft = Math.max(0, this.#bytesLeft - bytes);
    return true;
  }

  #take(segment: Segment, { agentHolds }: Conditions, row: EventRow): void {
    if (segment.except.some((range) => inRange(range, row[0]))) return;
    if (agentHolds !== undefined && row[5]?.toLowerCase().includes(agentHolds) !== true) return;
    this.events.push(eventOf(segment.branch, row, this.#page.select));
  }

  /** The next rows, as many as there may be room for: the server stops once it has read a page's bytes. */
  async #rows(
    conditions: Conditions,
    [branch, after, through]: readonly [branch: number, after: Seq, through: Seq],
    limit: number,
  ): Promise<EventRow[]> {
    const { select, direction } = this.#page;
    const order = direction === 'forward' ? 'ASC' : 'DESC';
    const values = [this.#session.namespaceId, this.#session.id, branch, after, through, limit] as const;
    const where = (first: number): string =>
      `FROM events e WHERE e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = $3 AND e.seq > $4 AND e.seq <= $5${conditions.sql(first)} ORDER BY e.seq ${order} LIMIT $6`;
    if (select === 'header')
      return await this.#queries.all(`SELECT ${eventColumns.header} ${where(7)}`, ...values, ...conditions.values);
    return await this.#queries.all(
      `SELECT * FROM (
         SELECT ${eventColumns[select]}, sum(octet_length(e.data)) OVER (ORDER BY e.seq ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
         FROM (SELECT e.* ${where(8)}) e
       ) page WHERE coalesce(before, 0) <= $7`,
      ...values,
      this.#bytesLeft,
      ...conditions.values,
    );
  }
}
