import { createServer, type Server as Listener } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepriseError } from '../../src/core/error.ts';
import { hasCode } from '../../src/core/error.ts';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform, openPostgresStore, openReprise } from '../../src/index.ts';
import type { PostgresStoreOptions } from '../../src/store.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { until } from '../until.ts';
import { tamper } from './place.ts';
import { type Server, startServer } from './server.ts';
import { startProxy } from './wire-proxy.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };
let primary: Server;
let standby: Server;
let lagging: Server;

beforeAll(async () => {
  primary = await startServer();
  standby = await primary.startStandby('near');
  lagging = await primary.startStandby('far');
  const store = await opened(primary.url());
  await store.createSession(ref, { root: 'main', seed: 'x' });
  await store.close();
});
afterAll(async () => {
  for (const server of [primary, standby, lagging]) await server?.stop();
});

function opened(url: string, more: Partial<PostgresStoreOptions> = {}): Promise<EventStore> {
  return openPostgresStore({ url, platform, ...more });
}

/** The URL of several servers, in this order; a number is a port where none is. */
function urlOf(servers: readonly (Server | number)[], parameters = ''): string {
  const hosts = servers.map((server) => `127.0.0.1:${typeof server === 'number' ? server : server.port}`);
  return `postgres://postgres:reprise@${hosts.join(',')}/postgres${parameters}`;
}

async function append(store: EventStore, text: string): Promise<void> {
  const [outcome] = await store.append([request(ref, [note(text)])]);
  if (outcome?.ok !== true) throw outcome?.error;
}

async function failureOf(promise: Promise<unknown>): Promise<RepriseError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown as RepriseError,
  );
  if (error === undefined) throw new Error('It did not fail');
  return error;
}

/** A listener that hangs up on every caller, and counts them. */
async function hangingUp(): Promise<{
  readonly port: number;
  readonly calls: () => number;
  readonly close: () => void;
}> {
  let calls = 0;
  const listener: Listener = createServer((socket) => {
    calls++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { readonly port: number };
  return { port, calls: () => calls, close: () => listener.close() };
}

describe('a URL with several hosts', () => {
  it('goes on to the next one when the first is dead', async () => {
    const store = await opened(urlOf([1, primary]));
    await append(store, 'a');
    await store.close();
  });

  it('writes to the primary when the first is a standby, asked for or not', async () => {
    for (const parameters of ['?target_session_attrs=read-write', '?target_session_attrs=primary', '']) {
      const store = await opened(urlOf([standby, primary], parameters));
      await append(store, 'b');
      await store.close();
    }
  });

  it('reads from a standby when that is asked for', async () => {
    for (const parameters of ['standby', 'prefer-standby', 'read-only']) {
      const url = urlOf([primary, standby], `?target_session_attrs=${parameters}&application_name=reads_there`);
      const store = await opened(url, { readOnly: true });
      expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBeGreaterThanOrEqual(0);
      const counted = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'reads_there'`;
      expect(await tamper(standby.url(), counted)).not.toEqual([{ count: 0 }]);
      expect(await tamper(primary.url(), counted)).toEqual([{ count: 0 }]);
      await store.close();
    }
  });

  it('follows on a standby what is written on the primary, where nobody can listen', async () => {
    const reader = await openReprise({ store: await opened(standby.url(), { readOnly: true }), platform });
    const writer = await opened(primary.url());
    const stop = new AbortController();
    const seen: unknown[] = [];
    const following = (async () => {
      const session = await reader.session('demo');
      for await (const { data } of session.replay({ follow: true, signal: stop.signal })) seen.push(data);
    })();
    await append(writer, 'to be followed');
    await until(() => JSON.stringify(seen.at(-1)) === '{"text":"to be followed"}');
    expect(seen.at(-1)).toEqual({ text: 'to be followed' });
    stop.abort();
    await following;
    await writer.close();
    await reader.close();
  });

  it('says which ones there are when all are dead, without calling them again and again', async () => {
    const [first, second] = [await hangingUp(), await hangingUp()];
    const error = await failureOf(opened(urlOf([first.port, second.port]), { busyWaitMs: 1_000 }));
    expect(error.code).toBe('store.unreachable');
    expect(error.message).toContain(`127.0.0.1:${first.port}`);
    expect(error.message).toContain(`127.0.0.1:${second.port}`);
    expect(error.message).not.toContain('reprise@');
    expect(first.calls() + second.calls()).toBeLessThan(20);
    const called = first.calls();
    await sleep(300);
    expect(first.calls()).toBe(called);
    for (const listener of [first, second]) listener.close();
  });

  it('waits for one that can be written to', async () => {
    const late = await startProxy(primary.port);
    let calls = 0;
    late.cutAt = () => {
      calls++;
      return true;
    };
    const { port } = new URL(late.through(primary.url()));
    const opening = opened(urlOf([Number(port), standby]), { busyWaitMs: 60_000 });
    await until(() => calls > 1);
    late.cutAt = () => false;
    const store = await opening;
    await append(store, 'c');
    await store.close();
    await late.close();
  });

  it('says what the others are when none comes that can be written to', async () => {
    const error = await failureOf(opened(urlOf([1, standby]), { busyWaitMs: 600 }));
    expect([error.code, error.details['target']]).toEqual(['store.unreachable', 'read-write']);
    expect(error.message).toContain(`"127.0.0.1:${standby.port}" is a standby`);
    expect(error.hint).toContain('Promote');
  });
});

it('a standby alone refuses to be written to, and is read', async () => {
  const store = await opened(standby.url(), { busyWaitMs: 500 });
  const error = await failureOf(append(store, 'never'));
  expect([error.code, error.details['postgres']]).toEqual(['store.read-only', '25006']);
  expect(error.hint).toContain('target_session_attrs');
  expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBeGreaterThan(0);
  await store.close();
});

describe('a primary that is killed under load', () => {
  /** Writers that go on until they are stopped, and the texts that the store acknowledged. */
  function load(store: EventStore, name: string): { readonly told: string[]; readonly stop: () => Promise<void> } {
    const told: string[] = [];
    let isDone = false;
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let count = 0; !isDone; count++) {
        const text = `${name} ${writer} ${count}`;
        await append(store, text);
        told.push(text);
      }
    });
    return {
      told,
      stop: async () => {
        isDone = true;
        await Promise.all(writing);
      },
    };
  }

  async function storedOn(server: Server, name: string): Promise<string[]> {
    await using reprise = await openReprise({ store: await opened(server.url()), platform });
    const session = await reprise.session('demo');
    expect((await session.verify()).ok).toBe(true);
    const texts: string[] = [];
    for await (const { data } of session.replay({ history: 'raw' }))
      texts.push((data as { readonly text: string }).text);
    return texts.filter((text) => text.startsWith(name));
  }

  it('I2: loses nothing acknowledged with synchronous replication: writers and followers go on at the new one', async () => {
    await tamper(primary.url(), `ALTER SYSTEM SET synchronous_standby_names = 'near'`);
    await tamper(primary.url(), 'SELECT pg_reload_conf()');
    await until(async () => {
      const states = `SELECT sync_state FROM pg_stat_replication WHERE application_name = 'near'`;
      return (await tamper(primary.url(), states))[0]?.['sync_state'] === 'sync';
    });
    const url = urlOf([primary, standby], '?target_session_attrs=read-write');
    const store = await opened(url, { busyWaitMs: 60_000 });
    const follower = await openReprise({ store: await opened(url, { busyWaitMs: 60_000 }), platform });
    const seen: string[] = [];
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      const session = await follower.session('demo');
      for await (const { data } of session.replay({ history: 'raw', follow: true, signal: stop.signal }))
        seen.push((data as { readonly text: string }).text);
    };
    // A primary that dies while a commit waits for its standby may show that commit for a moment. A follower that read it
    // learns that this history is gone, and begins anew, as the hint of the error says.
    const following = follow().catch((error: unknown) => {
      if (!hasCode(error, 'branch.not-found')) throw error;
      seen.length = 0;
      return follow();
    });
    const { told, stop: stopLoad } = load(store, 'kept');
    await until(() => told.length >= 20);
    await primary.kill();
    await sleep(300);
    await tamper(standby.url(), 'SELECT pg_promote()');
    const before = told.length;
    await until(() => told.length >= before + 20);
    await stopLoad();
    const stored = await storedOn(standby, 'kept');
    expect([...stored].sort()).toEqual([...told].sort());
    await until(() => seen.filter((text) => text.startsWith('kept')).length >= stored.length);
    stop.abort();
    await following;
    expect(seen.filter((text) => text.startsWith('kept'))).toEqual(stored);
    await store.close();
    await follower.close();
  });

  it('acknowledges nothing while its synchronous standby is gone, and repeating it later is safe', async () => {
    await primary.restart();
    const store = await opened(primary.url(), { busyWaitMs: 500, statementTimeoutMs: 500 });
    await tamper(primary.url(), `ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
    await tamper(primary.url(), 'SELECT pg_reload_conf()');
    const names = 'SHOW synchronous_standby_names';
    await until(async () => (await tamper(primary.url(), names))[0]?.['synchronous_standby_names'] === 'nobody');
    const asked = request(ref, [note('waiting')]);
    const [outcome] = await store.append([asked]);
    expect(['store.unreachable', 'store.busy']).toContain(outcome?.ok === false && outcome.error.code);
    await tamper(primary.url(), `ALTER SYSTEM RESET synchronous_standby_names`);
    await tamper(primary.url(), 'SELECT pg_reload_conf()');
    await until(async () => (await store.append([asked]))[0]?.ok === true);
    expect(await storedOn(primary, 'waiting')).toEqual(['waiting']);
    await store.close();
  });

  it('loses what the standby had not received without it: the guide says so', async () => {
    const store = await opened(urlOf([primary, lagging]), { busyWaitMs: 60_000 });
    await append(store, 'lost before');
    await until(() => isStored(lagging, 'lost before'));
    await tamper(lagging.url(), `ALTER SYSTEM SET primary_conninfo = ''`);
    await tamper(lagging.url(), 'SELECT pg_reload_conf()');
    const receivers = 'SELECT 1 FROM pg_stat_wal_receiver';
    await until(async () => (await tamper(lagging.url(), receivers)).length === 0);
    await append(store, 'lost after');
    await primary.kill();
    await tamper(lagging.url(), 'SELECT pg_promote()');
    await append(store, 'lost never');
    expect(await storedOn(lagging, 'lost')).toEqual(['lost before', 'lost never']);
    await store.close();
  });

  async function isStored(server: Server, text: string): Promise<boolean> {
    const rows = await tamper(server.url(), `SELECT 1 FROM reprise.events WHERE data LIKE '%${text}%'`);
    return rows.length > 0;
  }
});
