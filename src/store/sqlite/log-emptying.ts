import type { Database } from './database.ts';
import { truncateLog } from './operations/health.ts';

/** How long to let a reader be before the next try. */
const retryMs = 1_000;

/** Tries in the background to empty the log of a file, until no reader holds it or the store closes. */
export class LogEmptying {
  readonly #database: Database;
  readonly #done: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, done: () => void) {
    this.#database = database;
    this.#done = done;
    this.#wait();
  }

  /** Stops trying: closing the last connection of a file empties its log. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#try(), retryMs);
    this.#timer.unref();
  }

  async #try(): Promise<void> {
    // A store that fails now says so with its next call.
    const isEmptied = await truncateLog(this.#database, 0).catch(() => false);
    if (this.#timer === undefined) return;
    if (isEmptied) this.#done();
    else this.#wait();
  }
}
