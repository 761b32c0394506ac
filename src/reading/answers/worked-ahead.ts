/**
 * Works on items in order, some of them at once, and yields the results in the order of the items. Over a network, the
 * work of one item mostly waits.
 */
export async function* workedAhead<Item, Result>(
  items: AsyncIterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const begun: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // A failure shows when its turn comes.
      result.catch(() => undefined);
      begun.push(result);
      const first = begun.length < atOnce ? undefined : begun.shift();
      if (first !== undefined) yield await first;
    }
    for (let first = begun.shift(); first !== undefined; first = begun.shift()) yield await first;
  } finally {
    await Promise.allSettled(begun);
  }
}
