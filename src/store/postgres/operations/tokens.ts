import { type TokenStore, tokenExists } from '../../../core/store/token-store.ts';
import { type TokenRow, tokenColumns, tokenOf, tokenRow } from '../../sql/token-row.ts';
import type { Queries } from '../connection.ts';

const table = `CREATE TABLE IF NOT EXISTS tokens (
  id text COLLATE "C" PRIMARY KEY,
  hash text NOT NULL,
  rights text NOT NULL, -- JSON
  namespaces text, -- JSON; null for all
  agent text,
  created_at text COLLATE "C" NOT NULL,
  expires_at text,
  revoked_at text
)`;

/** Runs a read or a write of the store. */
type Run = <Result>(work: (queries: Queries) => Promise<Result>) => Promise<Result>;

async function rows(queries: Queries, rest: string, ...values: string[]): Promise<TokenRow[]> {
  const [held] = await queries.one<[string | null]>(`SELECT to_regclass('tokens')::text`);
  return held === null ? [] : await queries.all<TokenRow>(`SELECT ${tokenColumns} FROM tokens ${rest}`, ...values);
}

/** Returns the tokens of a database. Only the first token creates their table, so that few need the right to do so. */
export function databaseTokens(read: Run, write: Run): TokenStore {
  return {
    add: (record) =>
      write(async (queries) => {
        await queries.run(table);
        const added = await queries.change(
          `INSERT INTO tokens (${tokenColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
          ...tokenRow(record),
        );
        const [held] = added > 0 ? [] : await rows(queries, 'WHERE id = $1', record.id);
        // A write whose answer was lost is repeated, and finds its own row.
        if (held !== undefined && tokenOf(held).hash !== record.hash) throw tokenExists(record.id);
      }),
    find: (id) => read(async (queries) => (await rows(queries, 'WHERE id = $1', id)).map(tokenOf)[0]),
    list: () => read(async (queries) => (await rows(queries, 'ORDER BY created_at, id')).map(tokenOf)),
    revoke: (id, at) =>
      write(async (queries) => {
        if ((await rows(queries, 'WHERE id = $1', id)).length === 0) return false;
        await queries.run('UPDATE tokens SET revoked_at = coalesce(revoked_at, $1) WHERE id = $2', at, id);
        return true;
      }),
  };
}
