import type { ConnectError } from '@connectrpc/connect';
import { RepriseError } from '../core/error.ts';
import type { Platform } from '../core/store/event-store.ts';
import { failureOf, isNoServer, noServer, unreachable } from './call-error.ts';

/** The longest pause between two attempts of one call. */
const pauseMsMax = 1_000;

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
        const failure = failureOf(thrown);
        if (failure.kind === 'refused') throw failure.error;
        await patience(failure.error);
      }
    }
  }

  /** Returns a function that waits a little after each failure, and throws when the server was gone for too long. */
  patience(): (failure: ConnectError) => Promise<void> {
    const started = this.#platform.elapsedMs();
    let failures = 0;
    return async (failure) => {
      if (isNoServer(failure)) throw noServer(this.#url, failure);
      const left = this.#busyWaitMs - (this.#platform.elapsedMs() - started);
      if (left <= 0) throw unreachable(this.#url, failure);
      failures++;
      const pauseMs = Math.min(pauseMsMax, 10 * 2 ** failures) * (0.5 + Math.random() / 2);
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
