import { firstOf } from './beats.ts';

/** Items of one message at most. */
const itemsMax = 64;
/** Bytes of the items of one message at most, unless a single item is larger. */
const bytesMax = 262_144;

/** When nothing comes for so long, the first beat tells the client that its request was accepted. */
const firstMs = 100;

/**
 * Gathers texts that are there at once into messages; an empty one is a beat, which shows that the server is there. It
 * never waits for a full message: a follower gets an event as soon as it is stored.
 */
export async function* batched(
  items: AsyncIterable<string>,
  everyMs: number,
): AsyncGenerator<string[], void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (let waitMs = Math.min(firstMs, everyMs); ; waitMs = everyMs) {
      const first = await firstOf(next, waitMs);
      if (first === undefined) {
        yield [];
        continue;
      }
      if (first.done === true) return;
      const texts = [first.value];
      let bytes = Buffer.byteLength(first.value);
      next = iterator.next();
      while (texts.length < itemsMax && bytes < bytesMax) {
        const more = await atOnce(next);
        if (more === undefined || more.done === true) break;
        bytes += Buffer.byteLength(more.value);
        if (bytes > bytesMax) break;
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

/** Turns of the queue of promises in which the next event of a page that was read comes. */
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
  // Events of one page come without a turn of the event loop, and there are many of them.
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
