/**
 * `npm run load -- --writers 16 --followers 4 --seconds 60 [--kill]` writes to a server and follows what is written; it
 * prints percentiles, memory, and the events that were lost or came twice. `--kill` kills the server again and again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createNodePlatform, openReprise, openSqliteStore, type Session } from '../src/index.ts';
import { makeToken } from '../src/server.ts';
import { bytes, short, time } from './measure.ts';

/** How much load, and for how long. */
export interface LoadOptions {
  readonly writers: number;
  readonly followers: number;
  readonly seconds: number;
  /** Kills the server every few seconds, and starts it again. */
  readonly kill: boolean;
}

/** The figures of a load. */
export interface LoadFigures {
  readonly appended: number;
  /** Milliseconds of each append. */
  readonly appendMs: readonly number[];
  /** Milliseconds from the beginning of an append until a follower had the event. */
  readonly followMs: readonly number[];
  /** The most memory that the server used. */
  readonly rssMax: number;
  readonly kills: number;
  /** Events that were acknowledged and are not stored. */
  readonly lost: number;
  /** Events that are stored twice, or that a follower got twice. */
  readonly repeated: number;
}

/** Puts a load on a server of its own, on a new SQLite file. */
export async function load({ writers, followers, seconds, kill }: LoadOptions): Promise<LoadFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-load-'));
  const path = join(directory, 'load.db');
  const token = await newToken(path);
  await using server = new KilledServer(path, await freePort());
  await server.start();
  try {
    const stop = new AbortController();
    const end = performance.now() + seconds * 1_000;
    const reprise = await openReprise({ store: server.url, token, busyWaitMs: 60_000 });
    const sessions = await Promise.all(
      Array.from({ length: writers }, (_, index) => reprise.session(`writer-${index}`, { create: true })),
    );
    const followMs: number[] = [];
    let repeated = 0;
    const following = Array.from({ length: followers }, async (_, index) => {
      const session = sessions[index % sessions.length];
      if (session !== undefined) repeated += await follow(session, stop.signal, followMs);
    });
    const killing = kill ? server.killUntil(end) : Promise.resolve();
    const written = await Promise.all(sessions.map((session) => write(session, end)));
    await killing;
    await new Promise((resolve) => setTimeout(resolve, 500));
    stop.abort();
    await Promise.all(following);
    const checked = await Promise.all(written.map(({ session, acknowledged }) => check(session, acknowledged)));
    await reprise.close();
    return {
      appended: written.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
      appendMs: written.flatMap(({ appendMs }) => appendMs),
      followMs,
      rssMax: server.rssMax,
      kills: server.kills,
      lost: checked.reduce((sum, { lost }) => sum + lost, 0),
      repeated: repeated + checked.reduce((sum, held) => sum + held.repeated, 0),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Written {
  readonly session: Session;
  readonly acknowledged: number;
  readonly appendMs: readonly number[];
}

async function write(session: Session, end: number): Promise<Written> {
  const appendMs: number[] = [];
  let acknowledged = 0;
  while (performance.now() < end) {
    const sentMs = performance.now();
    await session.append({ type: 'note.added', data: { text: JSON.stringify({ index: acknowledged, sentMs }) } });
    acknowledged += 1;
    appendMs.push(performance.now() - sentMs);
  }
  return { session, acknowledged, appendMs };
}

interface Note {
  readonly index: number;
  readonly sentMs: number;
}

const noteOf = (data: { readonly [key: string]: unknown }): Note => JSON.parse(String(data['text'])) as Note;

/** Follows a session; returns how many events came twice. */
async function follow(session: Session, signal: AbortSignal, followMs: number[]): Promise<number> {
  let [last, repeated] = [0, 0];
  for await (const { seq, data } of session.replay({ history: 'raw', follow: true, signal })) {
    if (seq <= last) repeated += 1;
    last = Math.max(last, seq);
    followMs.push(performance.now() - noteOf(data).sentMs);
  }
  return repeated;
}

async function check(session: Session, acknowledged: number): Promise<{ lost: number; repeated: number }> {
  const seen = new Map<number, number>();
  for await (const { data } of session.replay({ history: 'raw' })) {
    const { index } = noteOf(data);
    seen.set(index, (seen.get(index) ?? 0) + 1);
  }
  const lost = Array.from({ length: acknowledged }, (_, index) => index).filter((index) => !seen.has(index)).length;
  return { lost, repeated: [...seen.values()].filter((count) => count > 1).length };
}

/** Returns the milliseconds from appends at the first server to a follower at the last one. */
export async function followed(
  urls: readonly string[],
  tokens: readonly string[],
  count: number,
): Promise<readonly number[]> {
  await using writer = await openReprise({ store: urls[0] ?? '', token: tokens[0] ?? '' });
  await using reader = await openReprise({ store: urls.at(-1) ?? '', token: tokens.at(-1) ?? '' });
  const session = await writer.session('followed', { create: true });
  const stop = new AbortController();
  const waits: number[] = [];
  const following = follow(await reader.session('followed'), stop.signal, waits);
  for (let index = 0; index < count; index++) {
    const data = { text: JSON.stringify({ index, sentMs: performance.now() }) };
    await session.append({ type: 'note.added', data });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (waits.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
  stop.abort();
  await following;
  return waits;
}

async function newToken(path: string): Promise<string> {
  const platform = createNodePlatform();
  const store = await openSqliteStore({ path, platform });
  const { token, record } = makeToken({ rights: ['admin'] }, platform);
  await store.tokens.add(record);
  await store.close();
  return token;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** A `reprise serve` that is killed and started again, always on the same port. */
class KilledServer implements AsyncDisposable {
  readonly url: string;
  readonly #path: string;
  readonly #port: number;
  #child: ChildProcess | undefined;
  readonly #looking: ReturnType<typeof setInterval>;
  rssMax = 0;
  kills = 0;

  constructor(path: string, port: number) {
    this.#path = path;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#looking = setInterval(() => this.#look(), 500);
  }

  async start(): Promise<void> {
    const program = join(import.meta.dirname, '../src/cli/bin.ts');
    const words = ['serve', '--json', '--port', String(this.#port), '--store', `sqlite:${this.#path}`];
    const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child = child;
    await new Promise((resolve) => child.stdout.once('data', resolve));
  }

  /** Kills the server every two to five seconds, and starts it again. */
  async killUntil(end: number): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 2_000 + Math.random() * 3_000));
      if (performance.now() >= end) return;
      await this.#kill();
      this.kills += 1;
      await this.start();
    }
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Reads the memory of the server where the system shows it. */
  #look(): void {
    try {
      const status = readFileSync(`/proc/${String(this.#child?.pid)}/status`, 'utf8');
      this.rssMax = Math.max(this.rssMax, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1_024);
    } catch {
      // It may have ended, or the system is a different one.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking);
    await this.#kill();
  }
}

function percentilesOf(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): string => time(sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN);
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, most ${at(1)}`;
}

/** Returns figures as lines for people. */
export function loadLines({ appended, appendMs, followMs, rssMax, kills, lost, repeated }: LoadFigures): string[] {
  return [
    `${short(appended)} appends: ${percentilesOf(appendMs)}`,
    `${short(followMs.length)} events at followers: ${percentilesOf(followMs)}`,
    `memory of the server: ${bytes(rssMax)} at most; killed ${kills} times`,
    `lost ${lost}, repeated ${repeated}`,
  ];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      writers: { type: 'string', default: '16' },
      followers: { type: 'string', default: '4' },
      seconds: { type: 'string', default: '10' },
      kill: { type: 'boolean', default: false },
    },
  });
  const figures = await load({
    writers: Number(values.writers),
    followers: Number(values.followers),
    seconds: Number(values.seconds),
    kill: values.kill,
  });
  for (const line of loadLines(figures)) process.stdout.write(`${line}\n`);
  if (figures.lost > 0 || figures.repeated > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
