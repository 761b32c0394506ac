import type { Project } from '../coding/project-path.ts';
import type { JsonObject } from '../json.ts';
import type { Digest } from '../point.ts';

/** The machine that pure code runs on: clock, ids, hashing, timers. */
export interface Platform {
  /** Returns the time now, as `2026-11-15T10:00:00.123Z`. */
  readonly now: () => string;
  /** Returns a new UUIDv7; later ones sort after earlier ones within a process. */
  readonly newId: () => string;
  /** Returns the SHA-256 of a string's UTF-8 bytes, in lower-case hexadecimal. */
  readonly sha256: (text: string) => Digest;
  /** Returns the SHA-256 of bytes, as bytes. Without it, there are no Merkle proofs and no bundles. */
  readonly sha256Bytes?: (bytes: Uint8Array) => Uint8Array;
  /** Returns 16 random bytes as text (base64url, 22 characters). */
  readonly newSalt: () => string;
  /** Returns milliseconds that only grow, for measuring durations. */
  readonly elapsedMs: () => number;
  /** Calls a function after a delay, unless the returned function cancels it first. Keeps the program alive. */
  readonly startTimer: (ms: number, fire: () => void) => () => void;
  /** Creates a value that follows async code: a function and everything it starts see the value set around it. */
  readonly createContext: <T>() => AsyncContext<T>;
  /** Returns facts about the running program: `{ program?, versions?, git? }` of a `run.started`. */
  readonly runFacts: () => Promise<JsonObject>;
  /** Returns the version of a package that the program can import; undefined if it cannot. */
  readonly versionOf?: (packageName: string) => string | undefined;
  /**
   * Calls the listener for every HTTP request of the program, in the async context of the sender, until the returned
   * function is called. Without it, the retries that a model's client makes on its own are not recorded.
   */
  readonly watchRequests?: (listener: RequestListener) => () => void;
  /**
   * Calls a function after a delay, unless the returned function cancels it first. Does not keep the program alive.
   * Without it, the work waits for the next call.
   */
  readonly startIdleTimer?: (ms: number, fire: () => void) => () => void;
  /**
   * Runs code for at most so many milliseconds; returns false if it was stopped, and throws what the code throws. Where it
   * is missing, the patterns of masking rules run without a limit.
   */
  readonly runWithin?: (ms: number, body: () => void) => boolean;
  /** Returns the project that the program works on; undefined outside of one. Without it, paths are stored as given. */
  readonly project?: () => Project | undefined;
  /** Writes folders of files. Without it, nothing can be exported. */
  readonly writeFolder?: FolderWriter;
}

/**
 * Writes a folder of exactly these files, by name. A folder that exists is refused with `folder.exists`, unless it
 * has the same bytes, or `replace` is given. The new folder is complete on the disk before an old one moves, so that no
 * reader and no crash ever finds a half.
 */
export type FolderWriter = (
  path: string,
  files: ReadonlyMap<string, string>,
  options: { readonly replace: boolean },
) => Promise<void>;

/** Gets the method and address of a request; may return a function that gets its end. */
export type RequestListener = (target: string) => RequestTold | undefined;

/** Gets the status of the response, or the error that came instead. */
export type RequestTold = (how: { readonly status?: number; readonly error?: string }) => void;

/** A value that follows the flow of async code. */
export interface AsyncContext<T> {
  readonly get: () => T | undefined;
  readonly run: <R>(value: T, body: () => R) => R;
}
