/** Every command: words, streams, exit codes, and the answer to a typo. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { openReprise } from '../../../src/index.ts';
import { root } from '../../docs/workshop.ts';
import { dropFixtures, isOnServer, Place, refundPlace, skipOnServer } from './run.ts';

let place: Place;

beforeAll(async () => {
  place = await refundPlace();
});
afterAll(() => {
  place[Symbol.dispose]();
  dropFixtures();
});

const errorIn = (stderr: string): { code: string; message: string; hint: string | null } =>
  (JSON.parse(stderr) as { error: { code: string; message: string; hint: string | null } }).error;

describe('help', () => {
  skipOnServer('no store is opened');

  test('reprise --help names every command, and so does reprise alone', async () => {
    const { code, stdout, stderr } = await place.run(['--help']);
    expect(commands.filter(({ name }) => !new RegExp(`^  ${name} `, 'm').test(stdout))).toEqual([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(await place.run([])).toEqual({ code, stdout, stderr });
  });

  test.each(commands.map(({ name }) => [name]))(
    'reprise %s --help has what every command takes, and examples',
    async (name) => {
      const { code, stdout, stderr } = await place.run([name, '--help']);
      expect([code, stderr]).toEqual([0, '']);
      for (const word of ['--store <url>', '--namespace <name>', '--json [shape]', 'Examples:', `reprise ${name}`])
        expect(stdout).toContain(word);
    },
  );

  test('is never wider than a terminal of 40 columns', async () => {
    const { stdout } = await place.run(['--help'], { env: { COLUMNS: '40' } });
    const wide = stdout.split('\n').filter((line) => line.length > 40);
    expect(wide).toEqual([]);
  });

  test.each([['fork'], ['replay'], ['list']])('of %s is not either, but for its examples', async (name) => {
    const { stdout } = await place.run([name, '--help'], { env: { COLUMNS: '40' } });
    const [text = ''] = stdout.split('Examples:');
    expect(text.split('\n').filter((line) => line.length > 40)).toEqual([]);
  });

  test('the version is that of the package', async () => {
    const { stdout } = await place.run(['--version']);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('a typo is answered with what was probably meant', () => {
  skipOnServer('it is about what is printed');

  test.each([
    ['a command', ['frok', 'refund'], 2, 'reprise fork'],
    ["another program's name for it", ['replay-filter', 'latest'], 2, 'reprise replay'],
    ['a path as a store', ['list', '--store', 'kept/my.db'], 2, '"sqlite:kept/my.db"'],
    ['a scheme', ['list', '--store', 'sqlit:my.db'], 2, '"sqlite:my.db"'],
    ['a word for an option', ['version'], 2, 'reprise --version'],
    ['an option', ['fork', 'refund', '--nmae', 'x'], 2, '--name'],
    ['a session', ['verify', 'refnud'], 1, '"refund"'],
    ['a branch', ['verify', 'refund/carefull'], 1, '"careful"'],
    ['a place in a ref', ['fingerprint', 'refund@trun:1'], 2, '"@turn:…"'],
    [
      'a projection',
      ['counterfactual', 'refund', '--exclude', '5', '--projection', 'convresation'],
      2,
      '"conversation"',
    ],
  ])('%s', async (_, words, code, meant) => {
    const ran = await place.run(words);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toMatch(/Did you mean /);
    expect(ran.stderr).toContain(meant);
  });

  test('a session that nothing is like gets the command that lists them', async () => {
    const { stderr } = await place.run(['verify', 'something-else-entirely']);
    expect(stderr).toContain('reprise list');
    expect(stderr).not.toContain('Did you mean');
  });

  test('a ref that is missing gets one that works', async () => {
    const { code, stderr } = await place.run(['verify']);
    expect(code).toBe(2);
    expect(stderr).toContain('reprise verify latest');
  });
});

describe('where JSON was asked for, every way out is JSON', () => {
  test.each([
    ['no such command', ['frok', '--json'], 2, 'usage'],
    ['no such option', ['fork', 'refund', '--json', '--nmae', 'x'], 2, 'usage'],
    ['no such shape', ['verify', 'refund', '--json=yaml'], 2, 'usage'],
    ['a missing argument', ['verify', '--json'], 2, 'usage'],
    ['too many arguments', ['verify', 'refund', 'refund', '--json'], 2, 'usage'],
    ['no such session', ['verify', 'refnud', '--json'], 1, 'session.not-found'],
    ['no such branch', ['redo', 'refund/x', '--json'], 1, 'branch.not-found'],
    ['no such seq', ['fork', 'refund@90', '--json'], 1, 'point.out-of-range'],
    ['nothing to redo', ['redo', 'refund', '--json'], 1, 'redo.nothing'],
    ['a branch that exists', ['fork', 'refund', '--name', 'careful', '--json'], 1, 'branch.exists'],
    ['a ref that cannot be read', ['verify', 'a/b/c', '--json'], 2, 'ref.invalid'],
    ['an edit that cannot be read', ['fork', 'refund', '--set', 'a=b', '--json'], 2, 'edit.invalid'],
    ['no confirmation', ['delete-session', 'refund', '--json'], 2, 'session.not-confirmed'],
    ['no such kind of store', ['list', '--store', 'ftp://x', '--json'], 2, 'store.unsupported'],
    ['no store', ['list', '--store', 'sqlite:missing.db', '--json'], 3, 'store.not-found'],
    ['a file that is no store', ['list', '--store', 'sqlite:noise.db', '--json'], 3, 'store.damaged'],
  ])('%s', async (_, words, code, name) => {
    place.write('noise.db', 'noise '.repeat(2_000));
    const ran = await place.run(words);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    const error = errorIn(ran.stderr);
    expect(error.code).toBe(name);
    expect(error.message).toMatch(/^Cannot /);
    expect(Object.keys(error)).toEqual(['code', 'message', 'hint']);
  });

  test('a bare --json before the ref does not swallow it', async () => {
    const { code, stdout } = await place.run(['verify', '--json', 'refund']);
    expect([code, (JSON.parse(stdout) as { ok: boolean }).ok]).toEqual([0, true]);
  });
});

describe('stores and namespaces', () => {
  test('a command finds the store of the folder, of --store, and of REPRISE_STORE, wherever it is told', async () => {
    using elsewhere = new Place();
    const { url } = place;
    expect((await place.run(['verify', 'refund'])).code).toBe(0);
    expect((await elsewhere.run(['verify', 'refund'])).code).toBe(3);
    expect((await elsewhere.run(['verify', 'refund', '--store', url])).code).toBe(0);
    expect((await elsewhere.run(['--store', url, 'verify', 'refund'])).code).toBe(0);
    expect((await elsewhere.run(['verify', 'refund'], { env: { REPRISE_STORE: url } })).code).toBe(0);
  });

  test('looking never makes a store, and says how one comes to be', async () => {
    using empty = new Place();
    const { code, stderr } = await empty.run(['list']);
    expect(code).toBe(3);
    const why = isOnServer ? 'it has no schema' : 'there is no such file';
    expect(stderr).toMatch(new RegExp(`${why}[\\s\\S]*Record something first`));
    expect((await empty.run(['doctor'])).stdout).toContain(why);
  });

  test('what to type next works as it is: it names the store and the namespace that were given', async () => {
    using elsewhere = new Place();
    {
      await using reprise = await openReprise({ store: `sqlite:${elsewhere.folder}/o.db`, namespace: 'two words' });
      await (await reprise.createSession('demo')).append({ type: 'note.added', data: { text: 'x' } });
    }
    const given = ['--store', 'sqlite:o.db', '--namespace', 'two words'];
    const { code, stderr } = await elsewhere.run(['verify', 'demo', ...given]);
    expect(code).toBe(0);
    const next = /next: (reprise .*)$/m.exec(stderr)?.[1] ?? '';
    const script = `reprise() { "${process.execPath}" "${join(root, 'src/cli/bin.ts')}" "$@"; }; ${next}`;
    const ran = spawnSync('/bin/sh', ['-c', script], { cwd: elsewhere.folder, env: elsewhere.env(), encoding: 'utf8' });
    expect([ran.status, ran.stdout.slice(0, 8)]).toEqual([0, 'verified']);
    expect((await elsewhere.run(['verify', 'demo', '--store', 'sqlite:o.db'])).code).toBe(1);
  });

  test('in a clone it is npm that is typed next', async () => {
    const { stderr } = await place.run(['verify', 'refund'], { env: { npm_lifecycle_event: 'reprise' } });
    expect(stderr).toContain('next: npm run -s reprise -- verify refund --head');
  });
});

describe('a process of its own', () => {
  skipOnServer('it is about the process');

  test('ends with 0 and prints what the others print', async () => {
    expect(await place.runAlone(['verify', 'refund'])).toEqual(await place.run(['verify', 'refund']));
    expect(await place.runAlone(['fingerprint', 'refund'])).toEqual(await place.run(['fingerprint', 'refund']));
  });

  test.each([
    ['not found', ['verify', 'refnud'], 1],
    ['wrong usage', ['verify'], 2],
    ['no store', ['list', '--store', 'sqlite:missing.db'], 3],
  ])('ends with the code of what went wrong: %s', async (_, words, code) => {
    const alone = await place.runAlone(words);
    expect(alone).toEqual(await place.run(words));
    expect(alone.code).toBe(code);
  });
});

describe('streams', () => {
  skipOnServer('it is about what is printed');

  test('stdout is data alone: what to type next and what is said about it is on stderr', async () => {
    const { stdout, stderr } = await place.run(['fingerprint', 'refund']);
    expect(stdout).toMatch(/^rf1:[0-9a-f]{64}\n$/);
    expect(stderr).toBe('');
    expect((await place.run(['verify', 'refund'])).stdout).toMatch(/^verified {2}7 events, digest [0-9a-f]{64}\n$/);
  });

  test('a pipe gets no colours, FORCE_COLOR gets them, NO_COLOR takes them away again', async () => {
    const coloured = async (env: Record<string, string>): Promise<boolean> =>
      (await place.runAlone(['verify', 'refund'], { env })).stdout.includes('\u001b[');
    expect(await coloured({})).toBe(false);
    expect(await coloured({ FORCE_COLOR: '1' })).toBe(true);
    expect(await coloured({ NO_COLOR: '1' })).toBe(false);
  });

  test('a reader that has seen enough ends it quietly', () => {
    const script = `"${process.execPath}" "${join(root, 'src/cli/bin.ts')}" replay refund --json | head -1`;
    const ran = spawnSync('/bin/sh', ['-c', script], { cwd: place.folder, env: place.env(), encoding: 'utf8' });
    expect(ran.stdout.split('\n')).toHaveLength(2);
    expect(ran.stderr).toBe('');
  });

  test('Ctrl-C ends it quietly with 130', async () => {
    const started = place.start(['replay', 'refund', '--follow', '--json']);
    await started.until(({ stdout }) => stdout !== '');
    started.child.kill('SIGINT');
    expect([await started.ended(), started.stderr]).toEqual([130, '']);
  });

  test('what a payload or an id would do to the terminal is not done', async () => {
    using own = new Place();
    {
      await using reprise = await own.open();
      await (await reprise.createSession('demo')).append({ type: 'note.added', data: { text: '\u001b[31mred\u0007' } });
    }
    const texts = [
      await own.run(['fork', 'demo', '--append', '-'], { stdin: '{"type":"note.added","data":{"text":"\\u001b[2J"}}' }),
      await own.run(['counterfactual', 'demo', '--exclude', '1', '--projection', 'summary']),
      await own.run(['verify', 'demo\u001b[31m']),
    ];
    for (const { stdout, stderr } of texts) expect(stdout + stderr).not.toMatch(/[\u001b\u0007]/);
    expect(texts[0]?.code).toBe(0);
  });
});
