/** `reprise demo`: the story of `npm start`, where Reprise is installed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shapes } from '../../../scripts/cli-shapes.ts';
import { isOnServer, Place, skipOnServer } from './run.ts';

let place: Place;

beforeEach(() => {
  place = new Place();
});
afterEach(() => place[Symbol.dispose]());

test('tells the story on a store that is named, and again beside what is there', async () => {
  const url = isOnServer ? place.url : 'sqlite:kept.db';
  const store = ['--store', url];
  const told = await place.json('demo', ...store);
  expect(Object.keys(told)).toEqual(shapes['demo']?.keys);
  expect(told).toMatchObject({ store: url.replace(/:[^:/]+@/, '@'), session: 'refund', branch: 'careful' });
  const commands = told['commands'] as readonly { readonly command: string; readonly code: number }[];
  expect(commands.map(({ command, code }) => `${command.split(' ')[1]} ${code}`)).toEqual([
    'list 0',
    'replay 0',
    'show 0',
    'fork 0',
    'resume 0',
    'diff 1',
    'verify 0',
  ]);
  const before = await place.json('fingerprint', 'refund/careful', ...store);
  expect(await place.json('demo', ...store)).toMatchObject({ session: 'refund-2' });
  expect(await place.json('fingerprint', 'refund/careful', ...store)).toEqual(before);
  const again = await place.json('fingerprint', 'refund-2/careful', ...store);
  expect(again['fingerprint'], 'the same story behaves the same').toBe(before['fingerprint']);
});

test('has a file of its own that begins anew, behind the wall it was told, and prints what it types', async (context) => {
  skipOnServer('it is about the file of the demo', context);
  for (const _ of [1, 2]) {
    const { code, stdout, stderr } = await place.run(['demo', '--no-studio', '--namespace', 'shop']);
    expect([code, stderr.includes('Cannot')]).toEqual([0, false]);
    expect(stdout).toContain('$ export REPRISE_STORE=sqlite:.reprise/demo.db\n$ reprise list --namespace shop\n');
    expect(stdout).toContain('$ reprise resume refund/careful --with demo --simulate refund --namespace shop\n');
    expect(stdout).toContain('I refunded 50.');
  }
  expect([existsSync(join(place.folder, '.reprise/demo.db')), existsSync(place.store)]).toEqual([true, false]);
  const { stderr } = await place.run(['list']);
  expect(stderr, 'who looks elsewhere is told where it is').toContain('--store sqlite:.reprise/demo.db');
});

test('refuses a store that its commands could not share', async () => {
  const { code, stderr } = await place.run(['demo', '--store', 'memory:']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('each command runs as its own process')]);
});

test('keeps to the wall of a project, and starts no agent of its own', async (context) => {
  skipOnServer('it is about the file of the demo', context);
  place.write('reprise.config.mjs', "export default { store: 'sqlite:other.db', namespace: 'shop' };");
  expect(await place.json('demo')).toMatchObject({ store: 'sqlite:.reprise/demo.db', session: 'refund' });
  place.write('reprise.config.mjs', 'export default { agents: { demo: async () => process.exit(9) } };');
  const { code, stderr } = await place.run(['demo']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('has its own agent "demo"')]);
});
