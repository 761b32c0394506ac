import { AsyncLocalStorage } from 'node:async_hooks';
import { hash, randomFillSync } from 'node:crypto';
import type { Digest } from '../core/point.ts';
import type { AsyncContext, Platform } from '../core/store/event-store.ts';
import { writeFolder } from './folder-writer.ts';
import { projectAround } from './project-folder.ts';
import { runFacts, versionOf } from './run-facts.ts';
import { runWithin } from './run-within.ts';
import { watchRequests } from './sent-requests.ts';

const saltBytes = 16;
const poolBytes = 4096;

/**
 * Returns the platform of Node: its clock, its randomness, its SHA-256.
 *
 * @example
 * ```ts
 * const platform: Platform = { ...createNodePlatform(), now: () => '2026-11-15T10:00:00.000Z' };
 * await using fixed = await openReprise({ store: 'memory:', platform });
 * ```
 */
export function createNodePlatform(): Platform {
  const pool = randomPool();
  return {
    now: clock(),
    newId: uuidSource(pool),
    sha256: (text) => hash('sha256', text, 'hex') as Digest,
    sha256Bytes: (bytes) => hash('sha256', bytes, 'buffer'),
    newSalt: () => {
      const at = pool.take(saltBytes);
      return pool.bytes.toString('base64url', at, at + saltBytes);
    },
    elapsedMs: () => performance.now(),
    startTimer,
    createContext,
    runFacts,
    versionOf,
    watchRequests,
    startIdleTimer,
    runWithin,
    project: () => projectAround(),
    writeFolder,
  };
}

/** The longest time of a Node timer; a longer one would fire at once. */
const timerMsMax = 2 ** 31 - 1;

function startTimer(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, Math.min(ms, timerMsMax));
  return () => clearTimeout(timer);
}

function createContext<T>(): AsyncContext<T> {
  const held = new AsyncLocalStorage<T>();
  return { get: () => held.getStore(), run: (value, body) => held.run(value, body) };
}

const idleTimerMsMax = 2 ** 31 - 1;

function startIdleTimer(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, Math.min(ms, idleTimerMsMax));
  timer.unref();
  return () => clearTimeout(timer);
}

/**
 * Returns a clock that caches its text: formatting a time takes longer than reading it, and many events share a
 * millisecond.
 */
function clock(): () => string {
  let lastMs = Number.NaN;
  let text = '';
  return () => {
    const ms = Date.now();
    if (ms !== lastMs) {
      lastMs = ms;
      text = new Date(ms).toISOString();
    }
    return text;
  };
}

interface RandomPool {
  readonly bytes: Buffer;
  /** Returns the offset of that many unused random bytes. */
  readonly take: (count: number) => number;
}

/** Returns a pool of random bytes: asking the system for 16 at a time costs more than hashing the event. */
function randomPool(): RandomPool {
  const bytes = Buffer.allocUnsafeSlow(poolBytes);
  let used = poolBytes;
  return {
    bytes,
    take: (count) => {
      if (used + count > poolBytes) {
        randomFillSync(bytes);
        used = 0;
      }
      used += count;
      return used - count;
    },
  };
}

const counterMax = 0xfff;

/**
 * Makes UUIDv7 ids. The 12 bits after the time count up within a millisecond, so that ids sort in the order they were
 * made.
 */
function uuidSource(pool: RandomPool): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const ms = Date.now();
    if (ms > lastMs) {
      lastMs = ms;
      counter = pool.bytes.readUInt16BE(pool.take(2)) & 0x1ff;
    } else if (counter < counterMax) counter++;
    else {
      // The counter ran out, or the clock went back: borrow from the future rather than repeat an id or break the order.
      lastMs++;
      counter = 0;
    }
    const time = lastMs.toString(16).padStart(12, '0');
    const at = pool.take(8);
    const rest = pool.bytes.toString('hex', at, at + 8);
    const variant = ((pool.bytes[at] ?? 0) & 0x3f) | 0x80;
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variant.toString(16)}${rest.slice(2, 4)}-${rest.slice(4)}`;
  };
}
