/** An answer of an iterator that has come: a result, or an error. */
type Arrival<Item> = { readonly iterator: AsyncIterator<Item, void, undefined> } & (
  | { readonly result: IteratorResult<Item, void> }
  | { readonly error: unknown }
);

/**
 * Passes on what several iterators give, in the order in which it comes. Each is asked again when its item was taken. It
 * races no promises: one that never settles would keep everything that was raced with it in memory.
 */
export async function* merged<Item>(
  iterables: readonly AsyncIterable<Item, void, undefined>[],
): AsyncGenerator<Item, void, undefined> {
  const open = new Set(iterables.map((iterable) => iterable[Symbol.asyncIterator]()));
  const ready: Arrival<Item>[] = [];
  let wake: () => void = () => undefined;
  const ask = (iterator: AsyncIterator<Item, void, undefined>): void => {
    const come = (arrival: Arrival<Item>): void => {
      ready.push(arrival);
      wake();
    };
    iterator.next().then(
      (result) => come({ iterator, result }),
      (error: unknown) => come({ iterator, error }),
    );
  };
  for (const iterator of open) ask(iterator);
  try {
    while (open.size > 0) {
      const arrival = ready.shift();
      if (arrival === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if ('error' in arrival) throw arrival.error;
      if (arrival.result.done === true) {
        open.delete(arrival.iterator);
        continue;
      }
      yield arrival.result.value;
      ask(arrival.iterator);
    }
  } finally {
    for (const iterator of open) void iterator.return?.().catch(() => undefined);
  }
}
