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
import type { Catalogue, SessionRow } from '../catalogue.ts';
import type { Database, InTransaction } from '../database.ts';
import { type Reclocking, resetClocks } from './clocks.ts';
import { type KeyedRow, keysOfRow } from './event-keys.ts';
import { indexEvent, isIndexed, unindexEvent } from './keys.ts';

/** A branch whose derived rows are compared and rebuilt. */
interface Rebuilding extends Reclocking {
  readonly session: SessionRow;
}

/** Rows in one transaction, so that it stays short. */
const rowsMax = 1_000;

/**
 * Compares the key index and the clocks of a session with the log, and rebuilds them unless it only compares. It first
 * adds missing keys, then removes wrong ones: a reader in between finds everything it would have found before.
 */
export async function reindex(
  database: Database,
  catalogue: Catalogue,
  session: SessionRow,
  { dryRun = false }: ReindexRequest,
  inTransaction: InTransaction,
): Promise<ReindexOutcome> {
  const faults = new FaultList();
  const branches = await inTransaction(() =>
    database.all<[number, string]>('SELECT id, name FROM branches WHERE session_id = ? ORDER BY id', session.id),
  );
  for (const [id, name] of branches) {
    const work: Rebuilding = { database, session, branch: id, name, faults, dryRun };
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      after = await inTransaction(() => addMissing(work, from));
    }
    for (let after: readonly [string, number] | undefined = ['', -1]; after !== undefined; ) {
      const from: readonly [string, number] = after;
      after = await inTransaction(() => removeWrong(work, from));
    }
    await resetClocks(work, (rebuild) =>
      inTransaction(() => {
        const result = rebuild();
        // The next append must continue from the rebuilt clocks, not from the cached ones.
        if (!dryRun) catalogue.forget();
        return result;
      }),
    );
  }
  return faults.outcome;
}

function addMissing(
  { database, session, branch, name, faults, dryRun }: Rebuilding,
  after: number,
): number | undefined {
  const rows = database.all<[...KeyedRow, seq: Seq, marker: number | null]>(
    'SELECT id, type, agent, data, seq, marker FROM events WHERE branch_id = ? AND seq > ? ORDER BY seq LIMIT ?',
    branch,
    after,
    Math.min(rowsMax, fittingRows(database, branch, after)),
  );
  const kept = keptKeys(database, branch);
  for (const [id, type, agent, data, seq, marker] of rows) {
    if (isStructural(type) !== (marker === 1)) {
      faults.add(markerFault(name, seq));
      if (!dryRun) database.run(markSql, isStructural(type) ? 1 : null, branch, seq);
    }
    for (const key of kept.get(seq) ?? keysOfRow(database, session, [id, type, agent, data])) {
      if (isIndexed(database, branch, key, seq)) continue;
      faults.add(keyFault({ branch: name, seq }, key, 'missing'));
      if (!dryRun) indexEvent(database, branch, key, seq);
    }
  }
  return rows.at(-1)?.[4];
}

const markSql = 'UPDATE events SET marker = ? WHERE branch_id = ? AND seq = ?';
const bytesMax = 16_777_216;

/** Returns how many of the next events to read without holding too much at once; at least one. */
function fittingRows(database: Database, branch: number, after: number): number {
  const sizes = database.all<[number | null]>(
    'SELECT octet_length(data) FROM events WHERE branch_id = ? AND seq > ? ORDER BY seq LIMIT ?',
    branch,
    after,
    rowsMax,
  );
  let bytes = 0;
  const end = sizes.findIndex(([size]) => {
    bytes += size ?? 0;
    return bytes > bytesMax;
  });
  return end === -1 ? rowsMax : Math.max(1, end);
}

function removeWrong(
  { database, session, branch, name, faults, dryRun }: Rebuilding,
  [key, seq]: readonly [string, number],
): readonly [string, number] | undefined {
  const rows = database.all<[string, Seq, string | null, string | null, string | null, string | null]>(
    `SELECT k.key, k.seq, e.id, e.type, e.agent, e.data FROM event_keys k LEFT JOIN events e ON e.branch_id = k.branch_id AND e.seq = k.seq
     WHERE k.branch_id = ? AND (k.key, k.seq) > (?, ?) ORDER BY k.key, k.seq LIMIT ?`,
    branch,
    key,
    seq,
    rowsMax,
  );
  const kept = keptKeys(database, branch);
  for (const [held, at, id, type, agent, data] of rows) {
    const keys =
      kept.get(at) ?? (id === null || type === null ? [] : keysOfRow(database, session, [id, type, agent, data]));
    if (keys.includes(held)) continue;
    faults.add(keyFault({ branch: name, seq: at }, held, 'wrong'));
    if (!dryRun) unindexEvent(database, branch, held, at);
  }
  const last = rows.at(-1);
  return last === undefined ? undefined : [last[0], last[1]];
}

/** Returns the keys of erased events of a branch, as their markers keep them. */
function keptKeys(database: Database, branch: number): ReadonlyMap<Seq, readonly string[]> {
  const rows = database.all<[string]>(
    `SELECT data FROM events WHERE branch_id = ? AND marker = 1 AND type = 'payload.erased' ORDER BY seq`,
    branch,
  );
  return new Map(rows.flatMap(([data]) => [...erasedKeys(data)]));
}
