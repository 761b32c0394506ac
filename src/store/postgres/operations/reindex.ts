import { isStructural } from '../../../core/event/families/structural.ts';
import type { Seq } from '../../../core/point.ts';
import { erasedKeys } from '../../../core/store/event-keys.ts';
import {
  FaultList,
  keyFault,
  markerFault,
  type ReindexOutcome,
  type ReindexRequest,
} from '../../../core/store/reindex-request.ts';
import type { InTransaction, Queries } from '../connection.ts';
import type { SessionKey } from '../session-row.ts';
import { type Reclocking, resetClocks } from './clocks.ts';
import { eventAtSql } from './event-at.ts';
import { type KeyedRow, keysOfRow } from './event-keys.ts';
import { type IndexedEvent, indexEvents, notIndexed, unindexEvents } from './keys.ts';

/** Rows and bytes in one transaction, so that it stays short. */
const rowsMax = 1_000;
const bytesMax = 16_777_216;

const markSql = `UPDATE events SET marker = $5 WHERE ctid = (SELECT ctid FROM ${eventAtSql})`;

/** A branch whose derived rows are compared and rebuilt. */
type Rebuilding = Reclocking;

/**
 * Compares the key index and the clocks of a session with the log, and rebuilds them unless it only compares. It first
 * adds missing keys, then removes wrong ones: a reader in between finds everything it would have found before.
 */
export async function reindex(
  session: SessionKey,
  { dryRun = false }: ReindexRequest,
  inTransaction: InTransaction,
): Promise<ReindexOutcome> {
  const faults = new FaultList();
  const branches = await inTransaction((queries) =>
    queries.all<[number, string]>(
      'SELECT id, name FROM branches WHERE namespace_id = $1 AND session_id = $2 ORDER BY id',
      session.namespaceId,
      session.id,
    ),
  );
  for (const [branch, name] of branches) {
    const rebuilding: Rebuilding = { session, branch, name, faults, dryRun };
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      after = await inTransaction((queries) => addMissing(queries, rebuilding, from));
    }
    for (let after: readonly [string, number] | undefined = ['', -1]; after !== undefined; ) {
      const from: readonly [string, number] = after;
      after = await inTransaction((queries) => removeWrong(queries, rebuilding, from));
    }
    await resetClocks(rebuilding, inTransaction);
  }
  return faults.outcome;
}

async function addMissing(
  queries: Queries,
  { session, branch, name, faults, dryRun }: Rebuilding,
  after: number,
): Promise<number | undefined> {
  const rows = await queries.all<[...KeyedRow, seq: Seq, marker: boolean]>(
    `SELECT id, type, agent, data, seq, marker FROM (
       SELECT id, type, agent, data, seq, marker, sum(octet_length(data)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
       FROM (SELECT * FROM events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND seq > $4 ORDER BY seq LIMIT $5) e
     ) page WHERE coalesce(before, 0) <= $6 ORDER BY seq`,
    session.namespaceId,
    session.id,
    branch,
    after,
    rowsMax,
    bytesMax,
  );
  const kept = await keptKeys(queries, session, branch);
  const indexed: IndexedEvent[] = [];
  for (const [id, type, agent, data, seq, marker] of rows) {
    if (isStructural(type) !== marker) {
      faults.add(markerFault(name, seq));
      if (!dryRun) await queries.run(markSql, session.namespaceId, session.id, branch, seq, isStructural(type));
    }
    const keys = kept.get(seq) ?? (await keysOfRow(queries, session, [id, type, agent, data]));
    indexed.push({ branchId: branch, seq, keys });
  }
  const missing = await notIndexed(queries, session, indexed);
  for (const { seq, keys } of missing)
    for (const key of keys) faults.add(keyFault({ branch: name, seq }, key, 'missing'));
  if (!dryRun) await indexEvents(queries, session, missing);
  return rows.at(-1)?.[4];
}

async function removeWrong(
  queries: Queries,
  { session, branch, name, faults, dryRun }: Rebuilding,
  [key, seq]: readonly [string, number],
): Promise<readonly [string, number] | undefined> {
  const rows = await queries.all<[string, Seq, string | null, string | null, string | null, string | null]>(
    `SELECT k.key, k.seq, e.id, e.type, e.agent, e.data FROM event_keys k
     LEFT JOIN LATERAL (SELECT * FROM events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND seq BETWEEN k.seq AND k.seq ORDER BY seq LIMIT 1) e ON true
     WHERE k.namespace_id = $1 AND k.session_id = $2 AND k.branch_id = $3 AND (k.key, k.seq) > ($4, $5) ORDER BY k.key, k.seq LIMIT $6`,
    session.namespaceId,
    session.id,
    branch,
    key,
    seq,
    rowsMax,
  );
  const kept = await keptKeys(queries, session, branch);
  const wrong: IndexedEvent[] = [];
  for (const [held, at, id, type, agent, data] of rows) {
    const keys =
      kept.get(at) ?? (id === null || type === null ? [] : await keysOfRow(queries, session, [id, type, agent, data]));
    if (!keys.includes(held)) wrong.push({ branchId: branch, seq: at, keys: [held] });
  }
  for (const { seq: at, keys } of wrong)
    for (const held of keys) faults.add(keyFault({ branch: name, seq: at }, held, 'wrong'));
  if (!dryRun) await unindexEvents(queries, session, wrong);
  const last = rows.at(-1);
  return last === undefined ? undefined : [last[0], last[1]];
}

/** Returns the keys of erased events of a branch, as their markers keep them. */
async function keptKeys(
  queries: Queries,
  session: SessionKey,
  branch: number,
): Promise<ReadonlyMap<Seq, readonly string[]>> {
  const rows = await queries.all<[string]>(
    `SELECT data FROM events WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND marker AND type = 'payload.erased' ORDER BY seq`,
    session.namespaceId,
    session.id,
    branch,
  );
  return new Map(rows.flatMap(([data]) => [...erasedKeys(data)]));
}
