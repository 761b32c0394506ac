/**
 * Work that an engine does beside what it was asked for, such as keeping a summary. Nobody waits for it but `close`, and
 * nothing fails because of it: what it makes is derived, and can be made again.
 */
export class Chores {
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, () => Promise<void>>();

  /** Does the work soon. Of one name, one runs at a time and the last one asked for waits, so that nothing piles up. */
  add(name: string, work: () => Promise<void>): void {
    this.#waiting.set(name, work);
    if (!this.#running.has(name)) this.#running.set(name, this.#run(name));
  }

  /** Resolves when there is nothing left to do. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #run(name: string): Promise<void> {
    // Whoever asked goes on first.
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
