import { expect, test } from 'vitest';
import { Chores } from './chores.ts';

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('add() runs one of a name at a time, and only the last of those that waited', async () => {
  const chores = new Chores();
  const done: string[] = [];
  const first = gate();
  chores.add('a', async () => {
    await first.opened;
    done.push('first');
  });
  await Promise.resolve();
  await Promise.resolve();
  chores.add('a', async () => void done.push('second'));
  chores.add('a', async () => void done.push('third'));
  chores.add('b', async () => void done.push('other'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['other']);
  first.open();
  await chores.settled();
  expect(done).toEqual(['other', 'first', 'third']);
});

test('settled() waits for what a chore adds, and a chore that fails disturbs nobody', async () => {
  const chores = new Chores();
  const done: string[] = [];
  chores.add('a', async () => {
    chores.add('b', async () => void done.push('b'));
    throw new Error('no');
  });
  await chores.settled();
  expect(done).toEqual(['b']);
  chores.add('a', async () => void done.push('a again'));
  await chores.settled();
  expect(done).toEqual(['b', 'a again']);
});
