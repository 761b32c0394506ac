import type { JsonObject } from '../../core/json.ts';
import type { RequestTold } from '../../core/store/event-store.ts';

/** One request that was sent inside of a model call. */
interface Attempt {
  readonly target: string;
  status?: number;
  error?: string;
  latencyMs?: number;
}

/** Of a call that is tried for ever, the first ones say enough. */
const keptMax = 100;

/** What was sent inside of a model call: a client that tries again does not say so, and its requests do. */
export class CallAttempts {
  readonly #attempts: Attempt[] = [];
  readonly #elapsedMs: () => number;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** A request goes out. */
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

  /** Those that failed before the last one to the same address, and how many it took with that; nothing if none did. */
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

/** A client asks again after an error or a status that says so; what was answered well is no try of something else. */
const isFailed = ({ status, error }: Attempt): boolean =>
  error !== undefined || (status !== undefined && status >= 400);
