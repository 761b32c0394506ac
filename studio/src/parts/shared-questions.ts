interface Shared {
  readonly answer: Promise<unknown>;
  readonly control: AbortController;
  /** How many wait for the answer. */
  waiting: number;
}

/** Questions that are on their way, by their key: two parts of a page that ask the same share one answer. */
export class SharedQuestions {
  readonly #open = new Map<string, Shared>();

  /** Asks, or waits with those who asked before. A question is given up when everybody who waits gave it up. */
  ask<Value>(key: string, ask: (signal: AbortSignal) => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const shared = this.#open.get(key) ?? this.#begin(key, ask);
    shared.waiting++;
    signal.addEventListener('abort', () => this.#leave(key, shared), { once: true });
    return shared.answer as Promise<Value>;
  }

  #begin(key: string, ask: (signal: AbortSignal) => Promise<unknown>): Shared {
    const control = new AbortController();
    const shared = { answer: ask(control.signal), control, waiting: 0 };
    this.#open.set(key, shared);
    const end = (): void => {
      if (this.#open.get(key) === shared) this.#open.delete(key);
    };
    shared.answer.then(end, end);
    return shared;
  }

  #leave(key: string, shared: Shared): void {
    shared.waiting--;
    if (shared.waiting > 0 || this.#open.get(key) !== shared) return;
    this.#open.delete(key);
    shared.control.abort();
  }
}
