import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createNodePlatform, type Event, openReprise, openSqliteStore, summary } from '../../src/index.ts';
import { all } from '../verbs/verb-case.ts';

let directory = '';
let count = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-processes-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const child = fileURLToPath(new URL('./peer-child.ts', import.meta.url));

/** Another process; gives its lines once it has ended well. */
class Peer {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: string[] = [];
  readonly #first: Promise<unknown>;

  constructor(path: string, ...work: string[]) {
    const command = ['--disable-warning=ExperimentalWarning', child, path, ...work];
    this.#process = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface(this.#process.stdout);
    lines.on('line', (line) => this.#lines.push(line));
    this.#first = once(lines, 'line');
  }

  /** Resolves when it has said its first word. */
  async ready(): Promise<void> {
    await this.#first;
  }

  /** Ends its input: a process that holds a lock lets go of it. */
  letGo(): void {
    this.#process.stdin.end();
  }

  async done(): Promise<readonly string[]> {
    this.letGo();
    if (this.#process.exitCode === null) await once(this.#process, 'close');
    expect(this.#process.exitCode).toBe(0);
    return this.#lines.slice(1);
  }
}

async function newStore(): Promise<string> {
  const path = join(directory, `${count++}.db`);
  await using reprise = await openReprise(`sqlite:${path}`);
  await (await reprise.createSession('demo')).append({ type: 'note.added', data: { text: 'first' } });
  return path;
}

describe('several processes on one file', () => {
  test('a reader follows what another process appends, each event once and in order', async () => {
    const path = await newStore();
    await using reprise = await openReprise({ store: `sqlite:${path}`, readOnly: true });
    const session = await reprise.session('demo');
    const events: Event[] = [];
    const peer = new Peer(path, 'append', '60');
    for await (const event of session.replay({ follow: true, history: 'raw' })) {
      events.push(event);
      if (event.seq === 61) break;
    }
    const said = await peer.done();
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 61 }, (_, index) => index + 1));
    expect(said.map(Number)).toEqual(events.slice(1).map((event) => event.seq));
  });

  test('two writers under a head condition never overwrite each other, and each conflict is clear', async () => {
    const path = await newStore();
    const peers = ['left', 'right'].map((name) => new Peer(path, 'fight', name, '40'));
    const said = (await Promise.all(peers.map((peer) => peer.done()))).flat();
    const seqs = said.filter((line) => !line.startsWith('conflicts')).map(Number);
    expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, index) => index + 2));
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.session('demo');
    for (const name of ['left', 'right']) {
      const own = await all(session.replay({ filter: { text: name } }));
      expect(own.map((event) => event.data['text'])).toEqual(
        Array.from({ length: 40 }, (_, index) => `${name} ${index + 1}`),
      );
    }
    expect(await session.verify()).toMatchObject({ ok: true, events: 81 });
  });

  test('a writer, a reader and forks of both at once leave one sound history', async () => {
    const path = await newStore();
    const peer = new Peer(path, 'append', '40');
    await peer.ready();
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.session('demo');
    for (let index = 0; index < 10; index++) {
      await session.append({ type: 'note.added', data: { text: `own ${index}` } });
      await session.fork('main', { name: `f${index}` });
      await session.fold(summary);
    }
    await peer.done();
    expect(await session.verify()).toMatchObject({ ok: true, events: 51 });
    for (let index = 0; index < 10; index++)
      expect(await session.branch(`f${index}`).verify()).toMatchObject({ ok: true });
  });
});

describe('while another process holds the lock', () => {
  test('appends wait without freezing the event loop, reads do not wait at all, and then all is written', async () => {
    const path = await newStore();
    await using reprise = await openReprise(`sqlite:${path}`);
    const session = await reprise.session('demo');
    await all(session.replay());
    const peer = new Peer(path, 'hold');
    await peer.ready();
    let isAppended = false;
    const appended = Promise.all(
      ['a', 'b', 'c'].map((text) => session.append({ type: 'note.added', data: { text } })),
    ).then(() => {
      isAppended = true;
    });
    await all(session.replay());
    for (let count = 0; count < 100; count++) await turn();
    expect(isAppended).toBe(false);
    // Only this event loop lets the other process go: had it stood still, the appends would have waited in vain.
    await peer.done();
    await appended;
    expect(await session.verify()).toMatchObject({ ok: true, events: 4 });
  });

  // Without an option the wait is `busyWaitMsMax`.
  test('the wait is bounded: store.busy, nothing is written, and a later try succeeds', async () => {
    const path = await newStore();
    const platform = createNodePlatform();
    const store = await openSqliteStore({ path, platform, busyWaitMs: 200 });
    await using reprise = await openReprise({ store, platform });
    const session = await reprise.session('demo');
    const peer = new Peer(path, 'hold');
    await peer.ready();
    await expect(session.append({ type: 'note.added', data: { text: 'a' } })).rejects.toMatchObject({
      code: 'store.busy',
      hint: expect.stringMatching(/again/),
    });
    await peer.done();
    await session.append({ type: 'note.added', data: { text: 'b' } });
    expect((await all(session.replay())).map((event) => event.data['text'])).toEqual(['first', 'b']);
  });

  test('openReprise({ busyWaitMs }) says how long: for appends and for what else writes', async () => {
    const path = await newStore();
    await using once = await openReprise({ store: `sqlite:${path}`, busyWaitMs: 0 });
    await using longer = await openReprise({ store: `sqlite:${path}`, busyWaitMs: 600 });
    await using patient = await openReprise({ store: `sqlite:${path}`, busyWaitMs: 60_000 });
    const peer = new Peer(path, 'hold');
    await peer.ready();
    const note = { type: 'note.added', data: { text: 'a' } };
    const busy = { code: 'store.busy' };
    const settled: string[] = [];
    // The clock of the waits stands still except where it is moved.
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      await expect((await once.session('demo')).append(note)).rejects.toMatchObject(busy);
      await expect(once.createSession('other')).rejects.toMatchObject(busy);
      const waiting = (await patient.session('demo')).append(note).finally(() => settled.push('patient'));
      const refused = expect((await longer.session('demo')).append(note).finally(() => settled.push('longer')));
      const given = refused.rejects.toMatchObject(busy);
      await vi.advanceTimersByTimeAsync(500);
      expect(settled).toEqual([]);
      await vi.advanceTimersByTimeAsync(200);
      await given;
      expect(settled).toEqual(['longer']);
      await peer.done();
      await vi.advanceTimersByTimeAsync(100);
      expect((await waiting).map((event) => event.seq)).toEqual([2]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('a wait that is no number from 0 is refused before the file is touched', async () => {
    const nowhere = join(directory, 'nowhere');
    for (const busyWaitMs of [-1, Number.NaN, '5' as never]) {
      const opening = openReprise({ store: `sqlite:${join(nowhere, 'none.db')}`, busyWaitMs });
      await expect(opening).rejects.toMatchObject({ code: 'option.invalid' });
    }
    expect(existsSync(nowhere)).toBe(false);
  });
});
