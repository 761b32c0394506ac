/**
 * PostgreSQL behind a pooler that ignores the settings of a connection. PgBouncer itself is not in the npm registry, so
 * a proxy stands in for it: it speaks to a real server, and leaves the settings out as PgBouncer does.
 */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openReprise, type RepriseError } from '../../src/index.ts';
import { Place, refundEvents } from '../e2e/cli/run.ts';
import { newPlace, tamper } from '../postgres/place.ts';
import { startProxy, type WireProxy } from '../postgres/wire-proxy.ts';

console.warn('test/hostile/postgres-pooler: a proxy stands in for PgBouncer, which npm does not bring');

let proxy: WireProxy;
beforeAll(async () => {
  proxy = await startProxy(Number(new URL(inject('postgresUrl')).port));
  proxy.ignoresSettings = true;
});
afterAll(() => proxy.close());

const tablesIn = async (place: string, schema: string): Promise<number> =>
  (await tamper(place, `SELECT 1 FROM information_schema.tables WHERE table_schema = '${schema}'`)).length;

const failure = (work: Promise<unknown>): Promise<RepriseError> =>
  work.then(
    () => Promise.reject(new Error('It was done')),
    (error: RepriseError) => error,
  );

test('a store is not made in a schema that nobody named, and the error names the pooler', async () => {
  const place = newPlace();
  const before = await tablesIn(place, 'public');
  const error = await failure(openReprise(proxy.through(place)));
  expect([error.code, error.message]).toEqual(['store.unsupported', expect.stringContaining('PgBouncer')]);
  expect(error.hint).toContain('ignore_startup_parameters');
  expect(await tablesIn(place, 'public')).toBe(before);
  expect(await tamper(place, `SELECT 1 FROM pg_namespace WHERE nspname = current_schema()`)).toEqual([]);
});

test('a store that is there is not used past its schema: nothing is recorded where nobody finds it', async () => {
  const place = newPlace();
  {
    await using reprise = await openReprise(place);
    await (await reprise.createSession('refund')).append(refundEvents());
  }
  // Tables of the same names in "public" are what the settings of the pooler lead to.
  for (const options of [{}, { readOnly: true }, { create: false }])
    expect((await failure(openReprise({ store: proxy.through(place), ...options }))).code).toBe('store.unsupported');
  using commands = new Place(undefined, { isFile: true });
  const { code, stdout } = await commands.run(['doctor', '--json', '--store', proxy.through(place)]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, findings: [{ code: 'store.unsupported' }] });
  await using direct = await openReprise(place);
  expect((await (await direct.session('refund')).locate()).head).toBe(7);
});

test('a pooler that comes between the connections of an open store is noticed by the next one', async () => {
  const place = newPlace();
  proxy.ignoresSettings = false;
  const reprise = await openReprise(proxy.through(place));
  const session = await reprise.createSession('refund');
  await session.append(refundEvents());
  proxy.ignoresSettings = true;
  proxy.cutAll();
  expect((await failure(session.append(refundEvents()))).code).toBe('store.unsupported');
  await reprise.close();
});

test('a pooler whose server has the right path by itself is used', async () => {
  const place = newPlace();
  {
    await using reprise = await openReprise(place);
    await reprise.createSession('refund');
  }
  const schema = String(new URL(place).searchParams.get('schema'));
  const user = decodeURIComponent(new URL(place).username);
  await tamper(place, `ALTER ROLE "${user}" SET search_path = ${schema}`);
  try {
    await using reprise = await openReprise(proxy.through(place));
    await (await reprise.session('refund')).append(refundEvents());
  } finally {
    await tamper(place, `ALTER ROLE "${user}" RESET search_path`);
  }
});
