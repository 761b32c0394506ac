import type { NamespaceSize, StoreAdvice, StoreFact, TableSize } from '../../../core/store/store-health.ts';
import type { Queries } from '../connection.ts';

type TableRow = readonly [
  name: string,
  bytes: number,
  indexBytes: number,
  live: number,
  dead: number,
  vacuumed: string | null,
];

const tablesSql = `
SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid), coalesce(s.n_live_tup, 0), coalesce(s.n_dead_tup, 0),
  to_char(greatest(s.last_autovacuum, s.last_vacuum) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
ORDER BY pg_total_relation_size(c.oid) DESC, c.relname`;

const namespacesSql = `
SELECT n.name, count(DISTINCT s.id) FILTER (WHERE s.name IS NOT NULL), coalesce(sum(b.event_bytes + b.part_bytes - b.erased_bytes), 0)::bigint
FROM namespaces n LEFT JOIN sessions s ON s.namespace_id = n.id LEFT JOIN branches b ON b.namespace_id = s.namespace_id AND b.session_id = s.id
GROUP BY n.name ORDER BY 3 DESC, 1`;

// Fewer dead rows, or a smaller share of them, are left to autovacuum.
const deadMin = 50_000;
const deadShareMax = 0.3;

/** The sizes of tables and namespaces, and the share of dead rows. */
export interface SizesReport {
  readonly tables: readonly TableSize[];
  readonly namespaces: readonly NamespaceSize[];
  readonly fact: StoreFact;
  readonly advice: readonly StoreAdvice[];
}

/** Measures tables, indexes and namespaces. */
export async function sizesReport(queries: Queries, schema: string): Promise<SizesReport> {
  const rows = await queries.all<TableRow>(tablesSql);
  const sizes = await queries.all<[string, number, number]>(namespacesSql);
  const dead = rows.reduce((sum, row) => sum + row[4], 0);
  const share = dead / Math.max(1, dead + rows.reduce((sum, row) => sum + row[3], 0));
  const last = rows.flatMap(([, , , , , vacuumed]) => vacuumed ?? []).sort();
  return {
    tables: rows.map(([name, bytes, indexBytes]) => ({ name, bytes, indexBytes })),
    namespaces: sizes.map(([name, sessions, bytes]) => ({ name, sessions, bytes })),
    fact: {
      name: 'vacuum',
      text: `${Math.round(share * 100)} % of the rows are dead; ${last.length === 0 ? 'no table was vacuumed yet' : `last vacuumed ${last.at(-1)}`}`,
    },
    advice: rows
      .filter(([, , , live, gone]) => gone > deadMin && gone > (live + gone) * deadShareMax)
      .map(([name, , , , gone]) => ({
        message: `${gone} rows of ${name} are dead and take up room`,
        todo: `Let the owner type: VACUUM (ANALYZE) ${schema}.${name}; and see why autovacuum does not keep up`,
      })),
  };
}
