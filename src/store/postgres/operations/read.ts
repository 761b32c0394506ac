import type { Seq } from '../../../core/point.ts';
import type { Page, PageRequest } from '../../../core/store/event-store.ts';
import type { Segment } from '../../../core/view/view.ts';
import { type EventRow, eventColumns } from '../../sql/event-row.ts';
import { type PageRange, PageReading } from '../../sql/page-reading.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';
import { lastBefore } from './clocks.ts';
import { type Conditions, conditionsOf, noConditions } from './header-filter.ts';

/** The numbers of the branches that a view is made of. */
export type BranchIds = ReadonlyMap<string, number>;

// Reading fewer events than this is as fast as halving.
const halvingMin = 1_000;

/** Reads a page of events of a view. */
export async function readPage(
  queries: Queries,
  session: SessionKey,
  branches: BranchIds,
  view: readonly Segment[],
  request: PageRequest,
): Promise<Page> {
  const conditions = conditionsOf(request.filter);
  const reading = new PageReading(view, request);
  for (let range = reading.next(); range !== undefined; range = reading.next()) {
    const branch = branches.get(range.segment.branch);
    if (branch === undefined) reading.take(range, [], { isDone: true });
    else if (maySkip(range, conditions)) reading.skip(await lastUnreached(queries, session, branch, range, conditions));
    else await readRange({ queries, session, branch, request, conditions }, reading, range);
  }
  return reading.page;
}

function maySkip({ segment, after, isStart }: PageRange, { clocks }: Conditions): boolean {
  return isStart && clocks.length > 0 && !segment.carried && segment.through - after >= halvingMin;
}

/** Returns the seq after which events of a segment can pass the filter at all. */
async function lastUnreached(
  queries: Queries,
  session: SessionKey,
  branch: number,
  { segment, after }: PageRange,
  { clocks }: Conditions,
): Promise<Seq> {
  let from = after;
  for (const term of clocks)
    from = await lastBefore(queries, session, branch, { after: from, through: segment.through }, term);
  return from;
}

/** A branch that is read, and how. */
interface RangeSource {
  readonly queries: Queries;
  readonly session: SessionKey;
  readonly branch: number;
  readonly request: PageRequest;
  readonly conditions: Conditions;
}

async function readRange(source: RangeSource, reading: PageReading, range: PageRange): Promise<void> {
  const conditions = range.segment.carried ? noConditions : source.conditions;
  const { agentContains } = conditions;
  const rows = await rowsOf({ ...source, conditions }, range, reading.bytesLeft);
  const taken = reading.fit(rows.map(payloadBytes));
  const isDone = taken < range.limit && taken === rows.length && (taken === 0 || reading.bytesLeft > 0);
  const isWindow = isDone && reading.isWindow(range);
  const reached = isWindow ? reading.withGap(range, await nextStored(source, range)) : range;
  reading.take(reached, taken < rows.length ? rows.slice(0, taken) : rows, {
    isDone,
    passes: agentContains === undefined ? undefined : (row) => row[5]?.toLowerCase().includes(agentContains) === true,
  });
}

/** Returns the nearest seq of a branch beyond a range, in reading direction; null if there is none. */
async function nextStored({ queries, session, branch, request }: RangeSource, range: PageRange): Promise<Seq | null> {
  const where = 'FROM events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3';
  const [sql, from] =
    request.direction === 'forward'
      ? ([`SELECT min(seq) ${where} AND seq > $4`, range.through] as const)
      : ([`SELECT max(seq) ${where} AND seq <= $4`, range.after] as const);
  const [found] = await queries.all<[Seq | null]>(sql, session.namespaceId, session.id, branch, from);
  return found?.[0] ?? null;
}

const payloadBytes = (row: EventRow): number => (row[12] === null ? 0 : Buffer.byteLength(row[12]));

/** Returns the next rows, as many as there may be room for: the server stops once it has read a page's bytes. */
async function rowsOf(source: RangeSource, range: PageRange, bytesLeft: number): Promise<EventRow[]> {
  const { queries, session, branch, conditions } = source;
  const { select, direction } = source.request;
  const order = direction === 'forward' ? 'ASC' : 'DESC';
  const values = [session.namespaceId, session.id, branch, range.after, range.through, range.limit] as const;
  const where = (first: number): string =>
    `FROM events e WHERE e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = $3 AND e.seq > $4 AND e.seq <= $5${conditions.sql(first)} ORDER BY e.seq ${order} LIMIT $6`;
  if (select === 'header')
    return await queries.all(`SELECT ${eventColumns.header} ${where(7)}`, ...values, ...conditions.values);
  return await queries.all(
    `SELECT * FROM (
       SELECT ${eventColumns[select]}, sum(octet_length(e.data)) OVER (ORDER BY e.seq ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
       FROM (SELECT e.* ${where(8)}) e
     ) page WHERE coalesce(before, 0) <= $7`,
    ...values,
    bytesLeft,
    ...conditions.values,
  );
}
