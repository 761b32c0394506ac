import { checkLimit } from '../../core/limits.ts';
import type { Platform } from '../../core/store/event-store.ts';

/** What is kept of an open transaction. */
export interface OpenTransaction {
  readonly txn: string;
  /** When it expires, in the milliseconds of {@link Transactions.now}. */
  readonly deadline: number;
  /** Lets go of what it holds. */
  expire(): void;
  /** As {@link expire}, because the store was closed. */
  close(): void;
}

/**
 * The transactions that are open in one store, and the order in which commits that lost a race try again. A transaction
 * that nobody ends is let go of at its deadline: by a timer where the platform has one, else with the next one begun.
 */
export class Transactions {
  readonly #platform: Platform;
  readonly #open = new Map<string, { readonly held: OpenTransaction; readonly stopTimer: () => void }>();
  readonly #lanes = new Map<string, Promise<unknown>>();
  #firstDeadline = Number.POSITIVE_INFINITY;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** The clock that deadlines are measured by: it only grows, whatever is done to the wall clock. */
  now(): number {
    return this.#platform.elapsedMs();
  }

  /** Keeps a transaction until it is removed or expires; `limit.exceeded` if too many are open. */
  add(held: OpenTransaction, now: number = this.now()): void {
    this.#sweep(now);
    checkLimit('openTransactionsMax', this.#open.size + 1, 'begin a transaction');
    const { startIdleTimer = () => () => undefined } = this.#platform;
    // Not by a sweep: a timer may fire a little before the clock says so.
    const stopTimer = startIdleTimer(held.deadline - now + 1, () => held.expire());
    this.#open.set(held.txn, { held, stopTimer });
    this.#firstDeadline = Math.min(this.#firstDeadline, held.deadline);
  }

  /** The open transaction of an id; undefined if it has ended, has expired, or never was. */
  find(txn: string): OpenTransaction | undefined {
    this.#sweep();
    return this.#open.get(txn)?.held;
  }

  /** Forgets a transaction that has ended. */
  remove(txn: string): void {
    this.#open.get(txn)?.stopTimer();
    this.#open.delete(txn);
  }

  /** Lets go of every transaction, since the store is being closed. */
  clear(): void {
    for (const { held } of this.#open.values()) held.close();
  }

  /** Runs what is asked for in a lane one after the other. */
  async inTurn<T>(lane: string, run: () => Promise<T>): Promise<T> {
    const before = this.#lanes.get(lane) ?? Promise.resolve();
    // Whether the one before has failed is no matter of those behind it.
    const own = before.then(run, run);
    this.#lanes.set(lane, own);
    try {
      return await own;
    } finally {
      if (this.#lanes.get(lane) === own) this.#lanes.delete(lane);
    }
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
