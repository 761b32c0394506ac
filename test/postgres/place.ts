import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject } from 'vitest';

/** A place for one store that nothing else uses: a schema of the run's server. */
export function newPlace(): string {
  return `${inject('postgresUrl')}?schema=t_${randomBytes(8).toString('hex')}`;
}

/** Runs statements as the superuser, past the store. */
export async function tamper<Row extends object = Record<string, unknown>>(
  place: string,
  sql: string,
): Promise<readonly Row[]> {
  const url = new URL(place);
  const schema = url.searchParams.get('schema') ?? 'reprise';
  url.search = '';
  const client = postgres(url.href, { max: 1, onnotice: () => {}, connection: { search_path: schema } });
  try {
    return await client.unsafe<Row[]>(sql);
  } finally {
    await client.end();
  }
}
