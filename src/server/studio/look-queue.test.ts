import { Code } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { LookQueue } from './look-queue.ts';

test('a few looks of a token work at once, and a look that was given up meanwhile is not begun', async () => {
  const queue = new LookQueue();
  const begun: string[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const ask = (name: string, { token = 'a', signal = new AbortController().signal } = {}): Promise<string> =>
    queue.inTurn(token, signal, async () => {
      begun.push(name);
      await held;
      return name;
    });
  const left = new AbortController();
  const first = [1, 2, 3, 4].map((number) => ask(`look ${number}`));
  const gone = ask('given up', { signal: left.signal });
  const last = ask('last');
  const other = ask('of a different token', { token: 'b' });
  expect(begun).toEqual(['look 1', 'look 2', 'look 3', 'look 4', 'of a different token']);
  left.abort();
  release();
  // A call that is canceled is nobody's failure, and no operator reads of it.
  await expect(gone).rejects.toMatchObject({ code: Code.Canceled });
  expect(await Promise.all([...first, last, other])).toHaveLength(6);
  expect(begun).toEqual(['look 1', 'look 2', 'look 3', 'look 4', 'of a different token', 'last']);
});

test('a look that fails makes room for the next', async () => {
  const queue = new LookQueue();
  const { signal } = new AbortController();
  const failing = [1, 2, 3, 4, 5].map((number) =>
    queue.inTurn('a', signal, async () => {
      throw new Error(`look ${number}`);
    }),
  );
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
  expect(await queue.inTurn('a', signal, async () => 'seen')).toBe('seen');
});
