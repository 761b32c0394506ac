import { withBeats } from './beats.ts';

/** Items of one message at most. */
const itemsMax = 64;
/** Bytes of the items of one message at most, unless a single item is larger. */
const bytesMax = 262_144;

/** When nothing comes for so long, the first beat tells the client that its request was accepted. */
const firstMs = 100;

/** Returns pages of strings as messages; an empty one is a beat, which shows that the server is there. */
export async function* batched(
  pages: AsyncIterable<readonly string[]>,
  everyMs: number,
  itemsAtOnce: number = itemsMax,
): AsyncGenerator<readonly string[], void, undefined> {
  for await (const page of withBeats(pages, { everyMs, firstMs: Math.min(firstMs, everyMs) })) {
    if (page === undefined) yield [];
    else yield* messagesOf(page, itemsAtOnce);
  }
}

function* messagesOf(page: readonly string[], itemsAtOnce: number): Generator<readonly string[], void, undefined> {
  let [first, bytes] = [0, 0];
  for (const [index, text] of page.entries()) {
    const length = Buffer.byteLength(text);
    if (index > first && (index - first >= itemsAtOnce || bytes + length > bytesMax)) {
      yield page.slice(first, index);
      [first, bytes] = [index, 0];
    }
    bytes += length;
  }
  if (first < page.length) yield first === 0 ? page : page.slice(first);
}

/**
 * Gathers strings that are there at once into pages. It never waits for a full one: a follower gets what it follows as
 * soon as that is stored.
 */
export async function* gathered(items: AsyncIterable<string>): AsyncGenerator<readonly string[], void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const texts = [first.value];
      next = iterator.next();
      while (texts.length < itemsMax) {
        const more = await atOnce(next);
        if (more === undefined || more.done === true) break;
        texts.push(more.value);
        next = iterator.next();
      }
      yield texts;
    }
  } finally {
    next.catch(() => undefined);
    await iterator.return?.();
  }
}

/** Turns of the queue of promises in which the next item of a page that was read comes. */
const turnsMax = 8;

/** Returns what a promise gives in this turn of the event loop; undefined if it takes longer. */
async function atOnce<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  let found: { readonly value: Value } | undefined;
  promise.then(
    (value) => {
      found = { value };
    },
    () => undefined,
  );
  // Items of one page come without a turn of the event loop, and there are many of them.
  for (let turn = 0; turn < turnsMax && found === undefined; turn++) await Promise.resolve();
  if (found !== undefined) return found.value;
  let timer: ReturnType<typeof setImmediate> | undefined;
  const later = new Promise<undefined>((resolve) => {
    timer = setImmediate(() => resolve(undefined));
  });
  try {
    return await Promise.race([promise, later]);
  } finally {
    clearImmediate(timer);
  }
}
