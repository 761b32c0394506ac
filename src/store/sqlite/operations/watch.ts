import type { Seq } from '../../../core/point.ts';
import type { Abort } from '../../../core/store/event-store.ts';
import type { Database } from '../database.ts';

/** How often a watch looks for commits of other processes. */
const pollMs = 25;

/** Wakes watchers when a branch may have moved: at once for commits of this connection, soon for those of others. */
export class Watchers {
  readonly #hasChanged: () => boolean;
  readonly #waiting = new Set<() => void>();
  #wakes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `hasChanged` returns true if a different connection has committed since its last call. */
  constructor(hasChanged: () => boolean) {
    this.#hasChanged = hasChanged;
  }

  /** Makes every watcher look again. */
  wake(): void {
    this.#wakes++;
    const waiting = [...this.#waiting];
    for (const resume of waiting) resume();
  }

  /** Ends every watch. */
  close(): void {
    this.#isClosed = true;
    this.wake();
  }

  /** Yields the head each time it has moved past the last one; ends when aborted or closed. */
  async *watch(headOf: () => Promise<Seq | undefined>, after: Seq, signal: Abort): AsyncGenerator<Seq> {
    let last: Seq = after;
    while (!signal.aborted && !this.#isClosed) {
      const wakes = this.#wakes;
      const head = await headOf();
      if (signal.aborted || this.#isClosed) return;
      if (head !== undefined && head > last) {
        last = head;
        yield head;
      } else if (wakes === this.#wakes) await this.#change(signal);
    }
  }

  #change(signal: Abort): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        signal.removeEventListener('abort', resume);
        this.#waiting.delete(resume);
        if (this.#waiting.size === 0) this.#stopPolling();
        resolve();
      };
      signal.addEventListener('abort', resume, { once: true });
      this.#waiting.add(resume);
      this.#timer ??= setInterval(() => this.#poll(), pollMs);
    });
  }

  #poll(): void {
    try {
      if (this.#hasChanged()) this.wake();
    } catch {
      // The watchers' own look at the head reports the error.
      this.wake();
    }
  }

  #stopPolling(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Returns a function that returns true if a different connection has committed since its last call. */
export function changeDetector(database: Database): () => boolean {
  const current = (): number => database.one<[number]>('PRAGMA data_version')[0];
  let last = current();
  return () => {
    const before = last;
    last = current();
    return last !== before;
  };
}
