/** Thrown by a lookup that has not been made yet: the core judges without waiting, and a server must be waited for. */
class Missing extends Error {
  readonly load: () => Promise<void>;

  constructor(load: () => Promise<void>) {
    super('A lookup has not been made yet');
    this.load = load;
  }
}

/**
 * Runs pure work that looks things up. Whenever it asks for something that is not there yet, that is fetched and the work
 * begins again; so it must change nothing before it is done.
 */
export async function settle<Result>(work: () => Result): Promise<Result> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      await error.load();
    }
  }
}

/** What was looked up so far, by key; null is what was looked for in vain. */
export class Lookup<Key, Value> {
  readonly #found = new Map<Key, Value | null>();
  readonly #fetch: (key: Key) => Promise<Value | undefined>;

  constructor(fetch: (key: Key) => Promise<Value | undefined>) {
    this.#fetch = fetch;
  }

  has(key: Key): boolean {
    return this.#found.has(key);
  }

  set(key: Key, value: Value | undefined): void {
    this.#found.set(key, value ?? null);
  }

  /** What is known; throws what {@link settle} catches if it was not looked for yet. */
  get(key: Key): Value | undefined {
    const found = this.#found.get(key);
    if (found !== undefined) return found ?? undefined;
    throw new Missing(async () => {
      this.set(key, await this.#fetch(key));
    });
  }

  /** What is known, fetched first if need be. */
  async load(key: Key): Promise<Value | undefined> {
    return await settle(() => this.get(key));
  }
}
