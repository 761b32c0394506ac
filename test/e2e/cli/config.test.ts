/** The configuration of a project, as every command finds it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openReprise } from '../../../src/index.ts';
import { Place, refundEvents } from './run.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
  return () => place[Symbol.dispose]();
});

/** Makes a store with one session. */
async function makeStore(file: string, session: string, namespace = 'default'): Promise<void> {
  await using reprise = await openReprise({ store: `sqlite:${join(place.folder, file)}`, namespace });
  await (await reprise.createSession(session)).append(refundEvents());
}

const sessionsOf = (stdout: string): string[] =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { session: string }).session);

describe('which store a command uses', () => {
  test('--store goes before REPRISE_STORE, that before the settings, that before .reprise/reprise.db', async () => {
    await makeStore('.reprise/reprise.db', 'of-default');
    const listed = async (...words: readonly string[]): Promise<string[]> =>
      sessionsOf((await place.run(['list', '--json', ...words])).stdout);
    expect(await listed()).toEqual(['of-default']);

    await makeStore('runs/settings.db', 'of-settings', 'team');
    place.write('.reprise/settings.json', { store: 'sqlite:runs/settings.db', namespace: 'team' });
    expect(await listed()).toEqual(['of-settings']);

    await makeStore('environment.db', 'of-environment', 'team');
    const env = { REPRISE_STORE: 'sqlite:environment.db' };
    expect(sessionsOf((await place.run(['list', '--json'], { env })).stdout)).toEqual(['of-environment']);

    await makeStore('given.db', 'of-command');
    const given = await place.run(['list', '--json', '--store', 'sqlite:given.db'], { env });
    expect(sessionsOf(given.stdout)).toEqual(['of-command']);
  });

  test('the settings of a folder above count in a repository, and their paths begin at the folder of the project', async () => {
    await makeStore('runs.db', 'deep');
    mkdirSync(join(place.folder, '.reprise'));
    place.write('.reprise/settings.json', { store: 'sqlite:runs.db' });
    mkdirSync(join(place.folder, '.git'));
    const below = new Place(join(place.folder, 'packages/one'));
    expect(sessionsOf((await below.run(['list', '--json'])).stdout)).toEqual(['deep']);
    expect((await below.json('doctor'))['location']).toBe(`sqlite:${join(place.folder, 'runs.db')}`);
  });

  test('the store of a configuration that is run is that of the commands that run it', async () => {
    await makeStore('runs/config.db', 'of-config', 'team');
    place.write(
      'reprise.config.ts',
      `export default { store: 'sqlite:runs/config.db' as string, namespace: 'team', agents: { support: async (context: { branch: string }) => context.branch } };`,
    );
    expect(await place.run(['resume', 'of-config', '--prompt', 'x'])).toMatchObject({ code: 0 });
  });

  test('a configuration is not run by help, by --version, nor by a command that needs no agents', async () => {
    await makeStore('given.db', 'of-command');
    place.write('reprise.config.mjs', `throw new Error('it was run');`);
    for (const words of [['--help'], ['list', '--help'], ['--version'], ['list', '--store', 'sqlite:given.db']])
      expect(await place.run(words)).toMatchObject({ code: 0 });
    expect(await place.run(['config'])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('reprise config', () => {
  test('tells what is in effect without making agents or the store', async () => {
    place.write(
      'reprise.config.mjs',
      `export default {
        store: 'sqlite:runs.db',
        namespace: 'team',
        agents: {
          support: async (context) => context.branch,
          lazy: async () => { throw new Error('it was made'); },
          adapted: { framework: 'ai-sdk', resume: async () => 'x' },
        },
        prices: { house: { input: 1, output: 2 } },
        masking: { rules: [{ name: 'order-number', pattern: /ORD-[0-9]+/ }], except: ['jwt'] },
      };`,
    );
    expect(await place.json('config')).toEqual({
      file: join(place.folder, 'reprise.config.mjs'),
      settings: null,
      store: { url: `sqlite:${join(place.folder, 'runs.db')}`, by: 'config' },
      namespace: 'team',
      agents: [
        { name: 'support', kind: 'function' },
        { name: 'lazy', kind: 'made when needed' },
        { name: 'adapted', kind: 'ai-sdk' },
      ],
      prices: ['house'],
      masking: { rules: ['order-number'], except: ['jwt'], key: { kind: 'environment' } },
    });
    const { code, stdout, stderr } = await place.run(['config']);
    expect(code).toBe(0);
    for (const text of ['from the file', 'made when needed', 'house', 'except jwt', 'order-number'])
      expect(stdout).toContain(text);
    expect(stderr).toContain('reprise resume latest --with support');
  });

  test('without a file it tells the defaults, and where to read how to write one', async () => {
    expect(await place.json('config')).toMatchObject({
      file: null,
      store: { by: 'default' },
      agents: [],
      masking: { rules: [], except: [], key: { kind: 'environment' } },
    });
    expect((await place.run(['config'])).stderr).toContain('docs/guides/configure.md');
  });

  test('a file that imports in a project of CommonJS is told what to call it', async () => {
    place.write('package.json', '{ "type": "commonjs" }');
    place.write('reprise.config.ts', `import { sep } from 'node:path';\nexport default { namespace: sep };`);
    const { code, stderr } = await place.run(['config']);
    expect(code).toBe(2);
    expect(stderr).toContain('Rename it to reprise.config.mts');
  });

  test.each([
    ['a field that is misspelt', `export default { agent: {} };`, /"agent" of ".*reprise\.config\.mjs"/],
    [
      'an agent that is not a function',
      `export default { agents: { a: 'gpt' } };`,
      /"agents\.a" of ".*reprise\.config\.mjs"/,
    ],
    ['a price that is not a number', `export default { prices: { m: { input: '1' } } };`, /"prices\.m\.input" of/],
    ['a store that nobody knows', `export default { store: 'redis://x' };`, /"store" of ".*reprise\.config\.mjs"/],
    ['a syntax error', `export default {`, /Cannot load ".*reprise\.config\.mjs": /],
    ['no default export', `export const a = 1;`, /it has no default export/],
  ])('%s is refused with the file and the field, exit 2', async (_, text, message) => {
    place.write('reprise.config.mjs', text);
    const { code, stdout, stderr } = await place.run(['config', '--json']);
    expect([code, stdout]).toEqual([2, '']);
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    expect(error.code).toBe('config.invalid');
    expect(error.message).toMatch(message);
  });

  test('a TypeScript file in a project without a package.json loads without a warning', async () => {
    place.write('reprise.config.ts', `const store: string = 'memory:';\nexport default { store };`);
    expect(await place.runAlone(['config', '--json'])).toMatchObject({ code: 0, stderr: '' });
    place.write('package.json', { name: 'project' });
    expect(await place.runAlone(['config', '--json'])).toMatchObject({ code: 0, stderr: '' });
  });
});
