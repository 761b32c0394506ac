import { type KeySelector, sortKeys } from '../../../core/event/keys.ts';
import { limits } from '../../../core/limits.ts';
import { later, type Seq } from '../../../core/point.ts';
import type { LatestPage, LatestRequest, StoredEvent } from '../../../core/store/event-store.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import { inRange, segmentsAt } from '../../../core/view/segment.ts';
import type { Segment, ViewPoint } from '../../../core/view/view.ts';
import { type EventRow, eventColumns, eventOf } from '../../sql/event-row.ts';
import { Lookup, settle } from '../appending/lookup.ts';
import { arrayLiteral } from '../array-literal.ts';
import { findBranchRows } from '../branch-row.ts';
import { type Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { type SessionKey, type SessionRow } from '../session-row.ts';
import { branchIds } from './branch-place.ts';
import { keysUnder } from './keys.ts';
import type { BranchIds } from './read.ts';

/** Keys whose places are looked up in one statement. */
const keysMax = 1_000;

/** Returns the same as {@link latestPage} for the view at a point. */
export async function latestAt(
  queries: Queries,
  catalogue: Catalogue,
  session: SessionRow | undefined,
  view: ViewPoint,
  select: KeySelector,
  page: LatestRequest,
): Promise<LatestPage> {
  if (session === undefined) return { entries: [] };
  const [branch] = await findBranchRows(queries, session, arrayLiteral([view.branch]));
  if (branch === undefined) return { entries: [] };
  const { history } = await catalogue.stateOf(queries, session, branch);
  const segments = segmentsAt(history, view);
  if (segments === undefined) return { entries: [] };
  const branches = await branchIds(queries, session, segments);
  return { ...(await latestPage(queries, session, branches, segments, select, page)), head: history.head };
}

/** Returns, for each selected key, the last event of the view that is indexed under it. */
export async function latestPage(
  queries: Queries,
  session: SessionKey,
  branches: BranchIds,
  view: readonly Segment[],
  select: KeySelector,
  page: LatestRequest,
): Promise<LatestPage> {
  const limit = Math.min(page.limit, limits.pageEventsMax);
  const [keys, isAll] = await candidates(queries, session, branches, view, select, page, limit);
  const places = await findLatest(queries, session, branches, view, keys);
  const events = await findEventsAt(queries, session, places, page.select);
  const entries: { readonly key: string; readonly event: StoredEvent }[] = [];
  let bytes = 0;
  const counted = new Set<StoredEvent>();
  for (const place of places) {
    const { key } = place;
    const event = events.get(nameOf(place));
    if (event === undefined) continue;
    entries.push({ key, event });
    // One event may be the last of many keys: it counts once.
    if (!counted.has(event)) bytes += event.data?.length ?? 0;
    counted.add(event);
    if (bytes >= limits.pageBytesMax && key !== keys.at(-1)) return { entries, next: key };
  }
  return isAll ? { entries } : { entries, next: keys.at(-1) as string };
}

/** Returns up to `limit` keys in order, and whether they are the last ones. */
async function candidates(
  queries: Queries,
  session: SessionKey,
  branches: BranchIds,
  view: readonly Segment[],
  select: KeySelector,
  { after }: LatestRequest,
  limit: number,
): Promise<readonly [keys: readonly string[], isAll: boolean]> {
  const found = new Set<string>();
  if ('keys' in select) {
    for (const key of select.keys) if (after === undefined || compareUtf8(key, after) > 0) found.add(key);
  } else {
    for (const name of new Set(view.map((segment) => segment.branch))) {
      const branch = branches.get(name);
      if (branch === undefined) continue;
      const asked = { prefix: select.prefix, after, limit: limit + 1 };
      for (const key of await keysUnder(queries, session, branch, asked)) found.add(key);
    }
  }
  const keys = sortKeys(found);
  return [keys.slice(0, limit), keys.length <= limit];
}

interface KeyPlace {
  readonly key: string;
  readonly branch: string;
  readonly branchId: number;
  readonly seq: Seq;
}

/** Where the last event of each key is; keys that the view does not have are left out. */
async function findLatest(
  queries: Queries,
  session: SessionKey,
  branches: BranchIds,
  view: readonly Segment[],
  keys: readonly string[],
): Promise<KeyPlace[]> {
  let open = keys;
  const found = new Map<string, KeyPlace>();
  for (let index = view.length - 1; index >= 0 && open.length > 0; index--) {
    const segment = view[index] as Segment;
    const branchId = branches.get(segment.branch);
    if (branchId === undefined) continue;
    const seqs = await lastSeqs(queries, session, branchId, segment, open);
    for (const [key, seq] of seqs) found.set(key, { key, branch: segment.branch, branchId, seq });
    open = open.filter((key) => !found.has(key));
  }
  return keys.flatMap((key) => found.get(key) ?? []);
}

const lastSql = `
SELECT asked.key, k.seq FROM unnest($4::text[]) asked (key) CROSS JOIN LATERAL (
  SELECT seq FROM event_keys WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND key = asked.key COLLATE "C" AND seq > $5 AND seq <= $6
  ORDER BY seq DESC LIMIT 1) k`;

/** The last seq of each key within a segment, what it leaves out left out. */
async function lastSeqs(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  segment: Segment,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Seq>> {
  const last = async (asked: readonly string[], through: Seq): Promise<Map<string, Seq>> =>
    new Map(
      await queries.all<[string, Seq]>(
        lastSql,
        session.namespaceId,
        session.id,
        branchId,
        arrayLiteral(asked),
        segment.after,
        through,
      ),
    );
  const found = new Map<string, Seq>();
  for (let first = 0; first < keys.length; first += keysMax)
    for (const [key, seq] of await last(keys.slice(first, first + keysMax), segment.through)) found.set(key, seq);
  for (const [key, seq] of found) {
    const earlier = new Lookup<Seq, Seq>(async (through) => (await last([key], through)).get(key));
    const settled = await settle(() => beforeGaps(segment, seq, (through) => earlier.get(through)));
    if (settled === undefined) found.delete(key);
    else found.set(key, settled);
  }
  return found;
}

/** The seq, or the last one before the gap it is in. */
function beforeGaps(segment: Segment, seq: Seq, lastThrough: (through: Seq) => Seq | undefined): Seq | undefined {
  let at: Seq | undefined = seq;
  while (at !== undefined) {
    const standing: Seq = at;
    const gap = segment.except.find((range) => inRange(range, standing));
    if (gap === undefined) return standing;
    at = lastThrough(later(gap.after, 0));
  }
  return undefined;
}

const nameOf = ({ branchId, seq }: Pick<KeyPlace, 'branchId' | 'seq'>): string => `${branchId}@${seq}`;

/** Reads the events at some places by {@link nameOf}, each once, as many as a page has room for. */
// The first event that is not before a place, in order, is one look into one index, whatever PostgreSQL knows of the table.
async function findEventsAt(
  queries: Queries,
  session: SessionKey,
  places: readonly KeyPlace[],
  select: 'header' | 'full',
): Promise<ReadonlyMap<string, StoredEvent>> {
  if (places.length === 0) return new Map();
  const asked = [...new Map(places.map((place) => [nameOf(place), place])).values()];
  const branches = new Map(asked.map(({ branchId, branch }) => [branchId, branch]));
  const rows = await queries.all<[...EventRow, number]>(
    `SELECT page.* FROM (
       SELECT ${eventColumns[select]}, asked.branch_id,
         sum(${select === 'full' ? 'octet_length(e.data)' : '0'}) OVER (ORDER BY asked.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
       FROM unnest($3::int[], $4::bigint[]) WITH ORDINALITY asked (branch_id, seq, place)
       JOIN LATERAL (SELECT * FROM events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = asked.branch_id AND seq >= asked.seq ORDER BY seq LIMIT 1) e ON e.seq = asked.seq
     ) page WHERE coalesce(before, 0) <= $5 * 4`,
    session.namespaceId,
    session.id,
    arrayLiteral(asked.map(({ branchId }) => branchId)),
    arrayLiteral(asked.map(({ seq }) => seq)),
    limits.pageBytesMax,
  );
  return new Map(
    rows.map((row) => [nameOf({ branchId: row[14], seq: row[0] }), eventOf(branches.get(row[14]) ?? '', row, select)]),
  );
}
