/**
 * Passes items on, and yields undefined whenever nothing came for a while, so that the other side can tell a quiet
 * stream from a dead connection.
 */
export async function* withBeats<Item>(
  items: AsyncIterable<Item>,
  everyMs: number,
  signal: AbortSignal,
): AsyncGenerator<Item | undefined, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    while (!signal.aborted) {
      const result = await firstOf(next, everyMs);
      if (result === undefined) {
        yield undefined;
        continue;
      }
      if (result.done === true) return;
      yield result.value;
      next = iterator.next();
    }
  } finally {
    // A source that waits ends by the signal; nobody waits for it here.
    next.catch(() => undefined);
    void iterator.return?.();
  }
}

/** Returns what a promise gives, or undefined if it takes longer. */
export async function firstOf<Value>(promise: Promise<Value>, waitMs: number): Promise<Value | undefined> {
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
