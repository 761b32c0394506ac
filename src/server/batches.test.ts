import { expect, test } from 'vitest';
import { batched, gathered } from './batches.ts';

async function* once<Item>(...items: readonly Item[]): AsyncGenerator<Item, void, undefined> {
  yield* items;
}

test('a message has at most 64 items and 256 KiB, unless one item is larger; nothing is lost', async () => {
  const page = [
    ...Array.from({ length: 150 }, (_, index) => String(index)),
    ...Array.from({ length: 10 }, () => 'é'.repeat(40_000)),
    'x'.repeat(600_000),
    'last',
  ];
  const messages = await Array.fromAsync(batched(once(page, ['more']), 60_000));
  expect(messages.flat()).toEqual([...page, 'more']);
  for (const message of messages) {
    expect(message.length).toBeLessThanOrEqual(64);
    const bytes = message.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(message.length === 1 || bytes <= 262_144).toBe(true);
  }
  expect(messages.length).toBeLessThan(12);
});

test('a stream in which nothing comes beats until something does', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  async function* late() {
    yield await promise;
  }
  const messages = batched(late(), 1);
  for (let beats = 0; beats < 3; beats++) expect((await messages.next()).value).toEqual([]);
  resolve(['here']);
  let next = await messages.next();
  while (next.value?.length === 0) next = await messages.next();
  expect(next.value).toEqual(['here']);
  expect((await messages.next()).done).toBe(true);
});

test('items that are there at once are gathered, and one that is there is never kept waiting', async () => {
  const texts = Array.from({ length: 100 }, (_, index) => String(index));
  const pages = await Array.fromAsync(gathered(once(...texts)));
  expect(pages.flat()).toEqual(texts);
  expect(pages.length).toBeLessThan(10);
  const { promise } = Promise.withResolvers<string>();
  async function* endless() {
    yield 'first';
    yield await promise;
  }
  expect((await gathered(endless()).next()).value).toEqual(['first']);
});

test('an error of the source reaches the reader', async () => {
  async function* broken(): AsyncGenerator<readonly string[]> {
    yield ['first'];
    throw new Error('gone');
  }
  await expect(Array.fromAsync(batched(broken(), 60_000))).rejects.toThrow('gone');
});
