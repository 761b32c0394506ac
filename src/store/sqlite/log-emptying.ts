import type { Database } from './database.ts';
import { truncateLog } from './operations/health.ts';

/** How long to let a reader be before the next try. */
const retryMs = 1_000;

/** Empties the log of a file after something was erased; if a reader is using it, in the background until the store closes. */
export class LogEmptying {
  readonly #database: Database;
  readonly #waitMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(database: Database, waitMs: number) {
    this.#database = database;
    this.#waitMs = waitMs;
  }

  /** Returns whether the log is empty now; if not, it is emptied later. */
  async empty(): Promise<boolean> {
    const isEmptied = await truncateLog(this.#database, this.#waitMs);
    if (!isEmptied) this.#tryLater();
    return isEmptied;
  }

  /** Stops trying: closing the last connection of a file empties its log. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #tryLater(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#try(), retryMs);
    this.#timer.unref();
  }

  async #try(): Promise<void> {
    // A store that fails now says so with its next call.
    if (!(await truncateLog(this.#database, 0).catch(() => false))) this.#tryLater();
  }
}
