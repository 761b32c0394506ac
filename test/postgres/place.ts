import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { inject } from 'vitest';

/** A place for one store that nothing else uses: a schema of the run's server. */
export function newPlace(): string {
  return `${inject('postgresUrl')}?schema=t_${randomBytes(8).toString('hex')}`;
}

/** Runs statements in a transaction that stays open, with the locks that it took, until it is let go of. */
export async function hold(place: string, ...statements: readonly string[]): Promise<() => Promise<void>> {
  const client = connect(place);
  for (const statement of ['BEGIN', ...statements]) await client.unsafe(statement);
  return async () => {
    await client.unsafe('ROLLBACK');
    await client.end();
  };
}

/** Cuts the connections of a program again and again, as often as asked, so that a slow machine gets through. */
export function cutConnections(place: string, name: string, { times, everyMs }: CutPlan): Disposable {
  let left = times;
  const timer = setInterval(() => {
    if (left-- === 0) return clearInterval(timer);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`;
    void tamper(place, cut).catch(() => {});
  }, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface CutPlan {
  readonly times: number;
  readonly everyMs: number;
}

/** Runs statements as the superuser, past the store. */
export async function tamper<Row extends object = Record<string, unknown>>(
  place: string,
  sql: string,
): Promise<readonly Row[]> {
  const client = connect(place);
  try {
    return await client.unsafe<Row[]>(sql);
  } finally {
    await client.end();
  }
}

/** Every row of every table of a store's schema, as text. */
export async function allRows(place: string): Promise<Buffer> {
  const named = 'SELECT quote_ident(table_name) AS name FROM information_schema.tables';
  const tables = await tamper<{ name: string }>(place, `${named} WHERE table_schema = current_schema()`);
  const texts = tables.map(({ name }) => tamper<{ text: string }>(place, `SELECT t::text AS text FROM ${name} t`));
  const rows = (await Promise.all(texts)).flat();
  if (rows.length === 0) throw new Error('The store has no rows');
  return Buffer.from(rows.map(({ text }) => text).join('\n'));
}

function connect(place: string): postgres.Sql {
  const url = new URL(place);
  const search_path = url.searchParams.get('schema') ?? 'reprise';
  url.search = '';
  return postgres(url.href, {
    max: 1,
    onnotice: () => {},
    connection: { search_path, application_name: 'in the way' },
  });
}
