import { RepriseError } from '../../core/error.ts';
import type { Queries } from './connection.ts';

/**
 * Throws unless statements of a connection go to the store's schema. A pooler that ignores the settings of a connection
 * leads them to `public`, where tables would be made and filled that no one finds again.
 */
export async function checkOwnSchema(connection: Queries, schema: string): Promise<void> {
  const [found, path] = await connection.one<[string | null, string]>(
    "SELECT current_schema(), current_setting('search_path')",
  );
  // With the right settings, a schema that is missing or may not be used is a matter of rights.
  if (found === schema || (found === null && path.includes(schema))) return;
  const where = found === null ? 'in no schema' : `in the schema "${found}"`;
  throw new RepriseError(
    'store.unsupported',
    `Cannot use the store in the schema "${schema}": statements run ${where}, because a connection pooler such as PgBouncer ignores the settings of a connection`,
    {
      hint: 'Connect to the server itself, past the pooler: its ignore_startup_parameters leaves the settings out.',
      details: { schema, found },
    },
  );
}
