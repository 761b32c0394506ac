import type { ConnectError } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import { numberAt, stringAt } from '../core/json.ts';
import type { Platform } from '../core/store/event-store.ts';
import { failureOf, isNoServer, noServer, unreachable } from './call-error.ts';

/** The longest pause between two attempts of one call. */
const pauseMsMax = 1_000;

/** Waits a little after a failure, at least so long; throws it when the patience has ended. */
export type Patience = (failure: ConnectError | RepriseError, waitMs?: number) => Promise<void>;

/** Makes calls to one server: it repeats a call whose answer was lost, until its patience ends. */
export class PatientCalls {
  readonly #url: string;
  readonly #platform: Platform;
  readonly #busyWaitMs: number;
  readonly #open = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(url: string, platform: Platform, busyWaitMs: number) {
    this.#url = url;
    this.#platform = platform;
    this.#busyWaitMs = busyWaitMs;
  }

  /** Aborts when the store is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Refuses work after the store was closed. */
  checkOpen(): void {
    if (this.#closing.signal.aborted) throw new RepriseError('store.closed', 'Cannot use the store: it was closed');
  }

  /**
   * Makes a call. The body may run several times, so the server must recognize a repeated change. The body gets the
   * number of the attempt, from 1.
   */
  async call<Answer>(body: (attempt: number) => Promise<Answer>): Promise<Answer> {
    this.checkOpen();
    return await this.callToTheEnd(body);
  }

  /** Makes a call that was asked for before the store was closed. */
  async callToTheEnd<Answer>(body: (attempt: number) => Promise<Answer>): Promise<Answer> {
    const answer = this.#attempts(body);
    this.#open.add(answer);
    try {
      return await answer;
    } finally {
      this.#open.delete(answer);
    }
  }

  async #attempts<Answer>(body: (attempt: number) => Promise<Answer>): Promise<Answer> {
    const patience = this.patience();
    for (let attempt = 1; ; attempt++) {
      try {
        return await body(attempt);
      } catch (thrown) {
        await this.afterFailure(thrown, patience);
      }
    }
  }

  /** Waits before the next attempt; throws a refusal, and a failure when the patience has ended. */
  async afterFailure(thrown: unknown, patience: Patience): Promise<void> {
    const failure = failureOf(thrown);
    if (failure.kind === 'refused') await this.#heldBack(failure.error, patience);
    else await patience(failure.error);
  }

  /** Returns the error for an answer that was lost in the middle. */
  cutError(thrown: unknown): RepriseError {
    const failure = failureOf(thrown);
    return failure.kind === 'refused' ? failure.error : unreachable(this.#url, failure.error);
  }

  /** Waits where the server has not begun the call and says so; throws every other refusal. */
  async #heldBack(error: RepriseError, patience: Patience): Promise<void> {
    const limit = stringAt(error.details, 'limit');
    if (limit !== 'serverCallsPerSecondMax' && limit !== 'serverBytesInFlightMax') throw error;
    await patience(error, numberAt(error.details, 'waitMs'));
  }

  /** Returns a function that waits a little after each failure, and throws when the server was gone for too long. */
  patience(): Patience {
    const started = this.#platform.elapsedMs();
    let failures = 0;
    return async (failure, waitMs = 0) => {
      const isLost = !(failure instanceof RepriseError);
      if (isLost && isNoServer(failure)) throw noServer(this.#url, failure);
      const left = this.#busyWaitMs - (this.#platform.elapsedMs() - started);
      if (left <= 0) throw isLost ? unreachable(this.#url, failure) : failure;
      failures++;
      const pauseMs = Math.max(waitMs, Math.min(pauseMsMax, 10 * 2 ** failures) * (0.5 + Math.random() / 2));
      await this.#pause(Math.min(left, pauseMs));
    };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#platform.startTimer(ms, resolve);
    });
  }

  /** Refuses new calls and ends what waits for news. */
  close(): void {
    this.#closing.abort();
  }

  /** Waits for the calls under way. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }
}
