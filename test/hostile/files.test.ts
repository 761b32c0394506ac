/** Files that are not what they seem: a command that looks neither makes a store of them nor waits for them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openReprise, type RepriseError } from '../../src/index.ts';
import { root } from '../docs/workshop.ts';
import { Place, refundEvents } from '../e2e/cli/run.ts';

let place: Place;
beforeEach(() => {
  place = new Place(undefined, { isFile: true });
});
afterEach(() => place[Symbol.dispose]());

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: RepriseError) => error.code,
  );

test('looking at an empty file makes no store of it; recording does', async () => {
  const path = join(place.folder, 'empty.db');
  writeFileSync(path, '');
  const store = `sqlite:${path}`;
  for (const words of [['list'], ['verify', 'refund'], ['doctor'], ['completion', 'refs']])
    await place.run([...words, '--store', store]);
  expect(readFileSync(path).length).toBe(0);
  expect((await place.run(['list', '--store', store, '--json'])).stderr).toContain('"store.not-found"');
  expect(await codeOf(openReprise({ store, readOnly: true }))).toBe('store.not-found');
  await using reprise = await openReprise({ store });
  expect(await codeOf(reprise.createSession('refund'))).toBe('done');
});

test('looking at a database without tables makes no store of it', async () => {
  const path = join(place.folder, 'bare.db');
  const bare = new DatabaseSync(path);
  bare.exec('PRAGMA journal_mode = DELETE; VACUUM');
  bare.close();
  const before = readFileSync(path);
  expect(await place.run(['list', '--store', `sqlite:${path}`])).toMatchObject({ code: 3 });
  expect(readFileSync(path).equals(before)).toBe(true);
});

test.skipIf(process.platform === 'win32')('a FIFO and a directory are refused, and nobody waits for them', async () => {
  const path = join(place.folder, 'fifo');
  spawnSync('mkfifo', [path]);
  for (const mode of ['600', '400']) {
    spawnSync('chmod', [mode, path]);
    for (const options of [{}, { readOnly: true }, { create: false }])
      expect(await codeOf(openReprise({ store: `sqlite:${path}`, ...options }))).toBe('store.unsupported');
    expect(await place.run(['list', '--store', `sqlite:${path}`])).toMatchObject({ code: 2 });
  }
  expect(await codeOf(openReprise({ store: `sqlite:${place.folder}` }))).toBe('store.unsupported');
  spawnSync('mkfifo', [join(place.folder, 'reprise.config.mjs')]);
  expect(await place.runAlone(['config'])).toMatchObject({ code: 2 });
  rmSync(join(place.folder, 'reprise.config.mjs'));
  spawnSync('mkdir', [join(place.folder, '.reprise')]);
  spawnSync('mkfifo', [join(place.folder, '.reprise/settings.json')]);
  expect(await place.run(['list'])).toMatchObject({ code: 2 });
});

test('a file that is removed or replaced under an open store acknowledges nothing more', async () => {
  const reprise = await openReprise({ store: place.url });
  const session = await reprise.createSession('refund');
  rmSync(place.store);
  expect(await codeOf(session.append(refundEvents()))).toBe('store.moved');
  await reprise.close();
});

test.skipIf(process.geteuid?.() !== 0)('a store of a different user is denied, not damaged or missing', async () => {
  await (await openReprise({ store: place.url })).close();
  chmodSync(place.folder, 0o755);
  const program = `import { openReprise } from ${JSON.stringify(join(root, 'src/index.ts'))};
    process.setgid(65534); process.setuid(65534);
    await openReprise({ store: ${JSON.stringify(place.url)}, readOnly: true }).catch(({ code }) => console.log(code));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  expect(stdout).toBe('store.denied\n');
});
