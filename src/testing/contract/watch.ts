import assert from 'node:assert/strict';
import { beginning, seq } from '../../core/point.ts';
import { append, type ContractCase, contractCase, fork, note, point } from './contract-case.ts';

/** Long enough for a busy machine: a watch that never wakes is what this is about. */
const patienceMs = 30_000;

const arrives = async <Result>(promise: Promise<Result>, what: string): Promise<Result> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${patienceMs} ms`)), patienceMs);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** The guarantees of `watch`. */
export const watchCases: readonly ContractCase[] = [
  contractCase('watch() gives the head at once if it is past the seq already', async (world) => {
    await append(world, [note('a'), note('b')]);
    const watching = world.store
      .watch({ ...world.ref, branch: 'main' }, seq(1), new AbortController().signal)
      [Symbol.asyncIterator]();
    assert.deepEqual(await arrives(watching.next(), 'the first head'), { done: false, value: 2 });
    await watching.return?.();
  }),

  contractCase('watch() wakes for each append, may merge several, and always tells the last head', async (world) => {
    const controller = new AbortController();
    const seen: number[] = [];
    const watching = (async () => {
      for await (const head of world.store.watch({ ...world.ref, branch: 'main' }, beginning, controller.signal)) {
        seen.push(head);
        if (head >= 20) return;
      }
    })();
    for (let index = 0; index < 20; index++) await append(world, [note(String(index))]);
    await arrives(watching, 'the last head');
    assert.equal(seen.at(-1), 20);
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => a - b),
    );
    controller.abort();
  }),

  contractCase('watch() wakes for its own branch, also one that is made later', async (world) => {
    const controller = new AbortController();
    await append(world, [note('a')]);
    const child = world.store
      .watch({ ...world.ref, branch: 'child' }, beginning, controller.signal)
      [Symbol.asyncIterator]();
    const first = child.next();
    await append(world, [note('b'), note('c')]);
    await fork(world, 'child', point('main', 1));
    assert.deepEqual(await arrives(first, 'the head of the new branch'), { done: false, value: 2 });
    controller.abort();
    assert.equal((await arrives(child.next(), 'the end')).done, true);
  }),

  contractCase('watch() ends promptly when aborted, before, while and after it waits', async (world) => {
    const ref = { ...world.ref, branch: 'main' };
    const before = world.store.watch(ref, beginning, AbortSignal.abort())[Symbol.asyncIterator]();
    assert.equal((await arrives(before.next(), 'the end')).done, true);
    const controller = new AbortController();
    const waiting = Array.from({ length: 10 }, () =>
      world.store.watch(ref, beginning, controller.signal)[Symbol.asyncIterator]().next(),
    );
    await append(world, [note('a')]).then(() => undefined);
    for (const head of await arrives(Promise.all(waiting), 'the wake-up')) assert.equal(head.value, 1);
    const still = world.store.watch(ref, seq(1), controller.signal)[Symbol.asyncIterator]().next();
    await new Promise((resolve) => setTimeout(resolve, 120));
    controller.abort();
    assert.equal((await arrives(still, 'the end')).done, true);
  }),

  contractCase('watch() ends when the store is closed', async (world) => {
    const waiting = world.store
      .watch({ ...world.ref, branch: 'main' }, beginning, new AbortController().signal)
      [Symbol.asyncIterator]()
      .next();
    await new Promise((resolve) => setTimeout(resolve, 10));
    await world.store.close();
    assert.equal((await arrives(waiting, 'the end')).done, true);
  }),
];
