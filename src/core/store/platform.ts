import type { JsonObject } from '../json.ts';
import type { Digest } from '../point.ts';

/** What pure code needs from the machine it runs on. */
export interface Platform {
  /** The time now, as `2026-11-15T10:00:00.123Z`. */
  readonly now: () => string;
  /** A new UUIDv7; later ones sort after earlier ones within a process. */
  readonly newId: () => string;
  /** SHA-256 of a string's UTF-8 bytes, in lower-case hexadecimal. */
  readonly sha256: (text: string) => Digest;
  /** 16 random bytes as text (base64url, 22 characters). */
  readonly newSalt: () => string;
  /** Milliseconds that only grow, for measuring how long something took. */
  readonly elapsedMs: () => number;
  /** Calls a function after so many milliseconds, unless what it gives back is called first. Keeps the program alive. */
  readonly startTimer: (ms: number, fire: () => void) => () => void;
  /** A value that follows the flow of async code: what is set around a function is seen by all it starts. */
  readonly createContext: <T>() => AsyncContext<T>;
  /** What is known of the program that runs: `{ program?, versions?, git? }` of a `run.started`. */
  readonly runFacts: () => Promise<JsonObject>;
  /** The version of a package that the program can import; undefined where it cannot. */
  readonly versionOf?: (packageName: string) => string | undefined;
  /**
   * Tells of every HTTP request that the program sends, in the async context of whoever sends it, until what it gives
   * back is called. Where it is missing, what a model's client tries again by itself is not seen.
   */
  readonly watchRequests?: (told: RequestListener) => () => void;
  /**
   * Calls a function after so many milliseconds, unless what it gives back is called first. Does not keep the program
   * alive. Where it is missing, what would be done then is done with the next thing that is asked for.
   */
  readonly startIdleTimer?: (ms: number, fire: () => void) => () => void;
}

/** Is told of a request by its method and address, and may ask to be told how it ended. */
export type RequestListener = (target: string) => RequestTold | undefined;

/** Is told the status of the answer, or the error that came instead. */
export type RequestTold = (how: { readonly status?: number; readonly error?: string }) => void;

/** A value that follows the flow of async code. */
export interface AsyncContext<T> {
  readonly get: () => T | undefined;
  readonly run: <R>(value: T, body: () => R) => R;
}
