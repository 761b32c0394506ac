import type { Seq } from '../../../core/point.ts';
import type { Abort } from '../../../core/store/event-store.ts';

/** Wakes watchers that wait for a branch to move. */
export class Watchers {
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  /** Makes every watcher look again. */
  wake(): void {
    const waiting = [...this.#waiting];
    for (const resume of waiting) resume();
  }

  /** Ends every watch. */
  close(): void {
    this.#isClosed = true;
    this.wake();
  }

  /** Yields the head each time it has moved past the last one; ends when aborted or closed. */
  async *watch(headOf: () => Seq | undefined, after: Seq, signal: Abort): AsyncGenerator<Seq> {
    let last: Seq = after;
    while (!signal.aborted && !this.#isClosed) {
      const head = headOf();
      if (head !== undefined && head > last) {
        last = head;
        yield head;
      } else await this.#change(signal);
    }
  }

  #change(signal: Abort): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        signal.removeEventListener('abort', resume);
        this.#waiting.delete(resume);
        resolve();
      };
      signal.addEventListener('abort', resume, { once: true });
      this.#waiting.add(resume);
    });
  }
}
