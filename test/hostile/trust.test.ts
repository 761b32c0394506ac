/** Files of a different user decide nothing: neither what runs, nor where recordings go. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { root } from '../docs/workshop.ts';
import { Place, refundEvents } from '../e2e/cli/run.ts';

const stranger = 4242;
const isRoot = process.geteuid?.() === 0;

// Only the administrator can make files of a different user.
if (!isRoot) console.warn('test/hostile/trust: left out the files of a different user, which only root can make');

let place: Place;
let below: Place;
beforeEach(() => {
  place = new Place(undefined, { isFile: true });
  below = new Place(join(place.folder, 'work/deep'), { isFile: true });
});
afterEach(() => place[Symbol.dispose]());

/** Writes a configuration that leaves a mark when it is run. */
function writeMarking(fields = ''): string {
  place.write(
    'reprise.config.mjs',
    `import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(join(place.folder, 'ran'))}, 'x');
    export default { agents: { support: async (context) => context.branch }, ${fields} };`,
  );
  return join(place.folder, 'reprise.config.mjs');
}

const hasRun = (): boolean => existsSync(join(place.folder, 'ran'));

/** Makes a store in the folder of the project. */
async function makeStore(): Promise<void> {
  await using reprise = await openReprise({ store: place.url });
  await (await reprise.createSession('refund')).append(refundEvents());
}

const userEnv = (): Readonly<Record<string, string>> => ({ XDG_CONFIG_HOME: join(place.folder, 'user') });

function openIn(folder: string): { readonly code: number | null; readonly stderr: string } {
  const program = `import { openReprise } from ${JSON.stringify(join(root, 'src/index.ts'))};
    try { await (await openReprise({ create: false })).close(); } catch (error) { console.error(error.code); }`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: folder,
    env: place.env(userEnv()),
    encoding: 'utf8',
  });
  return { code: status, stderr };
}

describe('commands that need no agents run no configuration', () => {
  const looks: readonly (readonly string[])[] = [
    ['list'],
    ['doctor', '--verify'],
    ['verify', 'refund'],
    ['tree', 'refund'],
    ['replay', 'refund'],
    ['show', 'refund@2'],
    ['fold', 'refund'],
    ['diff', 'refund', 'refund@2'],
    ['fingerprint', 'refund'],
    ['keys', 'refund'],
    ['set', 'refund', 'plan', '1'],
    ['fork', 'refund@2', '--prompt', 'x'],
    ['completion', 'refs', 're'],
    ['export', 'refund', '--format', 'shipit'],
    ['erase', 'refund@2', '--yes'],
    ['coding', 'status', 'refund'],
    ['coding', 'record', 'fact', 'refund', 'x'],
  ];

  test.each(looks)('%s %s', async (...words) => {
    await makeStore();
    writeMarking();
    mkdirSync(join(place.folder, '.git'));
    expect(await below.run(words)).toMatchObject({ code: expect.toBeOneOf([0, 1]) as number });
    expect(hasRun()).toBe(false);
  });

  test('a command that starts an agent runs the configuration of its own project without a question', async () => {
    await makeStore();
    writeMarking();
    expect(await place.run(['resume', 'refund', '--prompt', 'x'])).toMatchObject({ code: 0 });
    expect(hasRun()).toBe(true);
  });

  test('a store that only the configuration names is refused with the command that helps, and never guessed', async () => {
    await makeStore();
    writeMarking(`store: 'sqlite:runs.db', namespace: 'team'`);
    const { code, stdout, stderr } = await place.run(['list', '--json']);
    expect([code, stdout, JSON.parse(stderr)]).toMatchObject([2, '', { error: { code: 'config.not-run' } }]);
    expect(stderr).toContain('reprise config --save');
    expect(hasRun()).toBe(false);
    expect((await place.run(['completion', 'refs'])).stdout).toBe('');
    expect(await place.run(['list', '--store', place.url])).toMatchObject({ code: 0 });
    expect(await place.json('config', '--save')).toEqual({
      file: join(place.folder, '.reprise/settings.json'),
      settings: { store: 'sqlite:runs.db', namespace: 'team' },
    });
    expect((await place.json('doctor'))['location']).toBe(`sqlite:${join(place.folder, 'runs.db')}`);
    expect(await place.json('config')).toMatchObject({ store: { by: 'settings' }, namespace: 'team' });
  });

  test('a store that the text of the configuration does not show is refused where it is run', async () => {
    place.write('shared.mjs', `export const shared = { store: 'sqlite:runs.db' };`);
    place.write(
      'reprise.config.mjs',
      `import { shared } from './shared.mjs';\nexport default { ...shared, agents: {} };`,
    );
    const { stderr } = await place.run(['config', '--json']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'config.invalid' } });
    expect(stderr).toContain('does not show it');
    expect(openIn(place.folder).stderr).toBe('config.invalid\n');
    expect(await place.run(['config', '--save'])).toMatchObject({ code: 0 });
    expect(await place.json('config')).toMatchObject({ store: { by: 'settings' } });
  });

  test('masking rules of one’s own mask what is typed: from the settings, or the command is refused', async () => {
    await makeStore();
    writeMarking(`masking: { rules: [{ name: 'order-number', pattern: /\\bORD-\\d{6}\\b/ }] }`);
    const typed = ['set', 'refund', 'note', '"see ORD-123456"', '--json'];
    expect(JSON.parse((await place.run(typed)).stderr)).toMatchObject({ error: { code: 'config.not-run' } });
    const recorded = ['coding', 'record', 'fact', 'refund', 'see ORD-123456', '--json'];
    expect(JSON.parse((await place.run(recorded)).stderr)).toMatchObject({ error: { code: 'config.not-run' } });
    const ran = await place.run(['exec', '--session', 'refund', '--json', '--', 'echo', 'ORD-123456']);
    expect([ran.code, JSON.parse(ran.stderr)]).toMatchObject([125, { error: { code: 'config.not-run' } }]);
    expect(await place.run(['list'])).toMatchObject({ code: 0 });
    expect(await place.run(['config', '--save'])).toMatchObject({ code: 0 });
    expect(await place.run(typed)).toMatchObject({ code: 0 });
    const kept = await place.run(['get', 'refund', 'note', '--json']);
    expect(kept.stdout).toContain('order-number');
    expect(kept.stdout).not.toContain('123456');
    expect((await place.run(recorded)).stdout).not.toContain('123456');
  });

  test('settings with a password are not written: they belong into the repository', async () => {
    writeMarking(`store: 'postgres://me:hunter2@localhost/runs'`);
    const { code, stdout, stderr } = await place.run(['config', '--save']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('REPRISE_STORE');
    expect(stdout + stderr).not.toContain('hunter2');
    expect(existsSync(join(place.folder, '.reprise/settings.json'))).toBe(false);
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['a field that is misspelt', '{ "stores": "memory:" }'],
    ['agents', '{ "agents": {} }'],
    ['a store that nobody knows', '{ "store": "redis://x" }'],
    ['a number as the namespace', '{ "namespace": 7 }'],
    ['a pattern that does not compile', '{ "masking": { "rules": [{ "name": "a", "pattern": "(" }] } }'],
    ['a rule that is not an object', '{ "masking": { "rules": [null] } }'],
  ])('settings with %s are refused with their file', async (_, text) => {
    mkdirSync(join(place.folder, '.reprise'));
    place.write('.reprise/settings.json', text);
    const { code, stderr } = await place.run(['list', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'config.invalid' } });
    expect(stderr).toContain('settings.json');
  });

  test('settings and a configuration that differ are refused', async () => {
    mkdirSync(join(place.folder, '.reprise'));
    place.write('.reprise/settings.json', { namespace: 'one' });
    writeMarking(`namespace: 'two'`);
    expect(await place.run(['config'])).toMatchObject({ code: 2 });
    place.write('.reprise/settings.json', { store: 'sqlite:one.db' });
    writeMarking(`store: 'sqlite:two.db'`);
    expect((await place.run(['config'])).stderr).toContain('says something different');
  });
});

describe.skipIf(!isRoot)('files of a different user', () => {
  const owners: readonly [string, (file: string) => void][] = [
    ['the configuration', (file) => chownSync(file, stranger, stranger)],
    ['the folder of the project', () => chownSync(place.folder, stranger, stranger)],
    ['its .git', () => chownSync(join(place.folder, '.git'), stranger, stranger)],
  ];

  test.each(owners)('%s: a configuration is not run, by commands or by openReprise()', async (_, give) => {
    await makeStore();
    mkdirSync(join(place.folder, '.git'));
    give(writeMarking());
    for (const words of [['resume', 'refund'], ['config'], ['experiment', 'refund@2', '--variants', 'v.json']]) {
      place.write('work/deep/v.json', [{ name: 'as-is' }]);
      const { code, stderr } = await below.run([...words, '--json'], { env: userEnv() });
      expect([words, code, JSON.parse(stderr)]).toMatchObject([words, 3, { error: { code: 'config.untrusted' } }]);
      expect(stderr).toContain('reprise config --trust');
    }
    expect(openIn(below.folder).stderr).toBe('config.untrusted\n');
    expect(hasRun()).toBe(false);
  });

  test('the command that the error names trusts the project, once and for all, and runs nothing', async () => {
    await makeStore();
    mkdirSync(join(place.folder, '.git'));
    chownSync(writeMarking(), stranger, stranger);
    const trusted = await below.run(['config', '--trust', '--json'], { env: userEnv() });
    expect(JSON.parse(trusted.stdout)).toEqual({
      folder: place.folder,
      listedIn: join(place.folder, 'user/reprise/trusted.json'),
    });
    expect(statSync(join(place.folder, 'user/reprise/trusted.json')).mode & 0o777).toBe(0o600);
    expect(hasRun()).toBe(false);
    expect(await below.run(['config'], { env: userEnv() })).toMatchObject({ code: 0 });
    expect(hasRun()).toBe(true);
    // A list that someone else could have written trusts nothing.
    chownSync(join(place.folder, 'user/reprise/trusted.json'), stranger, stranger);
    expect(await below.run(['config'], { env: userEnv() })).toMatchObject({ code: 3 });
  });

  test('a link of a different user to a file of one’s own is theirs', async () => {
    place.write('mine.mjs', readFileSync(writeMarking(), 'utf8'));
    symlinkSync('mine.mjs', join(place.folder, 'reprise.config.js'));
    lchownSync(join(place.folder, 'reprise.config.js'), stranger, stranger);
    const folder = new Place(join(place.folder, 'other'), { isFile: true }).folder;
    symlinkSync(join(place.folder, 'mine.mjs'), join(folder, 'reprise.config.mjs'));
    lchownSync(join(folder, 'reprise.config.mjs'), stranger, stranger);
    expect(openIn(folder).stderr).toBe('config.untrusted\n');
    expect(hasRun()).toBe(false);
  });

  test('settings of a different user do not choose the store; a store that is given is read', async () => {
    await makeStore();
    mkdirSync(join(place.folder, '.git'));
    place.write('.reprise/settings.json', { store: 'sqlite:theirs.db' });
    chownSync(join(place.folder, '.reprise/settings.json'), stranger, stranger);
    const { code, stderr } = await below.run(['list', '--json'], { env: userEnv() });
    expect([code, JSON.parse(stderr)]).toMatchObject([3, { error: { code: 'config.untrusted' } }]);
    expect(await below.run(['list', '--store', place.url], { env: userEnv() })).toMatchObject({ code: 0 });
    expect(openIn(below.folder).stderr).toBe('config.untrusted\n');
  });

  test('the store of a repository that a different user made above is neither read nor made', async () => {
    mkdirSync(join(place.folder, '.git'));
    chownSync(join(place.folder, '.git'), stranger, stranger);
    for (const words of [['list'], ['doctor', '--create'], ['import', '-']])
      expect(await below.run(words, { env: userEnv() })).toMatchObject({ code: 3 });
    expect(existsSync(join(place.folder, '.reprise'))).toBe(false);
  });

  test('an administrator who uses sudo is also the user who called it', async () => {
    await makeStore();
    chownSync(writeMarking(), stranger, stranger);
    chownSync(place.folder, stranger, stranger);
    expect(await place.run(['config'], { env: { ...userEnv(), SUDO_UID: String(stranger) } })).toMatchObject({
      code: 0,
    });
  });
});

describe('where a store is looked for, and who can read it', () => {
  test('outside a repository, a store above the folder is not found', async () => {
    await makeStore();
    expect(await below.run(['list'])).toMatchObject({ code: 3, stdout: '' });
    mkdirSync(join(place.folder, '.git'));
    expect(await below.run(['list'])).toMatchObject({ code: 0 });
  });

  test('the files of a store are created for their user alone, and git ignores them but not the settings', async () => {
    const before = process.umask(0);
    try {
      const reprise = await openReprise({ store: place.url });
      await (await reprise.createSession('refund')).append(refundEvents());
      for (const end of ['', '-wal', '-shm'])
        expect([end, (statSync(`${place.store}${end}`).mode & 0o777).toString(8)]).toEqual([end, '600']);
      await reprise.close();
    } finally {
      process.umask(before);
    }
    place.write('.reprise/settings.json', {});
    const git = (...words: string[]): string =>
      spawnSync('git', ['-C', place.folder, ...words], { encoding: 'utf8' }).stdout;
    git('init', '--quiet');
    expect(git('status', '--porcelain', '--untracked-files=all').split('\n').toSorted()).toEqual([
      '',
      '?? .reprise/.gitignore',
      '?? .reprise/settings.json',
    ]);
  });

  test('beside files of a user, .gitignore names the store alone, and one that is there stays', async () => {
    mkdirSync(join(place.folder, '.git'));
    await (await openReprise({ store: `sqlite:${join(place.folder, 'runs.db')}` })).close();
    expect(readFileSync(join(place.folder, '.gitignore'), 'utf8')).toBe('/runs.db\n/runs.db-*\n');
    place.write('.gitignore', 'mine\n');
    await (await openReprise({ store: `sqlite:${join(place.folder, 'more.db')}` })).close();
    expect(readFileSync(join(place.folder, '.gitignore'), 'utf8')).toBe('mine\n');
    await (await openReprise({ store: `sqlite:${join(place.folder, 'work/deep/none.db')}` })).close();
    expect(existsSync(join(below.folder, '.gitignore'))).toBe(true);
  });

  test('a store that is there keeps the mode that its owner gave it', async () => {
    await makeStore();
    chmodSync(place.store, 0o640);
    await (await openReprise({ store: place.url })).close();
    expect((statSync(place.store).mode & 0o777).toString(8)).toBe('640');
  });
});
