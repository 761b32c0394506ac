/** Thrown for a value that is not fetched yet: the core judges synchronously, and a server must be awaited. */
class Missing extends Error {
  readonly load: () => Promise<void>;

  constructor(load: () => Promise<void>) {
    super('A lookup has not been made yet');
    this.load = load;
  }
}

/**
 * Runs synchronous work that needs lookups. When it needs a value that is not there yet, this fetches the value and runs
 * the work again; so the work must change nothing before it is done.
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

/** The values fetched so far, by key; null for a key without a value. */
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

  /** Returns a fetched value; throws what {@link settle} catches if it is not fetched yet. */
  get(key: Key): Value | undefined {
    const found = this.#found.get(key);
    if (found !== undefined) return found ?? undefined;
    throw new Missing(async () => {
      this.set(key, await this.#fetch(key));
    });
  }

  /** Returns a value, and fetches it first if needed. */
  async load(key: Key): Promise<Value | undefined> {
    return await settle(() => this.get(key));
  }
}
