/**
 * Background work of an engine, such as keeping a summary. Only `close` waits for it, and no verb fails because of it:
 * its results are derived and can be made again.
 */
export class Chores {
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, () => Promise<void>>();

  /**
   * Runs the work soon. Work of one name runs one at a time, and only the last one added waits, so that nothing piles
   * up.
   */
  add(name: string, work: () => Promise<void>): void {
    this.#waiting.set(name, work);
    if (!this.#running.has(name)) this.#running.set(name, this.#run(name));
  }

  /** Resolves when no work is left. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #run(name: string): Promise<void> {
    // Let the caller continue first.
    await Promise.resolve();
    for (let work = this.#take(name); work !== undefined; work = this.#take(name)) await work().catch(() => undefined);
    this.#running.delete(name);
  }

  #take(name: string): (() => Promise<void>) | undefined {
    const work = this.#waiting.get(name);
    this.#waiting.delete(name);
    return work;
  }
}
