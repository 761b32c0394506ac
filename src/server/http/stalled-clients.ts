import { cutOff } from './cut-off.ts';
import type { HttpResponse } from './listener.ts';

/** Ends the answers to clients that stopped reading: each takes up memory until then. */
export class StalledClients {
  readonly #open: ReadonlySet<HttpResponse>;
  readonly #full = new WeakMap<HttpResponse, number>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(open: ReadonlySet<HttpResponse>, stalledMs: number) {
    this.#open = open;
    this.#timer = setInterval(() => this.#look(stalledMs), Math.max(10, stalledMs / 4));
    this.#timer.unref();
  }

  #look(stalledMs: number): void {
    const now = performance.now();
    for (const response of this.#open) {
      const isFull = 'stream' in response ? response.stream?.writableNeedDrain : response.writableNeedDrain;
      const since = this.#full.get(response);
      if (isFull !== true) this.#full.delete(response);
      else if (since === undefined) this.#watch(response, now);
      else if (now - since >= stalledMs) cutOff(response);
    }
  }

  /** A client that took what was there begins anew, even if the next is there at once. */
  #watch(response: HttpResponse, now: number): void {
    this.#full.set(response, now);
    response.once('drain', () => this.#full.delete(response));
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.#timer);
  }
}

/** Returns the bytes of an answer that its client has not taken yet. */
export function queuedBytes(response: HttpResponse): number {
  return ('stream' in response ? response.stream?.writableLength : response.writableLength) ?? 0;
}
