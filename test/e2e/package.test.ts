/** The package as others get it: packed, installed into an empty folder without a network, and used. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doors } from '../../scripts/doors.ts';
import { programOf } from '../docs/pages.ts';
import { root } from '../docs/workshop.ts';

/** The tarball, as npm describes it. */
interface Packed {
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let folder = '';
let packed: Packed;

/** The packages that this one depends on. */
const dependencies = Object.keys(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }).dependencies,
);

/** Runs a command in the folder and gives what it printed; throws with all of it if it failed. */
function run(file: string, ...args: string[]): string {
  return execFileSync(file, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-package-'));
  if (!existsSync(join(root, 'dist/index.js'))) execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'pipe' });
  const packing = ['pack', '--json', '--pack-destination', folder];
  const said = execFileSync('npm', packing, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  packed = (JSON.parse(said) as [Packed])[0];
  // Dependencies come from our own installation: npm keeps no list of versions that it could ask offline.
  const held = dependencies.map((name) => join(root, 'node_modules', name));
  execFileSync('npm', ['pack', '--ignore-scripts', ...held, '--pack-destination', folder], { stdio: 'pipe' });
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n');
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', ...tarballs.map((name) => join(folder, name)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the package brings nothing but itself and the few packages that it names', () => {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as { packages: object };
  const installed = ['', ...[...dependencies, 'reprise'].map((name) => `node_modules/${name}`)];
  expect(Object.keys(lock.packages).toSorted()).toEqual(installed.toSorted());
});

test('the package is small, and has the program without its source', () => {
  expect(packed.unpackedSize).toBeLessThan(13_000_000);
  expect(packed.files.length).toBeLessThan(500);
  const paths = packed.files.map(({ path }) => path);
  expect(paths.filter((path) => /^(?:src|test|docs\/(?:decisions|images))\/|\.png$/.test(path))).toEqual([]);
  expect(paths.filter((path) => /^dist\/studio\/.*\.js$/.test(path)).length).toBeLessThan(40);
  const maps = paths.filter((path) => path.endsWith('.map'));
  expect(maps.length).toBeGreaterThan(50);
  for (const path of maps)
    expect(readFileSync(join(folder, 'node_modules/reprise', path), 'utf8')).not.toContain('sourcesContent');
});

test('no two files of the package import each other, so none is used before it has run', () => {
  const paths = packed.files.map(({ path }) => path).filter((path) => /^dist\/(?!studio).*\.js$/.test(path));
  const open = new Map(
    paths.map((path) => {
      const text = readFileSync(join(folder, 'node_modules/reprise', path), 'utf8');
      const imports = [...text.matchAll(/^(?:import|export) (?:[^;]*? from )?"(\.[^"]+)";/gm)];
      return [path, imports.map(([, name = '']) => posix.join(posix.dirname(path), name))] as const;
    }),
  );
  expect([...open.values()].flat().length).toBeGreaterThan(100);
  // Files that import only files that are done are done; files in a circle never are.
  for (let before = 0; before !== open.size; ) {
    before = open.size;
    for (const [path, imports] of open) if (!imports.some((name) => open.has(name))) open.delete(path);
  }
  expect([...open.keys()]).toEqual([]);
});

test.each(Object.entries(doors))('%s exports what its source exports', async (name, { file }) => {
  const [built, source] = await Promise.all([import(name), import(join(root, file))]);
  expect(Object.keys(built).toSorted()).toEqual(Object.keys(source).toSorted());
  const declared = namesIn(
    readFileSync(join(folder, 'node_modules/reprise', file.replace('src/', 'dist/').replace('.ts', '.d.ts')), 'utf8'),
  );
  expect(declared).toEqual(namesIn(readFileSync(join(root, file), 'utf8')));
  expect(declared).not.toEqual([]);
});

/** Returns the names, types too, that a file exports. */
function namesIn(text: string): readonly string[] {
  const code = text.replaceAll(/\/\/.*$/gm, '');
  const lists = [...code.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) => list.split(','));
  const own = [...code.matchAll(/^export (?:async )?(?:interface|function|class|const|type) (\w+)/gm)];
  const names = [...lists.map((name) => name.trim().replace(/^.*\s/, '')), ...own.map(([, name = '']) => name)];
  return names.filter((name) => name !== '').toSorted();
}

test('importing the package loads no SQLite and prints nothing, opening a file loads it', () => {
  writeFileSync(
    join(folder, 'sqlite.mjs'),
    `import { openReprise } from 'reprise';
     const hasSqlite = () => process.moduleLoadList.includes('NativeModule sqlite');
     const before = hasSqlite();
     await using reprise = await openReprise('sqlite:lazy.db');
     console.log(before, hasSqlite());`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, ['sqlite.mjs'], { cwd: folder, encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['false true\n', '']);
});

test('what most programs do loads none of them', () => {
  writeFileSync(
    join(folder, 'loaded.mjs'),
    `import { registerHooks } from 'node:module';
     const loaded = new Set();
     registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
     const { openReprise } = await import('reprise');
     await using reprise = await openReprise('memory:');
     await (await reprise.createSession('demo')).append({ type: 'note.added', data: { text: 'x' } });
     console.log([...loaded].filter((url) => ${JSON.stringify(['bufbuild', 'connectrpc', 'fflate', 'yaml', 'commander'])}.some((name) => url.includes('node_modules/' + name) || url.includes('@' + name))).length);`,
  );
  expect(run(process.execPath, 'loaded.mjs')).toBe('0\n');
});

test('npx reprise works in the folder it was installed into, and says how to type the next command there', () => {
  writeFileSync(
    join(folder, 'record.mjs'),
    `import { openReprise } from 'reprise';
     await using reprise = await openReprise('sqlite:.reprise/cli.db');
     await (await reprise.createSession('demo')).append({ type: 'note.added', data: { text: 'x' } });`,
  );
  run(process.execPath, 'record.mjs');
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    REPRISE_STORE: 'sqlite:.reprise/cli.db',
  };
  const npx = (...words: readonly string[]) =>
    spawnSync('npx', ['reprise', ...words], { cwd: folder, env, encoding: 'utf8' });
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  expect(npx('--version').stdout).toBe(`${version}\n`);
  expect(JSON.parse(npx('list', '--json').stdout)).toMatchObject({ session: 'demo', events: 1 });
  expect(npx('verify', 'demo')).toMatchObject({
    status: 0,
    stderr: expect.stringContaining(`next: npx ${name} verify demo`),
  });
  expect(npx('verify', 'dmeo').status).toBe(1);
  // The script has the options of every command, so it loads all of them.
  expect(npx('completion', 'bash')).toMatchObject({ status: 0, stdout: expect.stringContaining('counterfactual') });
  // A thread reads the whole file, from a file of the package that no import names.
  expect(JSON.parse(npx('doctor', '--json').stdout)).toMatchObject({ ok: true, store: { kind: 'sqlite' } });
});

test('the pages of the package link only to what it has, or to what it leaves to the repository', () => {
  const left = /^(?:docs\/(?:decisions|images)|src|test)\/|^(?:ARCHITECTURE|CONTRIBUTING)\.md$/;
  const home = join(folder, 'node_modules/reprise');
  const pages = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(40);
  const broken = pages.flatMap((page) =>
    [...readFileSync(join(home, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !existsSync(join(left.test(join(dirname(page), link)) ? root : home, dirname(page), link)))
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('an old Node gets a sentence with the version that is needed, also as JSON, and no stack', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  const needed = engines.node.replace('>=', '');
  // The fault: a Node that says it is old. The program has to refuse it before it loads anything else.
  const pretence = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });`;
  writeFileSync(join(folder, 'old.cjs'), pretence);
  const old = (...words: readonly string[]) =>
    spawnSync(process.execPath, ['--require', './old.cjs', 'node_modules/reprise/dist/cli/bin.js', ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
  const message = `Cannot run Reprise on Node 20.20.2: it needs Node ${needed} or later`;
  const { status, stdout, stderr } = old('list');
  expect([status, stdout, stderr.split('\n')[0]]).toEqual([3, '', message]);
  expect(JSON.parse(old('list', '--json').stderr)).toMatchObject({ error: { code: 'node.too-old', message } });
  const program = readFileSync(join(folder, 'node_modules/reprise/dist/cli/bin.js'), 'utf8');
  expect(program).not.toMatch(/^import /m);
});

test('require() loads the package and its doors that need no framework', () => {
  writeFileSync(
    join(folder, 'required.cjs'),
    `const { openReprise } = require('reprise');
     const doors = ['store', 'testing', 'protocols'].map((door) => typeof require('reprise/' + door));
     openReprise('memory:').then(async (reprise) => {
       console.log((await reprise.createSession('required')).id, ...doors);
       await reprise.close();
     });`,
  );
  expect(run(process.execPath, 'required.cjs')).toBe('required object object object\n');
});

test('npm run -s reprise works in the clone', () => {
  const store = `sqlite:${join(folder, '.reprise/cli.db')}`;
  const words = ['run', '-s', 'reprise', '--', 'list', '--json', '--store', store];
  const { status, stdout } = spawnSync('npm', words, { cwd: root, encoding: 'utf8' });
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { session: 'demo' }]);
});

test('the example of the README runs with the installed package and prints what the README says', () => {
  const program = programOf(readFileSync(join(root, 'README.md'), 'utf8'));
  // The client of the example, which a reader installs besides Reprise.
  symlinkSync(join(root, 'node_modules/openai'), join(folder, 'node_modules/openai'));
  writeFileSync(join(folder, 'readme.ts'), program?.text ?? '');
  expect(run(process.execPath, 'readme.ts')).toBe(program?.output);
});

test('the example of the README has the right types against the installed package', () => {
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['readme.ts'] }));
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(tsc, ['--pretty', 'false'], { cwd: folder, encoding: 'utf8' });
  // Declarations of the frameworks may have mistakes of their own; ours may not.
  const foreign = /^\.\.\/|^node_modules\/(?!reprise\/)|^ /;
  expect(stdout.split('\n').filter((line) => line !== '' && !foreign.test(line))).toEqual([]);
});

test('an installed package keeps what it was given in a file, from one process to the next', () => {
  writeFileSync(
    join(folder, 'twice.mjs'),
    `import { openReprise } from 'reprise';
     await using reprise = await openReprise();
     const session = await reprise.session('kept', { create: true });
     await session.append({ type: 'note.added', data: { text: 'x' } });
     console.log((await session.verify()).ok, (await session.locate()).head);`,
  );
  expect([run(process.execPath, 'twice.mjs'), run(process.execPath, 'twice.mjs')]).toEqual(['true 1\n', 'true 2\n']);
  expect(existsSync(join(folder, '.reprise/reprise.db'))).toBe(true);
});

test('reprise/testing of the installed package proves a store', () => {
  writeFileSync(
    join(folder, 'contract.mjs'),
    `import { createNodePlatform, openMemoryStore } from 'reprise';
     import { storeContract } from 'reprise/testing';
     const platform = createNodePlatform();
     for (const { run } of storeContract.branch) await run(async () => openMemoryStore({ platform }));
     console.log(storeContract.branch.length > 0);`,
  );
  expect(run(process.execPath, 'contract.mjs')).toBe('true\n');
});

/** The Node that started npm, which a workflow chooses; the tests run on the one that the project pins. */
const nodeOfMachine = process.env['npm_node_execpath'] ?? process.execPath;

test('the installed package works on the Node that started npm, or says which Node it needs', () => {
  const cli = (...words: readonly string[]) =>
    spawnSync(nodeOfMachine, ['node_modules/reprise/dist/cli/bin.js', ...words], { cwd: folder, encoding: 'utf8' });
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  const [neededMajor = 0, neededMinor = 0] = engines.node.replace('>=', '').split('.').map(Number);
  const version = run(nodeOfMachine, '--version').trim();
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  console.log(`The Node that started npm is ${version}.`);
  if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
    expect(cli('list')).toMatchObject({ status: 3, stderr: expect.stringContaining(`Cannot run Reprise on Node`) });
    return;
  }
  // Without `using`, which Node 22 does not know.
  writeFileSync(
    join(folder, 'machine.mjs'),
    `import { createNodePlatform, openReprise, openSqliteStore } from 'reprise';
     import { storeContract } from 'reprise/testing';
     const platform = createNodePlatform();
     const reprise = await openReprise('sqlite:machine/store.db');
     const session = await reprise.createSession('demo');
     await session.append({ type: 'note.added', data: { text: 'x' } });
     const fork = await session.fork('main@1', { name: 'child' });
     await fork.append({ type: 'note.added', data: { text: 'y' } });
     console.log((await session.branch('child').verify()).ok);
     await reprise.close();
     let files = 0;
     const open = () => openSqliteStore({ path: 'machine/' + files++ + '.db', platform });
     for (const { run } of [...storeContract.append, ...storeContract.read]) await run(open);
     console.log(files > 20);`,
  );
  expect(run(nodeOfMachine, 'machine.mjs')).toBe('true\ntrue\n');
  expect(cli('list', '--store', 'sqlite:machine/store.db', '--json')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('"session":"demo"'),
  });
});

describe.each([
  ['bun', []],
  ['deno', ['run', '--allow-all']],
])('on %s, if it is here', (name, words) => {
  const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}` };
  const isHere = spawnSync(name, ['--version'], { env }).status === 0;
  if (!isHere) console.log(`skipped: nothing runs "${name}" here; its npm package or its installer brings it`);
  const on = (...rest: readonly string[]) =>
    spawnSync(name, [...words, ...rest], { cwd: folder, env, encoding: 'utf8' });

  test.skipIf(!isHere)('the package keeps a history in a file, and forks it', () => {
    writeFileSync(
      join(folder, 'elsewhere.mjs'),
      `import { openReprise } from 'reprise';
       await using reprise = await openReprise('sqlite:elsewhere-${name}.db');
       const session = await reprise.createSession('elsewhere');
       await session.append({ type: 'note.added', data: { text: 'a' } });
       await session.append({ type: 'note.added', data: { text: 'b' } });
       await session.fork('main@1', { name: 'again' });
       console.log((await session.branch('again').locate()).head, (await session.verify()).ok);`,
    );
    expect(on('elsewhere.mjs')).toMatchObject({ status: 0, stdout: '2 true\n', stderr: '' });
  });

  test.skipIf(!isHere)('the command line tells its version and the whole story', () => {
    const program = 'node_modules/reprise/dist/cli/bin.js';
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(on(program, '--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
    const { status, stdout } = on(program, 'demo', '--store', `sqlite:story-${name}.db`);
    expect([status, stdout]).toEqual([0, expect.stringContaining('5  Verify: prove that the record is intact')]);
  });
});
