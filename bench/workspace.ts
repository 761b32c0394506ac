/** Where the benchmarks put their files, and the histories several of them read. */

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Engine } from '../src/engine/context/engine.ts';
import { createEngine } from '../src/engine/reprise-parts.ts';
import { createNodePlatform, openReprise, openSqliteStore, type Reprise, type Session } from '../src/index.ts';
import type { EventStore, Platform } from '../src/store.ts';
import { drafts, payloads } from './workload.ts';

/** How much of everything is measured. */
export interface Sizes {
  readonly isQuick: boolean;
  /** Rounds of CPU-bound contenders. */
  readonly rounds: number;
  /** Rounds of contenders that wait for the disk. */
  readonly diskRounds: number;
  /** Events of the long history most rows read. */
  readonly events: number;
  /** Events of the very long history. */
  readonly eventsMore: number;
  /** Events of a history spread over ancestors. */
  readonly lineageEvents: number;
  readonly ancestors: number;
  /** Steps of the LangGraph peer. */
  readonly steps: number;
  /** Model calls of a session that records whole requests; measured at this many and at twice as many. */
  readonly turns: number;
  /** How long somebody scrubs in the studio. */
  readonly scrubMs: number;
}

/** The sizes that the goals name. */
export const fullSizes: Sizes = {
  isQuick: false,
  rounds: 7,
  diskRounds: 11,
  events: 100_000,
  eventsMore: 1_000_000,
  lineageEvents: 10_000,
  ancestors: 100,
  steps: 1_000,
  turns: 1_000,
  scrubMs: 20_000,
};

/** Just enough to see that every row still runs; the figures mean nothing. */
export const quickSizes: Sizes = {
  isQuick: true,
  rounds: 1,
  diskRounds: 1,
  events: 1_200,
  eventsMore: 2_400,
  lineageEvents: 200,
  ancestors: 5,
  steps: 10,
  turns: 10,
  scrubMs: 500,
};

/** An open store with everything that is measured on it. */
export interface Opened extends AsyncDisposable {
  readonly path: string;
  readonly store: EventStore;
  readonly engine: Engine;
  readonly reprise: Reprise;
  readonly session: Session;
}

/** The session every benchmark writes to. */
export const sessionId = 'bench';

/** A directory of our own that is gone afterwards, and long histories that are built once. */
export class Workspace implements Disposable {
  readonly sizes: Sizes;
  readonly #directory: string;
  readonly #histories = new Map<number, Promise<string>>();
  #files = 0;

  constructor(sizes: Sizes) {
    this.sizes = sizes;
    this.#directory = mkdtempSync(join(process.env['REPRISE_BENCH_DIR'] ?? tmpdir(), 'reprise-bench-'));
    // The long histories are large: they must not stay behind when somebody loses patience.
    process.once('exit', () => this[Symbol.dispose]());
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  }

  /** A path that was not used before. */
  path(name: string): string {
    return join(this.#directory, `${this.#files++}-${name}`);
  }

  /** The file of a history of that many events of about 600 bytes, on `main`. */
  history(events: number): Promise<string> {
    const known = this.#histories.get(events) ?? buildHistory(this.path(`history-${events}.db`), events);
    this.#histories.set(events, known);
    return known;
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Opens a store file and its session, making both where they are missing. */
export async function open(path: string, durability: 'disk' | 'process'): Promise<Opened> {
  const platform = createNodePlatform();
  return await openOn(await openSqliteStore({ path, platform, durability }), platform, path);
}

/** Opens the session of a store. */
export async function openOn(store: EventStore, platform: Platform, path: string): Promise<Opened> {
  const reprise = await openReprise({ store, platform });
  const session = await reprise.session(sessionId, { create: true });
  const engine = createEngine({ store, platform, namespace: reprise.currentNamespace });
  return { path, store, engine, reprise, session, [Symbol.asyncDispose]: () => reprise.close() };
}

async function buildHistory(path: string, events: number): Promise<string> {
  const data = payloads(5_000, 600);
  {
    await using opened = await open(path, 'process');
    for (let from = 0; from < events; from += 1_000)
      await opened.session.append(drafts(data, Math.min(1_000, events - from), from));
  }
  writeOut(path);
  return path;
}

/** Waits until a file is on disk: what the system still has to write would be paid for by the next one who syncs. */
export function writeOut(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

/** Forgets a store file and what lies next to it. */
export function remove(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}

/** The size of a store file once its log has been written back; no one else may have it open. */
export function settledBytes(path: string): number {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return statSync(path).size;
}

/** One number out of a store file. */
export function count(path: string, sql: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare(sql).get();
  database.close();
  return Number(Object.values(row ?? {})[0] ?? 0);
}
