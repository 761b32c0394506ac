import type { Seq } from '../../../core/point.ts';
import type { Abort } from '../../../core/store/event-store.ts';
import type { Database } from '../database.ts';

/** How often another process's commits are looked for while someone watches. */
const pollMs = 50;

/** Wakes whoever waits for a branch to move: at once for this connection's commits, soon for other processes'. */
export class Watchers {
  readonly #hasChanged: () => boolean;
  readonly #waiting = new Set<() => void>();
  #wakes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `hasChanged` tells whether another connection has committed since it was last asked. */
  constructor(hasChanged: () => boolean) {
    this.#hasChanged = hasChanged;
  }

  /** Lets every watcher look again. */
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

  /** Yields the head each time it is found past the last one; ends when aborted or closed. */
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
      // The watchers' own look at the head will tell what is wrong.
      this.wake();
    }
  }

  #stopPolling(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Tells whether another connection has committed since it was last asked; it remembers on its own. */
export function changeDetector(database: Database): () => boolean {
  const current = (): number => (database.get<[number]>('PRAGMA data_version') as [number])[0];
  let last = current();
  return () => {
    const before = last;
    last = current();
    return last !== before;
  };
}
