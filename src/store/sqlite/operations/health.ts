import { statSync } from 'node:fs';
import type {
  NamespaceSize,
  StoreAdvice,
  StoreFact,
  StoreHealth,
  TableSize,
} from '../../../core/store/store-health.ts';
import type { Database } from '../database.ts';
import { schemaVersion } from '../migrate.ts';
import { isBusy } from '../sqlite-error.ts';
import { pause } from '../writer.ts';

const problemsMax = 20;

/** Reports what the file is, how large, how durable, and whether SQLite finds it sound. */
export function healthOf(
  database: Database,
  path: string,
  { isReadOnly, examined }: { readonly isReadOnly: boolean; readonly examined: Examined },
): StoreHealth {
  const [synchronous] = database.one<[number]>('PRAGMA synchronous');
  return {
    kind: 'sqlite',
    location: path,
    schema: String(schemaVersion(database)),
    bytes: fileBytes(path) + fileBytes(`${path}-wal`),
    durability: isReadOnly ? 'read-only' : synchronous >= 2 ? 'disk' : 'process',
    facts: factsOf(database, path, synchronous),
    advice: adviceOf(database),
    ...examined,
  };
}

/** The part of a report that takes as long as the file is large. */
export type Examined = Pick<StoreHealth, 'problems' | 'tables' | 'namespaces'>;

/** Checks the whole file, and measures it if it is sound. */
export function examine(database: Database, { deep }: { readonly deep: boolean }): Examined {
  const problems = problemsOf(database, deep ? 'integrity_check' : 'quick_check');
  // A damaged file cannot be measured.
  if (problems.length > 0) return { problems, tables: [], namespaces: [] };
  return { problems, tables: tableSizes(database), namespaces: namespaceSizes(database) };
}

/** Asks SQLite. `integrity_check` compares every index with its table, too. */
function problemsOf(database: Database, check: 'quick_check' | 'integrity_check'): StoreAdvice[] {
  const found = database.all<[string]>(`PRAGMA ${check}(${problemsMax})`).map(([line]) => line);
  return found.filter((line) => line !== 'ok').map((message) => ({ message }));
}

function factsOf(database: Database, path: string, synchronous: number): StoreFact[] {
  const [version] = database.one<[string]>('SELECT sqlite_version()');
  const [mode] = database.one<[string]>('PRAGMA journal_mode');
  const waits = synchronous >= 2 ? 'every commit waits for the disk' : 'a commit does not wait for the disk';
  return [
    { name: 'engine', text: `SQLite ${version}` },
    { name: 'journal', text: `${mode}, ${fileBytes(`${path}-wal`)} bytes in the log; ${waits}` },
  ];
}

const freeShareMax = 0.5;
const freePagesMin = 10_000;

/** Advises to shrink the file if most of it is free: SQLite reuses free pages, and returns them only on request. */
function adviceOf(database: Database): StoreAdvice[] {
  const [free] = database.one<[number]>('PRAGMA freelist_count');
  const [pages] = database.one<[number]>('PRAGMA page_count');
  if (free < freePagesMin || free < pages * freeShareMax) return [];
  const message = `${Math.round((free / pages) * 100)} % of the file is free pages`;
  return [{ message, todo: 'If the room is needed elsewhere, type VACUUM in a SQLite shell while nobody writes' }];
}

const tableSizesSql = `
SELECT s.tbl_name, sum(CASE s.type WHEN 'table' THEN d.pgsize ELSE 0 END), sum(CASE s.type WHEN 'index' THEN d.pgsize ELSE 0 END)
FROM dbstat d JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE GROUP BY s.tbl_name ORDER BY sum(d.pgsize) DESC, s.tbl_name`;

function tableSizes(database: Database): TableSize[] {
  return database
    .all<[string, number, number]>(tableSizesSql)
    .map(([name, bytes, indexBytes]) => ({ name, bytes, indexBytes }));
}

const namespaceSizesSql = `
SELECT n.name, count(DISTINCT s.id) FILTER (WHERE s.name IS NOT NULL), coalesce(sum(coalesce(last.branch_bytes + last.part_bytes, 0) - b.erased_bytes), 0) AS bytes
FROM namespaces n LEFT JOIN sessions s ON s.namespace_id = n.id LEFT JOIN branches b ON b.session_id = s.id
LEFT JOIN events last ON last.rowid = (SELECT l.rowid FROM events l WHERE l.branch_id = b.id ORDER BY l.seq DESC LIMIT 1)
GROUP BY n.id ORDER BY bytes DESC, n.name`;

function namespaceSizes(database: Database): NamespaceSize[] {
  return database
    .all<[string, number, number]>(namespaceSizesSql)
    .map(([name, sessions, bytes]) => ({ name, sessions, bytes }));
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Moves everything from the write-ahead log into the file and empties the log, so that no erased content is left in it.
 * A reader in a different process can block it; this retries until the deadline, and later commits empty the log anyway.
 */
export async function truncateLog(database: Database, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      const [isBlocked] = database.one<[number]>('PRAGMA wal_checkpoint(TRUNCATE)');
      if (isBlocked === 0) return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    if (performance.now() >= deadline) return false;
    await pause(attempt);
  }
}
