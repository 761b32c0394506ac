/** How often to beat, and when to end. */
export interface BeatOptions {
  readonly everyMs: number;
  /** When to beat for the first time; after `everyMs` if left out. */
  readonly firstMs?: number;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/**
 * Passes items on, and yields undefined whenever nothing came for a while, so that the other side can tell a quiet
 * stream from a dead connection.
 */
export async function* withBeats<Item>(
  items: AsyncIterable<Item>,
  { everyMs, firstMs = everyMs, signal }: BeatOptions,
): AsyncGenerator<Item | undefined, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  let waitMs = firstMs;
  try {
    while (signal?.aborted !== true) {
      const result = await firstOf(next, waitMs);
      waitMs = everyMs;
      if (result === undefined) {
        yield undefined;
        continue;
      }
      if (result.done === true) return;
      yield result.value;
      next = iterator.next();
    }
  } finally {
    // A source that waits ends by the signal; nothing waits for it here.
    next.catch(() => undefined);
    iterator.return?.().catch(() => undefined);
  }
}

/** Returns what a promise gives, or undefined if it takes longer. */
async function firstOf<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
