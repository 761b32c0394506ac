import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { EventStore } from '../../src/core/store/event-store.ts';
import { createNodePlatform, openPostgresStore, openReprise } from '../../src/index.ts';
import { note, request } from '../../src/testing/contract/contract-case.ts';
import { until } from '../until.ts';
import { newPlace, tamper } from './place.ts';
import { type Server, startServer } from './server.ts';
import { startProxy, type WireProxy } from './wire-proxy.ts';

const platform = createNodePlatform();
const ref = { namespace: 'default', session: 'demo' };
let proxy: WireProxy;
beforeAll(async () => {
  proxy = await startProxy(Number(new URL(inject('postgresUrl')).port));
});
afterEach(() => {
  vi.restoreAllMocks();
  proxy.isSilent = false;
  proxy.cutAt = () => false;
  proxy.dropAt = () => false;
  proxy.cutAll();
});
afterAll(() => proxy.close());

const waits = { busyWaitMs: 500, statementTimeoutMs: 500 };
const neverMs = 2 ** 31 - 1;

async function opened(url: string, more: object = {}): Promise<EventStore> {
  const store = await openPostgresStore({ url, platform, durability: 'process', ...more });
  if ((await store.session(ref)) === undefined) await store.createSession(ref, { root: 'main', seed: 'x' });
  return store;
}

async function codeOf(store: EventStore, text: string): Promise<string> {
  const [outcome] = await store.append([request(ref, [note(text)])]);
  return outcome?.ok === false ? outcome.error.code : 'ok';
}

/** How a process ended whose server falls silent, and what it said. */
async function childOn(url: string, fallSilent: () => void): Promise<string> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./silence-child.ts', import.meta.url)), url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  while (!said.includes('ready')) await once(child.stdout, 'data');
  fallSilent();
  child.stdin.write('go\n');
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  if (code !== 0) throw new Error(`The child ended with ${code}, having said ${said}`);
  return said;
}

describe('a server that does not answer any more', () => {
  it('on a network that swallows everything, is waited for within bounds, and nothing is left that keeps a process', async () => {
    const said = await childOn(proxy.through(newPlace()), () => {
      proxy.isSilent = true;
    });
    expect(said).toMatch(/store\.unreachable: Cannot use the store: the server (did|does) not answer .*\(Check /);
    expect(said).toContain('awake\nclosed\n');
  });

  it('because it was stopped, is waited for within bounds, and written to again once it goes on', async () => {
    const server: Server = await startServer();
    try {
      const store = await opened(server.url(), waits);
      server.freeze('SIGSTOP');
      try {
        expect(await codeOf(store, 'a')).toBe('store.unreachable');
        await expect(store.branch({ ...ref, branch: 'main' })).rejects.toMatchObject({ code: 'store.unreachable' });
        await expect(opened(server.url(), waits)).rejects.toMatchObject({ code: 'store.unreachable' });
      } finally {
        server.freeze('SIGCONT');
      }
      await until(async () => (await codeOf(store, 'b')) === 'ok');
      expect(await codeOf(store, 'c')).toBe('ok');
      await store.close();
    } finally {
      await server.stop();
    }
  });

  it('on one connection, is not waited for on every other one too', async () => {
    const store = await opened(proxy.through(newPlace()), waits);
    await Promise.all(Array.from({ length: 8 }, () => store.branch({ ...ref, branch: 'main' })));
    proxy.isSilent = true;
    await expect(store.branch({ ...ref, branch: 'main' })).rejects.toMatchObject({ code: 'store.unreachable' });
    proxy.isSilent = false;
    // The wait would be over before the next of the lost ones is given up.
    expect((await store.branch({ ...ref, branch: 'main' }))?.head).toBe(0);
    await store.close();
  });
});

it('a writer that falls silent in the middle of a transaction holds up the others no longer than five seconds', async () => {
  const place = newPlace();
  const silent = await opened(proxy.through(place));
  const other = await opened(place);
  proxy.cutAt = ({ from, type, text }) => {
    if (from === 'client' && type === 'Q' && text === 'COMMIT') proxy.isSilent = true;
    return false;
  };
  const lost = codeOf(silent, 'in between');
  await until(() => proxy.isSilent);
  expect(await codeOf(other, 'goes on')).toBe('ok');
  proxy.isSilent = false;
  proxy.cutAt = () => false;
  proxy.cutAll();
  expect(await lost).toBe('ok');
  expect((await other.branch({ ...ref, branch: 'main' }))?.head).toBe(2);
  for (const store of [silent, other]) await store.close();
});

describe('a tail', () => {
  /** Follows through one store what another writes, each text until it is seen; gives what was seen. */
  async function tail(
    url: string,
    place: string,
    work: (write: (text: string) => Promise<void>) => Promise<void>,
  ): Promise<unknown[]> {
    const writer = await opened(place);
    const reader = await openReprise({ store: await opened(url), platform });
    const stop = new AbortController();
    const seen: unknown[] = [];
    const following = (async () => {
      const session = await reader.session('demo');
      for await (const { data } of session.replay({ follow: true, signal: stop.signal }))
        seen.push((data as { readonly text: string }).text);
    })();
    await work(async (text) => {
      expect(await codeOf(writer, text)).toBe('ok');
      while (seen.at(-1) !== text) await turn();
    });
    stop.abort();
    await following;
    await writer.close();
    await reader.close();
    return seen;
  }

  const listening = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND application_name = 'tail'`;

  async function listens(place: string): Promise<boolean> {
    return await until(async () => (await tamper(place, listening)).length > 0);
  }

  it('hears of what another process commits, and does not have to look for it', async () => {
    const place = newPlace();
    const { setTimeout: start } = globalThis;
    // A timer of a second or more never fires, so that the reader never looks by itself.
    const held = vi
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((run: () => void, ms = 0) => start(run, ms < 1_000 ? ms : neverMs)) as typeof setTimeout);
    const seen = await tail(`${place}&application_name=tail`, place, async (write) => {
      expect(await listens(place)).toBe(true);
      for (const text of ['a', 'b', 'c', 'd']) await write(text);
    });
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
    held.mockRestore();
  });

  it('goes on when the connection it listens on is cut, and listens again', async () => {
    const place = newPlace();
    const seen = await tail(`${place}&application_name=tail`, place, async (write) => {
      expect(await listens(place)).toBe(true);
      await write('a');
      await tamper(place, `SELECT pg_terminate_backend(pid) FROM (${listening}) held`);
      await write('b');
      expect(await listens(place)).toBe(true);
      await write('c');
    });
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('goes on when no message ever arrives', async () => {
    const place = newPlace();
    let dropped = 0;
    proxy.dropAt = ({ from, type }) => {
      const isTold = from === 'server' && type === 'A';
      if (isTold) dropped++;
      return isTold;
    };
    const seen = await tail(`${proxy.through(place)}&application_name=tail`, place, async (write) => {
      expect(await listens(place)).toBe(true);
      for (const text of ['a', 'b', 'c']) await write(text);
    });
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(dropped).toBeGreaterThan(0);
  });
});

it('a page of a long history moves a page of it over the network', async () => {
  const place = newPlace();
  const store = await opened(place);
  for (let batch = 0; batch < 4; batch++)
    await store.append([
      request(
        ref,
        Array.from({ length: 1_000 }, () => note('x'.repeat(500))),
      ),
    ]);
  const reader = await openReprise({ store: await opened(proxy.through(place)), platform });
  const session = await reader.session('demo');
  const before = proxy.bytes();
  let count = 0;
  for await (const _ of session.replay()) if (++count === 10) break;
  expect(proxy.bytes() - before).toBeLessThan(400_000);
  await reader.close();
  await store.close();
});
