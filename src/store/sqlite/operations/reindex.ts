import type { Seq } from '../../../core/point.ts';
import { erasedKeys } from '../../../core/store/event-keys.ts';
import type { Catalogue, SessionRow } from '../catalogue.ts';
import type { Database, InTransaction } from '../database.ts';
import { resetClocks } from './clocks.ts';
import { type KeyedRow, keysOfRow } from './event-keys.ts';
import { indexEvent, unindexEvent } from './keys.ts';

/** Rows in one transaction, so that it stays short. */
const rowsMax = 1_000;

/**
 * Rebuilds the key index and the clocks of a session from the log. It first adds missing keys, then removes wrong ones: a
 * reader in between finds everything it would have found before.
 */
export async function reindex(
  database: Database,
  catalogue: Catalogue,
  session: SessionRow,
  inTransaction: InTransaction,
): Promise<void> {
  const branches = await inTransaction(() =>
    database.all<[number]>('SELECT id FROM branches WHERE session_id = ? ORDER BY id', session.id),
  );
  for (const [branch] of branches) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      after = await inTransaction(() => addMissing(database, session, branch, from));
    }
    for (let after: readonly [string, number] | undefined = ['', -1]; after !== undefined; ) {
      const from: readonly [string, number] = after;
      after = await inTransaction(() => removeWrong(database, session, branch, from));
    }
    await resetClocks(database, branch, (work) =>
      inTransaction(() => {
        const result = work();
        // The next append must continue from the rebuilt clocks, not from the cached ones.
        catalogue.forget();
        return result;
      }),
    );
  }
}

function addMissing(database: Database, session: SessionRow, branch: number, after: number): number | undefined {
  const rows = database.all<[...KeyedRow, seq: Seq]>(
    'SELECT id, type, agent, data, seq FROM events WHERE branch_id = ? AND seq > ? ORDER BY seq LIMIT ?',
    branch,
    after,
    Math.min(rowsMax, fittingRows(database, branch, after)),
  );
  const kept = keptKeys(database, branch);
  for (const [id, type, agent, data, seq] of rows)
    for (const key of kept.get(seq) ?? keysOfRow(database, session, [id, type, agent, data]))
      indexEvent(database, branch, key, seq);
  return rows.at(-1)?.[4];
}

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
  database: Database,
  session: SessionRow,
  branch: number,
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
    if (!keys.includes(held)) unindexEvent(database, branch, held, at);
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
