import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepriseError } from '../../src/core/error.ts';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform, openPostgresStore } from '../../src/index.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { mountSmallDisk } from '../crash/small-disk.ts';
import { until } from '../until.ts';
import { tamper } from './place.ts';
import { type Server, startServer } from './server.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };
const connectionsMax = 10;
let server: Server;
let sockets = '';

beforeAll(async () => {
  sockets = mkdtempSync(join(tmpdir(), 'reprise-sockets-'));
  // The user that the server runs as makes its socket there.
  chmodSync(sockets, 0o777);
  const settings = [
    `unix_socket_directories=${sockets}`,
    `max_connections=${connectionsMax}`,
    'superuser_reserved_connections=0',
    'max_wal_senders=0',
  ];
  server = await startServer({ settings });
});
afterAll(async () => {
  await server.stop();
  rmSync(sockets, { recursive: true, force: true });
});

let places = 0;
const schemaOf = (place: string): string => new URL(place).searchParams.get('schema') ?? '';
const newPlace = (): string => `${server.url()}?schema=p${++places}`;

async function opened(url: string, more: object = {}): Promise<EventStore> {
  const store = await openPostgresStore({ url, platform, durability: 'process', connections: 2, ...more });
  if ((await store.session(ref)) === undefined) await store.createSession(ref, { root: 'main', seed: 'x' });
  return store;
}

/** Appends, and returns the error if the store refuses. */
async function refusalOf(store: EventStore, text = 'a'): Promise<{ readonly error?: RepriseError }> {
  const [outcome] = await store.append([request(ref, [note(text)])]);
  return outcome?.ok === false ? { error: outcome.error } : {};
}

async function failureOf(promise: Promise<EventStore>): Promise<RepriseError> {
  return await promise.then(
    async (store) => {
      await store.close();
      throw new Error('It did not fail');
    },
    (error: unknown) => error as RepriseError,
  );
}

/** Takes connections of the server until only so many are left. */
async function crowd(left: number): Promise<() => Promise<void>> {
  const clients: postgres.Sql[] = [];
  for (;;) {
    const client = postgres(server.url(), { max: 1 });
    const [row] =
      await client`SELECT count(*)::int AS count FROM pg_stat_activity WHERE backend_type = 'client backend'`;
    clients.push(client);
    if (row?.['count'] >= connectionsMax - left)
      return async () => {
        for (const held of clients) await held.end();
      };
  }
}

describe('what a server says is told as what it means', () => {
  const meanings: readonly (readonly [state: string, code: string, told: string, hint: string])[] = [
    ['53100', 'store.full', 'no room left', 'append again'],
    ['53200', 'store.failed', 'out of memory', 'smaller'],
    ['53400', 'store.full', 'limit', 'room'],
    ['58030', 'store.failed', 'disk of the server failed', 'append again'],
    ['25006', 'store.read-only', 'only reads', 'target_session_attrs'],
    ['40001', 'store.busy', 'a different writer', 'longer wait'],
    ['40P01', 'store.busy', 'a different writer', 'longer wait'],
    ['55P03', 'store.busy', 'a different writer', 'longer wait'],
    ['57014', 'store.busy', 'longer than it is allowed', 'statementTimeoutMs'],
    ['42501', 'store.denied', 'no right', 'owner'],
    ['XX001', 'store.damaged', 'damaged', 'backup'],
    ['26000', 'store.failed', 'prepared statement', 'pool by session'],
    ['57P01', 'store.unreachable', 'cut', 'acknowledged'],
    ['57P05', 'store.unreachable', 'cut', 'acknowledged'],
    ['25P03', 'store.unreachable', 'cut', 'acknowledged'],
    ['08006', 'store.unreachable', 'cut', 'acknowledged'],
    ['P0001', 'store.failed', 'PostgreSQL says', 'report'],
  ];

  /** States that a new try may change: the store tries again if there is time left. It tries the others once. */
  const passing = new Set(['25006', '40001', '40P01', '55P03', '57P01', '57P05', '25P03', '08006']);

  it('with a code, a hint and PostgreSQL’s own code, tried once where another try does not help, and nothing is written', async () => {
    const place = newPlace();
    // Long enough for a second try on a busy machine.
    const store = await opened(place, { busyWaitMs: 1_000 });
    await tamper(place, 'CREATE SEQUENCE tries');
    await tamper(place, 'CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$');
    await tamper(place, 'CREATE TRIGGER fail BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fail()');
    for (const [state, code, told, hint] of meanings) {
      await tamper(
        place,
        `CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('${schemaOf(place)}.tries'); RAISE EXCEPTION 'planted' USING ERRCODE = '${state}'; END $$`,
      );
      await tamper(place, 'ALTER SEQUENCE tries RESTART');
      const { error } = await refusalOf(store);
      const [tries] = await tamper<{ readonly count: number }>(place, 'SELECT last_value::int AS count FROM tries');
      if (!passing.has(state)) expect([state, tries?.count]).toEqual([state, 1]);
      expect([state, error?.code, error?.details['postgres']]).toEqual([state, code, state]);
      expect(error?.message).toContain(told);
      expect(error?.hint).toContain(hint);
    }
    await tamper(place, 'DROP TRIGGER fail ON events');
    expect((await refusalOf(store)).error).toBeUndefined();
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(1);
    await store.close();
  });
});

describe('a server that has no connection left', () => {
  it('is waited for within bounds, and used as soon as it has', async () => {
    const place = newPlace();
    await (await opened(place)).close();
    const leave = await crowd(0);
    const error = await failureOf(opened(place, { busyWaitMs: 400 }));
    expect([error.code, error.details['postgres']]).toEqual(['store.busy', '53300']);
    expect(error.hint).toContain('max_connections');
    const waiting = opened(place, { busyWaitMs: 60_000 });
    await sleep(200);
    await leave();
    await (await waiting).close();
  });

  it('gives a store fewer than it may use: it makes do', async () => {
    const place = newPlace();
    const store = await opened(place, { connections: 8 });
    await store.branch({ ...ref, branch: 'main' });
    const leave = await crowd(0);
    const work = [
      ...Array.from({ length: 12 }, () => store.branch({ ...ref, branch: 'main' })),
      ...Array.from({ length: 12 }, (_, index) => refusalOf(store, String(index))),
    ];
    for (const done of await Promise.all(work)) expect(done).not.toHaveProperty('error');
    await leave();
    await store.close();
  });
});

describe('a server that is stopping', () => {
  it('is waited for within bounds, and writers go on when it is back', async () => {
    const place = newPlace();
    const store = await opened(place, { busyWaitMs: 30_000 });
    // As long as one is connected it does not stop, but lets nobody else in.
    server.signal('SIGTERM');
    await until(() =>
      tamper(server.url(), 'SELECT 1').then(
        () => false,
        () => true,
      ),
    );
    const error = await failureOf(opened(place, { busyWaitMs: 400 }));
    expect([error.code, error.details['postgres']]).toEqual(['store.unreachable', '57P03']);
    expect(error.message).toContain('starting or stopping');
    let count = 0;
    let isDone = false;
    const writing = (async () => {
      for (; !isDone; count++) expect((await refusalOf(store, String(count))).error).toBeUndefined();
    })();
    await server.shutDown();
    await server.restart();
    await sleep(200);
    isDone = true;
    await writing;
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(count);
    await store.close();
  });
});

describe('encryption', () => {
  it('that is asked for and not offered is said so', async () => {
    const error = await failureOf(opened(`${newPlace()}&sslmode=require`, { busyWaitMs: 300 }));
    expect([error.code, error.details['postgres']]).toEqual(['store.unreachable', 'SSL_REFUSED']);
    expect(error.hint).toContain('sslmode=prefer');
    await (await opened(`${newPlace()}&sslmode=prefer`)).close();
  });

  it('is used where it is offered, asked for by a server that wants it, and its certificate is looked at', async () => {
    await offerEncryption();
    const place = newPlace();
    const store = await opened(`${place}&sslmode=require&application_name=encrypted`);
    expect((await refusalOf(store)).error).toBeUndefined();
    const [row] = await tamper(
      place,
      `SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'encrypted'`,
    );
    expect(row).toEqual({ ssl: true });
    await store.close();
    const untrusted = await failureOf(opened(`${place}&sslmode=verify-full`, { busyWaitMs: 300 }));
    expect([untrusted.code, untrusted.details['postgres']]).toEqual([
      'store.unreachable',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ]);
    expect(untrusted.hint).toContain('NODE_EXTRA_CA_CERTS');
    const plain = await failureOf(opened(place.replace('postgres:reprise@', 'encrypted:x@')));
    expect([plain.code, plain.details['postgres']]).toEqual(['store.denied', '28000']);
    expect(plain.hint).toContain('sslmode=require');
  });

  /** Gives the server a certificate, and a user who has to encrypt. */
  async function offerEncryption(): Promise<void> {
    const { uid, gid } = statSync(server.data);
    for (const name of ['server.crt', 'server.key']) {
      const path = join(server.data, name);
      writeFileSync(path, readFileSync(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))), { mode: 0o600 });
      chownSync(path, uid, gid);
    }
    const rules = join(server.data, 'pg_hba.conf');
    writeFileSync(
      rules,
      `hostssl all encrypted 127.0.0.1/32 trust\nhost all encrypted all reject\n${readFileSync(rules, 'utf8')}`,
    );
    await tamper(server.url(), `CREATE ROLE encrypted LOGIN`);
    await tamper(server.url(), 'ALTER SYSTEM SET ssl = on');
    await tamper(server.url(), 'SELECT pg_reload_conf()');
    await until(async () => (await tamper(server.url(), 'SHOW ssl'))[0]?.['ssl'] === 'on');
  }
});

describe('a disk that is full', () => {
  it('refuses what has no room, loses nothing, and is written to again once there is', async (context) => {
    const disk = mountSmallDisk(1_500_000);
    if (typeof disk === 'string') return context.skip(disk);
    using held = disk;
    const { uid, gid } = statSync(server.data);
    chownSync(held.path, uid, gid);
    const place = newPlace();
    const store = await opened(place, { busyWaitMs: 300 });
    await tamper(place, `CREATE TABLESPACE small LOCATION '${held.path}'`);
    await tamper(place, 'ALTER TABLE events SET TABLESPACE small');
    let count = 0;
    let refused: RepriseError | undefined;
    for (; refused === undefined && count < 5_000; count += 20) {
      const events = Array.from({ length: 20 }, () => note('x'.repeat(1_000)));
      const [outcome] = await store.append([request(ref, events)]);
      if (outcome?.ok === false) refused = outcome.error;
    }
    count -= 20;
    expect([refused?.code, refused?.details['postgres']]).toEqual(['store.full', '53100']);
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(count);
    await tamper(place, 'ALTER TABLE events SET TABLESPACE pg_default');
    expect((await refusalOf(store)).error).toBeUndefined();
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(count + 1);
    await store.close();
    await tamper(place, 'DROP TABLESPACE small');
  });
});

it('a server is reached by the socket of its machine', async () => {
  const { port } = new URL(server.url());
  const store = await opened(`postgres://postgres:reprise@/postgres?schema=p${++places}&host=${sockets}&port=${port}`);
  expect((await refusalOf(store)).error).toBeUndefined();
  await store.close();
  const elsewhere = await failureOf(opened(`postgres://postgres@/postgres?host=/nowhere&port=${port}`));
  expect([elsewhere.code, elsewhere.details['postgres']]).toEqual(['store.unreachable', 'ENOENT']);
});

it('stores whose clocks differ write one history, in the order in which it was written', async () => {
  const place = newPlace();
  const hours = (count: number) => ({
    ...platform,
    now: () => new Date(Date.now() + count * 3_600_000).toISOString(),
  });
  const stores = [await opened(place, { platform: hours(-26) }), await opened(place, { platform: hours(26) })];
  const other = { ...ref, session: 'other' };
  await stores[1]?.createSession(other, { root: 'main', seed: 'y' });
  for (let count = 0; count < 10; count++) {
    const held = hours(count % 2 === 0 ? -26 : 26);
    const [outcome] = (await stores[count % 2]?.append([
      request(ref, [note(String(count), { time: held.now(), id: held.newId() })]),
    ])) ?? [undefined];
    expect(outcome?.ok && outcome.events.map(({ seq }) => seq)).toEqual([count + 1]);
  }
  for (const store of stores) {
    // The session that was appended to last comes first, whatever the time of its last event.
    const { sessions } = await store.sessions({ limit: 10 });
    expect(sessions.map(({ session }) => session)).toEqual(['demo', 'other']);
    const view = [{ branch: 'main', after: 0 as never, through: 10 as never, except: [], carried: false }];
    const { events } = await store.read(ref, view, { limit: 100, select: 'full', direction: 'forward' });
    expect(events.map(({ data }) => data)).toEqual(events.map((_, index) => JSON.stringify({ text: String(index) })));
    await store.close();
  }
});
