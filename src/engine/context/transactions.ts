import { checkLimit } from '../../core/limits.ts';
import type { Platform } from '../../core/store/event-store.ts';
import { Lanes } from './lanes.ts';

/** An open transaction, as far as its deadline is concerned. */
export interface OpenTransaction {
  readonly txn: string;
  /** When it expires, in the milliseconds of {@link Transactions.now}. */
  readonly deadline: number;
  /** Releases what it holds. */
  expire(): void;
  /** Releases what it holds, because the store was closed. */
  close(): void;
}

/**
 * The open transactions of one store, and the order in which commits that lost a race try again. A transaction that
 * is never ended expires at its deadline: by a timer if the platform has one, else when the next one begins.
 */
export class Transactions {
  readonly #platform: Platform;
  readonly #open = new Map<string, { readonly held: OpenTransaction; readonly stopTimer: () => void }>();
  readonly #lanes = new Lanes();
  #firstDeadline = Number.POSITIVE_INFINITY;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Returns the clock that deadlines are measured by. It only grows, even when the wall clock is set back. */
  now(): number {
    return this.#platform.elapsedMs();
  }

  /** Keeps a transaction until it is removed or expires; `limit.exceeded` if too many are open. */
  add(held: OpenTransaction, now: number = this.now()): void {
    this.#sweep(now);
    checkLimit('openTransactionsMax', this.#open.size + 1, 'begin a transaction');
    const { startIdleTimer = () => () => undefined } = this.#platform;
    // Expire it directly instead of by a sweep: a timer may fire a little before the clock reaches the deadline.
    const stopTimer = startIdleTimer(held.deadline - now + 1, () => held.expire());
    this.#open.set(held.txn, { held, stopTimer });
    this.#firstDeadline = Math.min(this.#firstDeadline, held.deadline);
  }

  /** Returns the open transaction of an id; undefined if it has ended, has expired, or never existed. */
  find(txn: string): OpenTransaction | undefined {
    this.#sweep();
    return this.#open.get(txn)?.held;
  }

  /** Removes a transaction that has ended; a newer one with the same id stays. */
  remove(ended: OpenTransaction): void {
    const found = this.#open.get(ended.txn);
    if (found?.held !== ended) return;
    found.stopTimer();
    this.#open.delete(ended.txn);
  }

  /** Releases every transaction, since the store is being closed. */
  clear(): void {
    for (const { held } of this.#open.values()) held.close();
  }

  /** Runs the work of one queue in order, one at a time. */
  async inTurn<T>(lane: string, run: () => Promise<T>): Promise<T> {
    return await this.#lanes.inTurn(lane, run);
  }

  #sweep(now: number = this.now()): void {
    if (now < this.#firstDeadline) return;
    let first = Number.POSITIVE_INFINITY;
    for (const { held } of this.#open.values()) {
      if (held.deadline <= now) held.expire();
      else first = Math.min(first, held.deadline);
    }
    this.#firstDeadline = first;
  }
}
