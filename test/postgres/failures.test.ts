import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { RepriseError } from '../../src/core/error.ts';
import { limits } from '../../src/core/limits.ts';
import type { AppendRequest, EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform } from '../../src/node/platform.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { until } from '../until.ts';
import { cutConnections, hold, newPlace, tamper } from './place.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };

async function opened(place: string, more: object = {}): Promise<EventStore> {
  return await openPostgresStore({ url: place, platform, durability: 'process', ...more });
}

/** The error a promise is rejected with. */
async function failure(promise: Promise<unknown>): Promise<RepriseError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown as RepriseError,
  );
  if (error === undefined) throw new Error('It did not fail');
  return error;
}

function withUrl(place: string, change: (url: URL) => void): string {
  const url = new URL(place);
  change(url);
  return url.href;
}

function appendOf(text: string): AppendRequest {
  return request(ref, [note(text)]);
}

afterEach(() => void vi.useRealTimers());

describe('a PostgreSQL store that cannot be opened says why', () => {
  it('when nothing listens there', async () => {
    const url = withUrl(newPlace(), (held) => {
      held.port = '1';
    });
    // It is not tried again for as long as it might be.
    const error = await failure(opened(url, { busyWaitMs: limits.busyWaitGivenMsMax }));
    expect([error.code, error.message.includes('reprise:reprise')]).toEqual(['store.unreachable', false]);
  });

  it('when something listens that never answers', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { readonly port: number };
    const url = withUrl(newPlace(), (held) => {
      held.port = String(port);
    });
    const connected = once(silent, 'connection');
    let isOver = false;
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      const failed = failure(opened(url, { busyWaitMs: limits.connectWaitMsMax / 2 })).finally(() => {
        isOver = true;
      });
      // The driver connects when a timer fires.
      await vi.advanceTimersByTimeAsync(1);
      await connected;
      await vi.advanceTimersByTimeAsync(limits.connectWaitMsMax / 4);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(limits.connectWaitMsMax / 4);
      expect((await failed).code).toBe('store.unreachable');
    } finally {
      vi.useRealTimers();
      silent.close();
    }
  });

  it('when the password is wrong, without telling it', async () => {
    const url = withUrl(newPlace(), (held) => {
      held.password = 'guessed-by-me';
    });
    const error = await failure(opened(url));
    expect(error.code).toBe('store.denied');
    expect(JSON.stringify(error)).not.toContain('guessed-by-me');
  });

  it('when there is no such database', async () => {
    const url = withUrl(newPlace(), (held) => {
      held.pathname = '/nowhere';
    });
    expect((await failure(opened(url))).code).toBe('store.not-found');
  });

  it('when there is no store and none is to be made', async () => {
    for (const more of [{ create: false }, { readOnly: true }])
      expect((await failure(opened(newPlace(), more))).code).toBe('store.not-found');
  });

  it('when a newer release wrote it', async () => {
    const place = newPlace();
    await (await opened(place)).close();
    await tamper(place, `INSERT INTO schema_versions (version, release) VALUES (99, '9.0.0')`);
    expect((await failure(opened(place))).code).toBe('store.newer');
  });

  it('when the URL or an option cannot be understood', async () => {
    const place = newPlace();
    for (const [url, more] of [
      ['postgres://', {}],
      [`${inject('postgresUrl')}?schema=Bad-Name`, {}],
      [place, { busyWaitMs: -1 }],
      [place, { connections: 1 }],
    ] as const)
      expect((await failure(opened(url, more))).code).toBe('option.invalid');
  });
});

describe('rights', () => {
  const roles = ['reprise_none'];
  beforeAll(async () => {
    for (const role of roles) await tamper(newPlace(), `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  });
  afterAll(async () => {
    for (const role of roles) await tamper(newPlace(), `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  const as = (place: string, role: string): string =>
    withUrl(place, (url) => {
      url.username = role;
      url.password = 'x';
    });

  it('are asked for by name where a role has none', async () => {
    const place = newPlace();
    expect((await failure(opened(as(place, 'reprise_none')))).code).toBe('store.denied');
    await (await opened(place)).close();
    const error = await failure(opened(as(place, 'reprise_none')));
    expect(['store.denied', 'store.not-found']).toContain(error.code);
  });
});

describe('waits are bounded', () => {
  it('for another writer who holds the session', async () => {
    const place = newPlace();
    const store = await opened(place, { busyWaitMs: 500 });
    await store.createSession(ref, { root: 'main', seed: 'x' });
    const letGo = await hold(place, 'SELECT 1 FROM sessions FOR UPDATE');
    const [outcome] = await store.append([appendOf('a')]);
    expect(outcome?.ok === false && outcome.error.code).toBe('store.busy');
    await letGo();
    expect((await store.append([appendOf('b')]))[0]?.ok).toBe(true);
    await store.close();
  });

  it('for a connection, when all of this process are in use', async () => {
    const place = newPlace();
    const store = await opened(place, { busyWaitMs: 400, connections: 2 });
    await store.createSession(ref, { root: 'main', seed: 'x' });
    const letGo = await hold(place, 'LOCK TABLE branches');
    const reads = await Promise.allSettled(Array.from({ length: 6 }, () => store.branch({ ...ref, branch: 'main' })));
    for (const read of reads)
      expect(read.status === 'rejected' && (read.reason as RepriseError).code).toBe('store.busy');
    await letGo();
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(0);
    await store.close();
  });

  it('and a store takes no more connections of the server than it is allowed to', async () => {
    const place = newPlace();
    const store = await opened(`${place}&application_name=to_be_counted`, { busyWaitMs: 60_000 });
    await store.createSession(ref, { root: 'main', seed: 'x' });
    const letGo = await hold(place, 'LOCK TABLE branches');
    const reads = Array.from({ length: limits.connectionsMax * 3 }, () => store.branch({ ...ref, branch: 'main' }));
    const waiting = async (): Promise<number> => {
      const [used] = await tamper<{ readonly count: string }>(
        place,
        `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'to_be_counted' AND wait_event_type = 'Lock'`,
      );
      return Number(used?.count);
    };
    await until(async () => (await waiting()) >= limits.connectionsMax);
    expect(await waiting()).toBe(limits.connectionsMax);
    await letGo();
    expect((await Promise.all(reads)).map((record) => record?.head)).toEqual(reads.map(() => 0));
    await store.close();
  });

  // Without an option the wait is `statementMsMax`.
  it('for a statement that the server works on for too long', async () => {
    const place = newPlace();
    const store = await opened(place, { statementTimeoutMs: 300, busyWaitMs: 5_000 });
    await store.createSession(ref, { root: 'main', seed: 'x' });
    await tamper(
      place,
      'CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$; CREATE TRIGGER slow BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION slow()',
    );
    const [outcome] = await store.append([appendOf('a')]);
    expect(outcome?.ok === false && outcome.error.code).toBe('store.busy');
    expect(outcome?.ok === false && outcome.error.message).toContain('longer');
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(0);
    await store.close();
  });
});

describe('connections that are cut', () => {
  it('are made anew: an append that was under way is stored once', async () => {
    const place = newPlace();
    const store = await opened(`${place}&application_name=to_be_cut`, { busyWaitMs: 60_000 });
    await store.createSession(ref, { root: 'main', seed: 'x' });
    using cuts = cutConnections(place, 'to_be_cut', { times: 10, everyMs: 150 });
    const outcomes = [];
    for (let index = 0; index < 100; index++) {
      outcomes.push(...(await store.append([appendOf(String(index))])));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    }
    cuts[Symbol.dispose]();
    expect(outcomes.filter((outcome) => !outcome.ok || outcome.known)).toEqual([]);
    const page = await store.read(
      ref,
      [{ branch: 'main', after: 0 as never, through: 1_000 as never, except: [], carried: false }],
      { limit: 1_000, select: 'full', direction: 'forward' },
    );
    expect(page.events.map(({ data }) => data)).toEqual(
      Array.from({ length: 100 }, (_, index) => JSON.stringify({ text: String(index) })),
    );
    await store.close();
  });
});
