import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../docs/workshop.ts';
import { plainEnv } from '../e2e/cli/run.ts';
import { newPlace, tamper } from './place.ts';

interface Spoken {
  readonly child: ChildProcess;
  readonly said: () => string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
}

function run(words: readonly string[], more: { readonly uid?: number; readonly gid?: number } = {}): Spoken {
  const child = spawn(process.execPath, words, { cwd: root, env: { ...plainEnv(), HOME: tmpdir() }, ...more });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const ended = once(child, 'close').then(
    ([code]) => code as number | null,
    (error: Error) => {
      said += error.message;
      return null;
    },
  );
  return { child, said: () => said, ended };
}

it('many processes that open an empty database at the same moment make the store once', async () => {
  const place = newPlace();
  const peers = Array.from({ length: 6 }, () => run([join(root, 'test/postgres/peer-child.ts'), place]));
  for (const { child, said } of peers) while (!said().includes('ready')) await once(child.stdout as never, 'data');
  for (const { child } of peers) child.stdin?.write('go\n');
  for (const { said, ended } of peers) expect([await ended, said()]).toEqual([0, expect.stringContaining('appended')]);
  const seqs = peers.map(({ said }) => Number(/appended (\d+)/.exec(said())?.[1]));
  expect(seqs.sort((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6]);
  const made = await tamper(
    place,
    'SELECT count(*)::int AS count, count(DISTINCT version)::int AS versions FROM schema_versions',
  );
  expect(made[0]?.['count']).toBe(made[0]?.['versions']);
});

it('a run of these tests that fails says so to whoever started it', async () => {
  const config = join(root, 'test/fixtures/failing/vitest.config.ts');
  const { said, ended } = run([
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--configLoader',
    'native',
    '--config',
    config,
  ]);
  expect([await ended, said()]).toEqual([1, expect.stringContaining('1 failed')]);
});

it('the server of these tests runs as root and as an ordinary user', async (context) => {
  const uid = process.getuid?.();
  if (uid !== 0)
    return context.skip(`this run is itself one of an ordinary user (${uid}); root cannot be had from here`);
  const nobody = 65_534;
  const looking = run(['-e', `require('node:fs').readdirSync(${JSON.stringify(root)})`], { uid: nobody, gid: nobody });
  if ((await looking.ended) !== 0) return context.skip(`an ordinary user cannot read ${root}: ${looking.said()}`);
  const { said, ended } = run([join(root, 'test/postgres/user-child.ts')], { uid: nobody, gid: nobody });
  expect([await ended, said()]).toEqual([0, expect.stringContaining(`user ${nobody} verified true`)]);
});
