import { prefixEnd } from '../../../core/event/keys.ts';
import type { Seq } from '../../../core/point.ts';
import type { KeyedSeq } from '../../../core/store/append-judgement.ts';
import type { UnchangedCondition } from '../../../core/store/append-request.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';

/** A stretch of the events that a branch stores. */
interface BranchRange {
  readonly branchId: number;
  readonly after: number;
  readonly through: number;
}

/** The keys and prefixes of an `unchanged` condition. */
type Named = Pick<UnchangedCondition, 'keys' | 'prefixes'>;

const changedKeySql = `
SELECT asked.key, k.seq FROM unnest($6::text[]) asked (key) CROSS JOIN LATERAL (
  SELECT seq FROM event_keys WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND key = asked.key AND seq > $4 AND seq <= $5
  ORDER BY seq LIMIT 1) k
LIMIT 1`;

/** Returns an event of a stretch that is indexed under one of the keys or prefixes. */
export async function findChange(
  queries: Queries,
  session: SessionKey,
  { branchId, after, through }: BranchRange,
  { keys, prefixes }: Named,
): Promise<KeyedSeq | undefined> {
  const place = [session.namespaceId, session.id, branchId, after, through] as const;
  if (keys.length > 0) {
    const row = await queries.get<[string, Seq]>(changedKeySql, ...place, arrayLiteral(keys));
    if (row !== undefined) return { key: row[0], seq: row[1] };
  }
  for (const prefix of prefixes) {
    const end = prefixEnd(prefix);
    const row = await queries.get<[string, Seq]>(
      changedUnderSql(end !== undefined),
      ...place,
      prefix,
      ...(end === undefined ? [] : [end]),
    );
    if (row !== undefined) return { key: row[0], seq: row[1] };
  }
  return undefined;
}

const of = 'namespace_id = $1 AND session_id = $2 AND branch_id = $3';

/** Goes from key to key, so that the cost depends on the number of keys, not of events. */
const changedUnderSql = (hasEnd: boolean): string => `
WITH RECURSIVE held (key) AS (
  (SELECT key FROM event_keys WHERE ${of} AND key >= $6 ${hasEnd ? 'AND key < $7' : ''} ORDER BY key LIMIT 1)
  UNION ALL
  SELECT (SELECT n.key FROM event_keys n WHERE ${of} AND n.key > held.key ${hasEnd ? 'AND n.key < $7' : ''} ORDER BY n.key LIMIT 1)
  FROM held WHERE held.key IS NOT NULL
)
SELECT held.key, e.seq FROM held
CROSS JOIN LATERAL (SELECT seq FROM event_keys WHERE ${of} AND key = held.key AND seq > $4 AND seq <= $5 LIMIT 1) e
WHERE held.key IS NOT NULL LIMIT 1`;

/** Returns keys of a branch with a prefix, after a given one, in byte order. */
export async function keysUnder(
  queries: Queries,
  session: SessionKey,
  branchId: number,
  { prefix, after, limit }: { readonly prefix: string; readonly after: string | undefined; readonly limit: number },
): Promise<string[]> {
  const isLater = after !== undefined && compareUtf8(after, prefix) >= 0;
  const end = prefixEnd(prefix);
  const rows = await queries.all<[string]>(
    keysSql(isLater ? '>' : '>=', end !== undefined),
    session.namespaceId,
    session.id,
    branchId,
    isLater ? after : prefix,
    limit,
    ...(end === undefined ? [] : [end]),
  );
  return rows.map(([key]) => key);
}

const keysSql = (from: string, hasEnd: boolean): string => `
WITH RECURSIVE held (key, place) AS (
  (SELECT key, 1 FROM event_keys WHERE ${of} AND key ${from} $4 ${hasEnd ? 'AND key < $6' : ''} ORDER BY key LIMIT 1)
  UNION ALL
  SELECT (SELECT n.key FROM event_keys n WHERE ${of} AND n.key > held.key ${hasEnd ? 'AND n.key < $6' : ''} ORDER BY n.key LIMIT 1), place + 1
  FROM held WHERE held.key IS NOT NULL AND place < $5
)
SELECT key FROM held WHERE key IS NOT NULL`;

/** An event of a branch and the keys it is indexed under. */
export interface IndexedEvent {
  readonly branchId: number;
  readonly seq: Seq;
  readonly keys: readonly string[];
}

/** Indexes events under their keys. */
export async function indexEvents(
  queries: Queries,
  session: SessionKey,
  events: readonly IndexedEvent[],
): Promise<void> {
  await changeIndex(
    queries,
    session,
    events,
    `INSERT INTO event_keys (namespace_id, session_id, branch_id, key, seq)
     SELECT $1, $2, branch_id, key, seq FROM unnest($3::int[], $4::text[], $5::bigint[]) k (branch_id, key, seq)
     ON CONFLICT DO NOTHING`,
  );
}

/** Returns the events with those of their keys that they are not indexed under. */
export async function notIndexed(
  queries: Queries,
  session: SessionKey,
  events: readonly IndexedEvent[],
): Promise<IndexedEvent[]> {
  const rows = rowsOf(events);
  if (rows.length === 0) return [];
  const missing = await queries.all<[number, string, Seq]>(
    `SELECT k.branch_id, k.key, k.seq FROM unnest($3::int[], $4::text[], $5::bigint[]) k (branch_id, key, seq)
     WHERE NOT EXISTS (SELECT 1 FROM event_keys e WHERE e.namespace_id = $1 AND e.session_id = $2
       AND e.branch_id = k.branch_id AND e.key = k.key COLLATE "C" AND e.seq = k.seq)`,
    session.namespaceId,
    session.id,
    ...columnsOf(rows),
  );
  return missing.map(([branchId, key, seq]) => ({ branchId, seq, keys: [key] }));
}

/** Removes events from the index of their keys. */
export async function unindexEvents(
  queries: Queries,
  session: SessionKey,
  events: readonly IndexedEvent[],
): Promise<void> {
  await changeIndex(
    queries,
    session,
    events,
    `DELETE FROM event_keys e USING unnest($3::int[], $4::text[], $5::bigint[]) k (branch_id, key, seq)
     WHERE e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = k.branch_id AND e.key = k.key COLLATE "C" AND e.seq = k.seq`,
  );
}

async function changeIndex(
  queries: Queries,
  session: SessionKey,
  events: readonly IndexedEvent[],
  sql: string,
): Promise<void> {
  const rows = rowsOf(events);
  if (rows.length === 0) return;
  await queries.run(sql, session.namespaceId, session.id, ...columnsOf(rows));
}

/** A row of the index. */
interface KeyRow {
  readonly branchId: number;
  readonly seq: Seq;
  readonly key: string;
}

function rowsOf(events: readonly IndexedEvent[]): KeyRow[] {
  return events.flatMap(({ branchId, seq, keys }) => keys.map((key) => ({ branchId, seq, key })));
}

function columnsOf(rows: readonly KeyRow[]): readonly [branches: string, keys: string, seqs: string] {
  return [
    arrayLiteral(rows.map((row) => row.branchId)),
    arrayLiteral(rows.map((row) => row.key)),
    arrayLiteral(rows.map((row) => row.seq)),
  ];
}
