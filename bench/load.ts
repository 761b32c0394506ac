/**
 * `npm run load -- --writers 16 --followers 4 --seconds 60 [--kill] [--cut]` writes to a server and follows what is
 * written; it prints percentiles, memory, and the events that were lost or came twice. `--kill` kills the server again and
 * again, `--cut` its connections.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createNodePlatform, openReprise, openSqliteStore, type Session } from '../src/index.ts';
import { makeToken } from '../src/server.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { bytes, percentile, short, time } from './measure.ts';

/** How much load, and for how long. */
export interface LoadOptions {
  readonly writers: number;
  readonly followers: number;
  readonly seconds: number;
  /** Kills the server every few seconds, and starts it again. */
  readonly kill: boolean;
  /** Cuts every connection about once a second. */
  readonly cut: boolean;
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
  readonly cuts: number;
  /** Events that were acknowledged and are not stored, and events that a follower did not get. */
  readonly lost: number;
  /** Events that are stored twice, or that a follower got twice. */
  readonly repeated: number;
}

/** How long a client waits for a server that is gone, and a follower for its last event. */
const patienceMs = 60_000;

/** Puts a load on a separate server, on a new SQLite file. */
export async function load(options: LoadOptions): Promise<LoadFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-load-'));
  const path = join(directory, 'load.db');
  try {
    const token = await newToken(path);
    await using server = new KilledServer(path, await freePort());
    await server.start();
    const proxy = await cuttingProxy(server.url);
    try {
      const store = options.cut ? proxy.url : server.url;
      await using reprise = await openReprise({ store, token, busyWaitMs: patienceMs });
      const sessions = await Promise.all(
        Array.from({ length: options.writers }, (_, index) => reprise.session(`writer-${index}`, { create: true })),
      );
      return await measured(sessions, options, server, () => proxy.cut());
    } finally {
      await proxy.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measured(
  sessions: readonly Session[],
  { followers, seconds, kill, cut }: LoadOptions,
  server: KilledServer,
  cutAll: () => void,
): Promise<LoadFigures> {
  const end = performance.now() + seconds * 1_000;
  const stop = new AbortController();
  const followed = Array.from({ length: followers }, (_, index) => new Followed(sessions[index % sessions.length]));
  const following = followed.map((each) => each.follow(stop.signal));
  const killing = kill ? server.killUntil(end) : Promise.resolve();
  const cutting = cut ? cutUntil(end, cutAll) : Promise.resolve(0);
  const written = await Promise.all(sessions.map((session) => write(session, end)));
  await killing;
  const cuts = await cutting;
  const late = performance.now() + patienceMs;
  const isBehind = (each: Followed): boolean =>
    each.last < (written.find(({ session }) => session === each.session)?.acknowledged ?? 0);
  while (followed.some(isBehind) && performance.now() < late) await pause(50);
  stop.abort();
  await Promise.all(following);
  const checked = await Promise.all(written.map(({ session, acknowledged }) => check(session, acknowledged)));
  const unseen = followed.map((each) => each.missed + (isBehind(each) ? 1 : 0));
  return {
    appended: sum(written.map(({ acknowledged }) => acknowledged)),
    appendMs: written.flatMap(({ appendMs }) => appendMs),
    followMs: followed.flatMap(({ waits }) => waits),
    rssMax: server.rssMax,
    kills: server.kills,
    cuts,
    lost: sum(checked.map(({ lost }) => lost)) + sum(unseen),
    repeated: sum(checked.map(({ repeated }) => repeated)) + sum(followed.map(({ repeated }) => repeated)),
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

/** Cuts every connection about once a second; returns how often. */
async function cutUntil(end: number, cutAll: () => void): Promise<number> {
  for (let cuts = 0; ; cuts++) {
    await pause(500 + Math.random() * 1_000);
    if (performance.now() >= end) return cuts;
    cutAll();
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

/** A session that is followed, and what came of it. */
class Followed {
  readonly session: Session | undefined;
  /** Milliseconds from the beginning of each append until its event was here. */
  readonly waits: number[] = [];
  last = 0;
  repeated = 0;
  /** Events that others came after. */
  missed = 0;

  constructor(session: Session | undefined) {
    this.session = session;
  }

  /** Follows until it is stopped. */
  async follow(signal: AbortSignal): Promise<void> {
    for await (const { seq, data } of this.session?.replay({ history: 'raw', follow: true, signal }) ?? []) {
      if (seq <= this.last) this.repeated += 1;
      else this.missed += seq - this.last - 1;
      this.last = Math.max(this.last, seq);
      this.waits.push(performance.now() - noteOf(data).sentMs);
    }
  }
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

/** Appends before the measurement, while both sides compile their code and the follower begins to follow. */
const warming = 100;

/** Returns the milliseconds from appends at the first server to a follower at the last one, once it follows. */
export async function followed(
  urls: readonly string[],
  tokens: readonly string[],
  count: number,
): Promise<readonly number[]> {
  await using writer = await openReprise({ store: urls[0] ?? '', token: tokens[0] ?? '' });
  await using reader = await openReprise({ store: urls.at(-1) ?? '', token: tokens.at(-1) ?? '' });
  const session = await writer.session('followed', { create: true });
  const stop = new AbortController();
  const held = new Followed(await reader.session('followed'));
  const following = held.follow(stop.signal);
  const append = async (index: number): Promise<void> => {
    const data = { text: JSON.stringify({ index, sentMs: performance.now() }) };
    await session.append({ type: 'note.added', data });
    await pause(1);
  };
  for (let index = 0; index < warming; index++) await append(index);
  while (held.last < warming) await pause(1);
  for (let index = 0; index < count; index++) await append(warming + index);
  while (held.waits.length < warming + count) await pause(10);
  stop.abort();
  await following;
  return held.waits.slice(warming);
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
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve());
      child.once('exit', (code) => reject(new Error(`The server ended with ${code} before it was ready`)));
    });
    // It prints its address before it can answer, and on a busy machine long before: killed then, it never would.
    while (
      !(await fetch(`${this.url}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false))
    )
      await pause(50);
  }

  /** Kills the server every two to five seconds, and starts it again. */
  async killUntil(end: number): Promise<void> {
    for (;;) {
      await pause(2_000 + Math.random() * 3_000);
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
  const at = (share: number): string => time(percentile(values, share));
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, most ${at(1)}`;
}

/** Returns figures as lines for people. */
export function loadLines(figures: LoadFigures): string[] {
  const { appended, appendMs, followMs, rssMax, kills, cuts, lost, repeated } = figures;
  return [
    `${short(appended)} appends: ${percentilesOf(appendMs)}`,
    `${short(followMs.length)} events at followers: ${percentilesOf(followMs)}`,
    `memory of the server: ${bytes(rssMax)} at most; killed ${kills} times, connections cut ${cuts} times`,
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
      cut: { type: 'boolean', default: false },
    },
  });
  const { writers, followers, seconds, kill, cut } = values;
  const figures = await load({
    writers: Number(writers),
    followers: Number(followers),
    seconds: Number(seconds),
    kill,
    cut,
  });
  for (const line of loadLines(figures)) process.stdout.write(`${line}\n`);
  if (figures.lost > 0 || figures.repeated > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
