import { type KeySelector, sortKeys } from '../../../core/event/keys.ts';
import { limits } from '../../../core/limits.ts';
import { later, type Seq } from '../../../core/point.ts';
import type { LatestPage, LatestRequest, SessionRef, StoredEvent } from '../../../core/store/event-store.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import { inRange, segmentsAt } from '../../../core/view/segment.ts';
import type { Segment, ViewPoint } from '../../../core/view/view.ts';
import { type EventRow, eventColumns, eventOf } from '../../sql/event-row.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { keysUnder } from './keys.ts';

type BranchIds = (name: string) => number | undefined;

/** Returns the same as {@link latestPage} for the view at a point. */
export function latestAt(
  database: Database,
  catalogue: Catalogue,
  ref: SessionRef,
  view: ViewPoint,
  select: KeySelector,
  page: LatestRequest,
): LatestPage {
  const session = catalogue.session(ref);
  const branch = session === undefined ? undefined : catalogue.branch(session, view.branch);
  if (session === undefined || branch === undefined) return { entries: [] };
  const { history } = catalogue.stateOf(session, branch);
  const segments = segmentsAt(history, view);
  if (segments === undefined) return { entries: [] };
  const branchId = (name: string): number | undefined => catalogue.branch(session, name)?.id;
  const { entries, next } = latestPage(database, branchId, segments, select, page);
  return next === undefined ? { entries, head: history.head } : { entries, next, head: history.head };
}

/** Returns, for each selected key, the last event of the view that is indexed under it. */
export function latestPage(
  database: Database,
  branchId: BranchIds,
  view: readonly Segment[],
  select: KeySelector,
  page: LatestRequest,
): LatestPage {
  const limit = Math.min(page.limit, limits.pageEventsMax);
  if ('keys' in select && select.keys.length === 1 && page.after === undefined && limit > 0)
    return latestOfOne(database, branchId, view, select.keys[0] as string, page);
  const entries: { readonly key: string; readonly event: StoredEvent }[] = [];
  let bytes = 0;
  const [keys, isAll] = candidates(database, branchId, view, select, page, limit);
  // One event may be the last of many keys: this reads it once.
  const read = new Map<string, StoredEvent | undefined>();
  for (const key of keys) {
    const place = latestOf(database, branchId, view, key);
    if (place === undefined) continue;
    const at = `${place.branch}@${place.seq}`;
    const isNew = !read.has(at);
    if (isNew) read.set(at, eventAt(database, place, page.select));
    const event = read.get(at);
    if (event === undefined) continue;
    entries.push({ key, event });
    if (isNew) bytes += event.data?.length ?? 0;
    if (bytes >= limits.pageBytesMax && key !== keys.at(-1)) return { entries, next: key };
  }
  return isAll ? { entries } : { entries, next: keys.at(-1) as string };
}

/** Answers the most frequent request: one key. */
function latestOfOne(
  database: Database,
  branchId: BranchIds,
  view: readonly Segment[],
  key: string,
  { select }: LatestRequest,
): LatestPage {
  const [only] = view;
  const isWhole = only !== undefined && view.length === 1 && only.except.length === 0;
  const place = isWhole ? undefined : latestOf(database, branchId, view, key);
  const event = isWhole
    ? latestIn(database, branchId, only, key, select)
    : place === undefined
      ? undefined
      : eventAt(database, place, select);
  return { entries: event === undefined ? [] : [{ key, event }] };
}

const inSegment =
  'e.seq = (SELECT seq FROM event_keys WHERE branch_id = ?1 AND key = ?2 AND seq > ?3 AND seq <= ?4 ORDER BY seq DESC LIMIT 1)';
const latestSql = {
  header: `SELECT ${eventColumns.header} FROM events e WHERE e.branch_id = ?1 AND ${inSegment}`,
  full: `SELECT ${eventColumns.full} FROM events e WHERE e.branch_id = ?1 AND ${inSegment}`,
} as const;

/** Returns the last event of a key in a segment without gaps, with one query. */
function latestIn(
  database: Database,
  branchId: BranchIds,
  segment: Segment,
  key: string,
  select: 'header' | 'full',
): StoredEvent | undefined {
  const branch = branchId(segment.branch);
  if (branch === undefined) return undefined;
  const row = database.get<EventRow>(latestSql[select], branch, key, segment.after, segment.through);
  return row === undefined ? undefined : eventOf(segment.branch, row, select);
}

/** Returns up to `limit` keys in order, and whether they are the last ones. */
function candidates(
  database: Database,
  branchId: BranchIds,
  view: readonly Segment[],
  select: KeySelector,
  { after }: LatestRequest,
  limit: number,
): readonly [keys: readonly string[], isAll: boolean] {
  const found = new Set<string>();
  if ('keys' in select) {
    for (const key of select.keys) if (after === undefined || compareUtf8(key, after) > 0) found.add(key);
  } else {
    for (const name of new Set(view.map((segment) => segment.branch))) {
      const branch = branchId(name);
      if (branch !== undefined)
        for (const key of keysUnder(database, branch, select.prefix, after, limit + 1)) found.add(key);
    }
  }
  const keys = sortKeys(found);
  return [keys.slice(0, limit), keys.length <= limit];
}

const beforeSql = 'SELECT seq FROM event_keys WHERE branch_id = ? AND key = ? AND seq <= ? ORDER BY seq DESC LIMIT 1';

/** Goes back through the view; queries a branch again only if the last answer does not already decide. */
function latestOf(
  database: Database,
  branchId: BranchIds,
  view: readonly Segment[],
  key: string,
): StoredPlace | undefined {
  const answers = new Map<string, { readonly asked: Seq; readonly found: Seq }>();
  const lastAtOrBefore = (name: string, branch: number, seq: Seq): Seq => {
    const known = answers.get(name);
    if (known !== undefined && seq <= known.asked && seq >= known.found) return known.found;
    const found = database.get<[Seq]>(beforeSql, branch, key, seq)?.[0] ?? (0 as Seq);
    answers.set(name, { asked: seq, found });
    return found;
  };
  for (let index = view.length - 1; index >= 0; index--) {
    const segment = view[index] as Segment;
    const branch = branchId(segment.branch);
    if (branch === undefined) continue;
    let seq = lastAtOrBefore(segment.branch, branch, segment.through);
    while (seq > segment.after) {
      const gap = segment.except.find((range) => inRange(range, seq));
      if (gap === undefined) return { branch, name: segment.branch, seq };
      seq = lastAtOrBefore(segment.branch, branch, later(gap.after, 0));
    }
  }
  return undefined;
}

/** Where an event is: its branch by number and by name, and its seq. */
interface StoredPlace {
  readonly branch: number;
  readonly name: string;
  readonly seq: Seq;
}

const eventSql = {
  header: `SELECT ${eventColumns.header} FROM events e WHERE e.branch_id = ? AND e.seq = ?`,
  full: `SELECT ${eventColumns.full} FROM events e WHERE e.branch_id = ? AND e.seq = ?`,
} as const;

function eventAt(
  database: Database,
  { branch, name, seq }: StoredPlace,
  select: 'header' | 'full',
): StoredEvent | undefined {
  const row = database.get<EventRow>(eventSql[select], branch, seq);
  return row === undefined ? undefined : eventOf(name, row, select);
}
