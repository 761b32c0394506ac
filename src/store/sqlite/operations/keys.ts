import { prefixEnd } from '../../../core/event/keys.ts';
import type { Seq } from '../../../core/point.ts';
import type { KeyedSeq } from '../../../core/store/append-judgement.ts';
import type { UnchangedCondition } from '../../../core/store/append-request.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import { rawPieces } from '../../../core/view/segment.ts';
import type { History } from '../../../core/view/view.ts';
import type { Catalogue, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';

/** Indexes an event under a key. */
export function indexEvent(database: Database, branchId: number, key: string, seq: Seq): void {
  database.run('INSERT OR IGNORE INTO event_keys (branch_id, key, seq) VALUES (?, ?, ?)', branchId, key, seq);
}

/** Returns true if an event is indexed under a key. */
export function isIndexed(database: Database, branchId: number, key: string, seq: Seq): boolean {
  const sql = 'SELECT 1 FROM event_keys WHERE branch_id = ? AND key = ? AND seq = ?';
  return database.get<[number]>(sql, branchId, key, seq) !== undefined;
}

/** Returns an event after `since` in a raw history that is indexed under one of the keys or prefixes. */
export function firstChange(
  database: Database,
  catalogue: Catalogue,
  session: SessionRow,
  history: History,
  condition: UnchangedCondition,
): KeyedSeq | undefined {
  for (const piece of rawPieces(history, history.head)) {
    if (piece.through <= condition.since) continue;
    const branch = catalogue.branch(session, piece.branch)?.id ?? 0;
    const range = [branch, Math.max(piece.after, condition.since), piece.through] as const;
    const recent = catalogue.recentKeys.since(branch, range[1]);
    const found =
      recent === undefined ? indexedChange(database, range, condition) : recentChange(recent, range, condition);
    if (found !== undefined) return found;
  }
  return undefined;
}

type BranchRange = readonly [branch: number, after: number, through: number];
type Named = Pick<UnchangedCondition, 'keys' | 'prefixes'>;

function recentChange(
  recent: readonly KeyedSeq[],
  [, after, through]: BranchRange,
  { keys, prefixes }: Named,
): KeyedSeq | undefined {
  const named = new Set(keys);
  let first: KeyedSeq | undefined;
  // The entries are in order of seq, and conditions nearly always ask about the last few.
  for (let index = recent.length - 1; index >= 0; index--) {
    const held = recent[index] as KeyedSeq;
    if (held.seq <= after) break;
    if (held.seq > through) continue;
    if (named.has(held.key) || prefixes.some((prefix) => held.key.startsWith(prefix))) first = held;
  }
  return first;
}

function indexedChange(database: Database, range: BranchRange, { keys, prefixes }: Named): KeyedSeq | undefined {
  const [branch, after, through] = range;
  for (const key of keys) {
    const row = database.get<[Seq]>(changeSql, branch, key, after, through);
    if (row !== undefined) return { key, seq: row[0] };
  }
  for (const prefix of prefixes) {
    const found = firstUnder(database, range, prefix);
    if (found !== undefined) return found;
  }
  return undefined;
}

const changeSql =
  'SELECT seq FROM event_keys WHERE branch_id = ? AND key = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT 1';

/** Goes from key to key, so that the cost depends on the number of keys, not of events. */
function firstUnder(database: Database, [branch, after, through]: BranchRange, prefix: string): KeyedSeq | undefined {
  const row = database.get<[string, Seq]>(changedUnderSql, { branch, prefix, end: endOf(prefix), after, through });
  return row === undefined ? undefined : { key: row[0], seq: row[1] };
}

/** Returns a value greater than every key with the prefix. A blob is greater than any text. */
function endOf(prefix: string): string | Uint8Array {
  return prefixEnd(prefix) ?? new Uint8Array();
}

const nextKeySql =
  'SELECT min(n.key) FROM event_keys n WHERE n.branch_id = :branch AND n.key > held.key AND n.key < :end';

const changedUnderSql = `
WITH RECURSIVE held (key) AS (
  SELECT min(key) FROM event_keys WHERE branch_id = :branch AND key >= :prefix AND key < :end
  UNION ALL
  SELECT (${nextKeySql}) FROM held WHERE held.key IS NOT NULL
)
SELECT held.key, e.seq FROM held JOIN event_keys e ON e.branch_id = :branch AND e.key = held.key AND e.seq > :after AND e.seq <= :through
WHERE held.key IS NOT NULL LIMIT 1`;

/** Returns keys of a branch with a prefix, after a given one, in byte order. */
export function keysUnder(
  database: Database,
  branch: number,
  prefix: string,
  after: string | undefined,
  limit: number,
): string[] {
  const isLater = after !== undefined && compareUtf8(after, prefix) >= 0;
  const first = isLater ? after : prefix;
  // Most branches have no key of a kind, and this query is much faster than the walk.
  if (database.get(anyKeySql, branch, first, endOf(prefix)) === undefined) return [];
  return database
    .all<[string]>(isLater ? keysAfterSql : keysFromSql, { branch, first, end: endOf(prefix), limit })
    .map(([key]) => key);
}

const anyKeySql = 'SELECT 1 FROM event_keys WHERE branch_id = ? AND key >= ? AND key < ? LIMIT 1';
const keysSql = (from: string): string => `
WITH RECURSIVE held (key) AS (
  SELECT min(key) FROM event_keys WHERE branch_id = :branch AND key ${from} :first AND key < :end
  UNION ALL
  SELECT (${nextKeySql}) FROM held WHERE held.key IS NOT NULL LIMIT :limit
)
SELECT key FROM held WHERE key IS NOT NULL`;
const keysFromSql = keysSql('>=');
const keysAfterSql = keysSql('>');

/** Removes an event from the index of a key. */
export function unindexEvent(database: Database, branchId: number, key: string, seq: Seq): void {
  database.run('DELETE FROM event_keys WHERE branch_id = ? AND key = ? AND seq = ?', branchId, key, seq);
}
