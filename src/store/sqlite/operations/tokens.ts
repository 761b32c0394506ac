import { type TokenStore, tokenExists } from '../../../core/store/token-store.ts';
import { type TokenRow, tokenColumns, tokenOf, tokenRow } from '../../sql/token-row.ts';
import type { Database } from '../database.ts';

const table = `CREATE TABLE IF NOT EXISTS tokens (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  rights TEXT NOT NULL, -- JSON
  namespaces TEXT, -- JSON; null for all
  agent TEXT,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT
) STRICT, WITHOUT ROWID`;

/** Runs a read or a write of the store. */
type Run = <Result>(work: () => Result) => Promise<Result>;

/** Returns the tokens of a file. Only the first token creates their table. */
export function fileTokens(database: Database, read: Run, write: Run): TokenStore {
  const hasTable = (): boolean =>
    database.all("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'tokens'").length > 0;
  const rows = (rest: string, ...values: string[]): TokenRow[] =>
    hasTable() ? database.all<TokenRow>(`SELECT ${tokenColumns} FROM tokens ${rest}`, ...values) : [];
  return {
    add: (record) =>
      write(() => {
        database.exec(table);
        if (rows('WHERE id = ?', record.id).length > 0) throw tokenExists(record.id);
        database.run(`INSERT INTO tokens (${tokenColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, ...tokenRow(record));
      }),
    find: (id) => read(() => rows('WHERE id = ?', id).map(tokenOf)[0]),
    list: () => read(() => rows('ORDER BY created_at, id').map(tokenOf)),
    revoke: (id, at) =>
      write(() => {
        if (rows('WHERE id = ?', id).length === 0) return false;
        database.run('UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?', at, id);
        return true;
      }),
  };
}
