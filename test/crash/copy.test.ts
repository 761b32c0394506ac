import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { fewOrAll } from '../how-many.ts';
import { digestsOf, killCopies, recordLong } from './copy-run.ts';
import { seedOfRun } from './random.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-copy-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const kills = fewOrAll(2, 6);

const placesOf = (name: string) => ({
  from: `sqlite:${join(directory, `${name}-from.db`)}`,
  to: `sqlite:${join(directory, `${name}-to.db`)}`,
});

test('I2 a copy that is killed goes on where it was, doubles nothing, and names nothing that is not whole', async () => {
  const places = placesOf('new');
  await recordLong(places.from);
  await killCopies({ ...places, kills, seed: seedOfRun() });
});

test('I2 a copy of what was erased since, killed on the way, leaves the earlier copy or the new one', async () => {
  const places = placesOf('again');
  await recordLong(places.from);
  const earlier = await (async () => {
    await using source = await openReprise({ store: places.from });
    await using target = await openReprise({ store: places.to, durability: 'process' });
    await source.copy(target);
    for (const id of ['one', 'two']) await (await source.session(id)).erase('main@3');
    return await digestsOf(target);
  })();
  await killCopies({ ...places, kills, seed: seedOfRun(), earlier });
  await using target = await openReprise({ store: places.to });
  const [, , third] = await Array.fromAsync((await target.session('one')).replay({ history: 'raw', limit: 3 }));
  expect(third?.erased).toBe(true);
});
