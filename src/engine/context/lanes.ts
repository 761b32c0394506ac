/** Queues of work by name: the work of one queue runs in order, one at a time. */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs work when everything before it in the queue has ended. */
  async inTurn<T>(lane: string, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(lane) ?? Promise.resolve();
    // A failure of the work before does not stop the work behind it.
    const own = before.then(run, run);
    this.#last.set(lane, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(lane) === own) this.#last.delete(lane);
    }
  }
}
