/** A step of an iterator that has come: a result, or an error. */
type Step<Item> = { readonly iterator: AsyncIterator<Item, void, undefined> } & (
  | { readonly result: IteratorResult<Item, void> }
  | { readonly error: unknown }
);

/**
 * Passes on what several iterators give, in the order in which it comes. Each is asked again when its item was taken. It
 * races no promises: one that never settles would hold everything that was raced with it.
 */
export async function* merged<Item>(
  iterables: readonly AsyncIterable<Item, void, undefined>[],
): AsyncGenerator<Item, void, undefined> {
  const open = new Set(iterables.map((iterable) => iterable[Symbol.asyncIterator]()));
  const ready: Step<Item>[] = [];
  let wake: () => void = () => undefined;
  const ask = (iterator: AsyncIterator<Item, void, undefined>): void => {
    const come = (step: Step<Item>): void => {
      ready.push(step);
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
      const step = ready.shift();
      if (step === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if ('error' in step) throw step.error;
      if (step.result.done === true) {
        open.delete(step.iterator);
        continue;
      }
      yield step.result.value;
      ask(step.iterator);
    }
  } finally {
    for (const iterator of open) void iterator.return?.().catch(() => undefined);
  }
}
