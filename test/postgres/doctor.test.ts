/** `reprise doctor` on a server: what it sees, and what it says to do. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openDatabase } from '../../src/store/postgres/open-database.ts';
import { activityReport } from '../../src/store/postgres/operations/health-activity.ts';
import { openMigratedStore, openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { migrations } from '../../src/store/postgres/schema.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { Place } from '../e2e/cli/run.ts';
import { until } from '../until.ts';
import { nextRelease } from './next-release.ts';
import { hold, newPlace, tamper } from './place.ts';
import { type Server, startServer } from './server.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };
let place: Place;
beforeAll(() => {
  place = new Place();
});
afterAll(() => place[Symbol.dispose]());

interface Found {
  readonly ok: boolean;
  readonly store: {
    readonly bytes: number;
    readonly durability: string;
    readonly facts: readonly { readonly name: string; readonly text: string }[];
    readonly tables: readonly { readonly name: string; readonly bytes: number; readonly indexBytes: number }[];
    readonly namespaces: readonly { readonly name: string; readonly sessions: number; readonly bytes: number }[];
  };
  readonly findings: readonly { readonly code: string; readonly message: string; readonly todo: string }[];
  readonly advice: readonly { readonly message: string; readonly todo: string }[];
}

async function doctor(url: string): Promise<Found> {
  return (await place.json('doctor', '--store', url)) as unknown as Found;
}

const textOf = (found: Found, wanted: string): string =>
  found.store.facts.find(({ name }) => name === wanted)?.text ?? '';

async function madeStore(url: string): Promise<void> {
  const store = await openPostgresStore({ url, platform });
  await store.createSession(ref, { root: 'main', seed: 'x' });
  await store.append([request(ref, [note('one'), note('two')])]);
  await store.close();
}

describe('doctor on PostgreSQL', () => {
  it('tells version, settings, rights, sizes and activity of a sound store, at any width', async () => {
    const url = newPlace();
    await madeStore(url);
    const found = await doctor(url);
    expect([found.ok, found.findings, found.advice]).toEqual([true, [], []]);
    expect(found.store.facts.map(({ name }) => name)).toEqual([
      'server',
      'schema',
      'durable',
      'replicated',
      'waits',
      'encoding',
      'rights',
      'connections',
      'activity',
      'slowest',
      'vacuum',
    ]);
    expect(textOf(found, 'server')).toMatch(/^PostgreSQL 18\.\d+, supported$/);
    expect(textOf(found, 'schema')).toBe('version 1, the one that this release makes');
    expect(textOf(found, 'durable')).toBe('synchronous_commit on, fsync on, full_page_writes on');
    expect(textOf(found, 'slowest')).toMatch(/CREATE EXTENSION pg_stat_statements/);
    expect(found.store.namespaces).toMatchObject([{ name: 'default', sessions: 1 }]);
    const total = found.store.tables.reduce((sum, { bytes, indexBytes }) => sum + bytes + indexBytes, 0);
    expect([found.store.bytes, found.store.tables.map(({ name }) => name)]).toEqual([
      total,
      expect.arrayContaining(['events', 'branches', 'parts']),
    ]);
    for (const columns of [100, 40]) {
      const env = { COLUMNS: String(columns) };
      const { stdout } = await place.run(['doctor', '--store', url], { env });
      expect(stdout.split('\n').filter((line) => line.length > columns)).toEqual([]);
      expect(stdout).toContain('verdict     healthy');
    }
  });

  it('names a process that holds a lock for which others wait', async () => {
    const url = newPlace();
    await madeStore(url);
    const letGo = await hold(url, 'SELECT 1 FROM sessions FOR UPDATE');
    const store = await openPostgresStore({ url, platform, busyWaitMs: 60_000 });
    const waiting = store.append([request(ref, [note('late')])]);
    const found = await until(async () => {
      const seen = await doctor(url);
      return seen.findings.length === 0 ? undefined : seen;
    });
    await letGo();
    expect((await waiting)[0]?.ok).toBe(true);
    await store.close();
    expect(found.findings).toMatchObject([
      {
        code: 'store.settings',
        message: expect.stringMatching(
          /^Process \d+ has waited for a lock on sessions for \d+ s, which process \d+ holds$/,
        ),
        todo: expect.stringMatching(/SELECT pg_terminate_backend\(\d+\);$/),
      },
    ]);
  });

  it('names a transaction that has been open for too long', async () => {
    const url = newPlace();
    await madeStore(url);
    const letGo = await hold(url, 'SELECT count(*) FROM events');
    await sleep(1_200);
    const { database } = await openDatabase({
      url,
      migrations,
      busyWaitMs: 10_000,
      connectWaitMs: 10_000,
      statementTimeoutMs: 10_000,
      connectionsMax: 2,
    });
    const { problems } = await database.use((connection) => activityReport(connection, 8, { longMs: 1_000 }));
    await letGo();
    await database.close();
    expect(problems.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Process \d+ of postgres \(in the way\) has had a transaction open for \d+ s/),
    );
  });

  it('tells of a migration that was cut short, and of one that goes on', async () => {
    const url = newPlace();
    await madeStore(url);
    await tamper(
      url,
      `INSERT INTO schema_versions (version, release, oldest, done, at) VALUES (2, '99.0.0', 1, 1, NULL)`,
    );
    await tamper(url, 'ALTER TABLE events ADD COLUMN data_bytes integer');
    const cut = await doctor(url);
    expect(cut.findings).toMatchObject([
      {
        message: 'A migration was cut short: a migration to 2 (release 99.0.0) has made 1 changes',
        todo: expect.stringMatching(/owner/),
      },
    ]);
    const schema = new URL(url).searchParams.get('schema') ?? '';
    const letGo = await hold(url, `SELECT pg_advisory_lock(1382051443, hashtext('${schema}'))`);
    const running = await doctor(url);
    await letGo();
    expect([running.findings, textOf(running, 'schema')]).toEqual([
      [],
      expect.stringMatching(/has made 1 changes, and continues$/),
    ]);
    await (await openMigratedStore({ url, platform }, nextRelease)).close();
    expect((await doctor(url)).findings).toEqual([]);
  });

  it('makes a store where it is told to, and otherwise says that there is none', async () => {
    const url = newPlace();
    expect((await doctor(url)).findings).toMatchObject([{ code: 'store.not-found' }]);
    expect(await place.run(['doctor', '--create', '--json', '--store', url])).toMatchObject({ code: 0 });
    expect(await doctor(url)).toMatchObject({ ok: true, findings: [] });
  });

  it('finds a database that cannot hold every text', async () => {
    const name = `latin_${Date.now()}`;
    await tamper(
      inject('postgresUrl'),
      `CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
    );
    const url = new URL(inject('postgresUrl'));
    url.pathname = `/${name}`;
    await madeStore(url.href);
    expect((await doctor(url.href)).findings).toMatchObject([
      { message: expect.stringContaining('LATIN1'), todo: expect.stringContaining('UTF8') },
    ]);
    await tamper(inject('postgresUrl'), `DROP DATABASE ${name} WITH (FORCE)`);
  });
});

describe('doctor on a server that is not run as it should be', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
    await tamper(server.url(), `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
    await tamper(server.url(), 'ALTER SYSTEM SET fsync = off');
    await tamper(server.url(), 'ALTER SYSTEM SET full_page_writes = off');
    await tamper(server.url(), 'ALTER SYSTEM SET synchronous_commit = off');
    await server.kill();
    await restarted();
    await tamper(server.url(), 'CREATE EXTENSION pg_stat_statements SCHEMA public');
    await madeStore(server.url());
  });
  afterAll(async () => await server.stop());

  /** The children of a killed server take a moment to leave. */
  async function restarted(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await server.restart();
      } catch (error) {
        if (attempt >= 50) throw error;
        await sleep(100);
      }
    }
  }

  it('finds settings that endanger what is stored, and the slowest statements', async () => {
    const found = await doctor(server.url());
    expect(found.store.durability).toBe('process');
    expect(found.findings.map(({ todo }) => todo)).toEqual([
      expect.stringContaining('ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();'),
      expect.stringContaining('ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();'),
    ]);
    // Reprise overrules the server's own for its connections.
    expect(textOf(found, 'durable')).toMatch(/^synchronous_commit on,/);
    expect(textOf(found, 'slowest')).toMatch(/^[\d.]+ ms on average of \d+ calls: /);
    for (const { todo } of found.findings)
      for (const statement of todo.replace(/^.*?: /, '').split('; ')) await tamper(server.url(), statement);
    await until(async () => (await doctor(server.url())).ok);
    expect(await doctor(server.url())).toMatchObject({ ok: true, findings: [], store: { durability: 'disk' } });
  });
});
