import type { JsonObject } from '../../core/json.ts';
import type { RequestTold } from '../../core/store/event-store.ts';

/** One request that was sent inside a model call. */
interface Attempt {
  readonly target: string;
  status?: number;
  error?: string;
  latencyMs?: number;
}

/** How many requests of one call are kept: the first ones say enough about a call that is retried endlessly. */
const keptMax = 100;

/** The requests sent inside a model call. They show the retries of a client that does not report them. */
export class CallAttempts {
  readonly #attempts: Attempt[] = [];
  readonly #elapsedMs: () => number;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Adds a request that is being sent; the returned function takes its result. */
  add(target: string): RequestTold | undefined {
    if (this.#attempts.length >= keptMax) return undefined;
    const began = this.#elapsedMs();
    const made: Attempt = { target };
    this.#attempts.push(made);
    return ({ status, error }) => {
      if (status !== undefined) made.status = status;
      if (error !== undefined) made.error = error;
      made.latencyMs = Math.round((this.#elapsedMs() - began) * 10) / 10;
    };
  }

  /**
   * Returns the failed requests before the last one to the same address, and the count with that one; nothing if none
   * failed.
   */
  summary(): { readonly attempts?: number; readonly failedAttempts?: readonly JsonObject[] } {
    const last = this.#attempts.at(-1);
    const failed = this.#attempts.filter((made) => made !== last && made.target === last?.target && isFailed(made));
    if (failed.length === 0) return {};
    return {
      attempts: failed.length + 1,
      failedAttempts: failed.map(({ target: _target, ...how }) => ({ ...how })),
    };
  }
}

/**
 * A client retries after an error or an error status; a second request after a success is a new request, not a retry.
 */
const isFailed = ({ status, error }: Attempt): boolean =>
  error !== undefined || (status !== undefined && status >= 400);
