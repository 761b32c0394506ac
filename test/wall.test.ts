/**
 * The walls between the rooms hold: what a room must not do is refused by the real compiler and the real linter, with the
 * configuration that the project itself uses. Each fixture says in its first line who refuses it, and with what.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const forbidden = join(root, 'test/fixtures/forbidden/wall');
const allowed = join(root, 'test/fixtures/allowed/wall');
const rooms = [
  'core',
  'projections',
  'engine',
  'wording',
  'reading',
  'protocols',
  'store/memory',
  'store/sql',
  'store/sqlite',
  'node',
  'testing',
];

/** Targets of the forbidden imports, so that each is refused for where it points and not for pointing nowhere. */
const targets = {
  'src/engine/changing/fork.ts': 'export function fork(): void {}\n',
  'src/store/memory/memory-store.ts': 'export function openMemoryStore(): void {}\n',
  'src/store/sql/event-row.ts': 'export function eventOf(): void {}\n',
  'src/store/sqlite/sqlite-store.ts': 'export function openSqliteStore(): void {}\n',
};

let project = '';
let refusals: readonly string[] = [];

beforeAll(() => {
  project = createProject();
  refusals = [...compile(project), ...lint(project)];
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the wall', () => {
  test.each(filesIn(forbidden))('refuses %s', (path) => {
    const expected = expectedRefusals(path);
    expect(expected).not.toEqual([]);
    expect(refusals).toEqual(expect.arrayContaining(expected));
  });

  test.each([...filesIn(allowed), ...Object.keys(targets)])('lets %s pass', (path) => {
    expect(refusals.filter((refusal) => refusal.startsWith(`${nameOf(path)} `))).toEqual([]);
  });
});

/** A project with our own configuration, whose rooms hold every fixture. */
function createProject(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-wall-')));
  const configurations = rooms.map((room) => `src/${room}/tsconfig.json`);
  for (const path of [
    'package.json',
    'tsconfig.base.json',
    '.oxlintrc.json',
    'src/core/ambient.d.ts',
    ...configurations,
  ]) {
    cpSync(join(root, path), join(folder, path));
  }
  cpSync(forbidden, folder, { recursive: true });
  cpSync(allowed, folder, { recursive: true });
  for (const [path, text] of Object.entries(targets)) writeTarget(join(folder, path), text);
  for (const path of filesIn(folder).filter((each) => each.endsWith('.repeat'))) repeat(join(folder, path));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return folder;
}

/** Writes the long file `name` that a file `name.repeat` is short for. */
function repeat(path: string): void {
  const {
    first,
    text,
    times,
    last = '',
  } = JSON.parse(readFileSync(path, 'utf8')) as {
    first: string;
    text: string;
    times: number;
    last?: string;
  };
  writeFileSync(nameOf(path), first + text.repeat(times) + last);
  rmSync(path);
}

const nameOf = (path: string): string => path.replace(/\.repeat$/, '');

function writeTarget(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** `src/core/name.ts tsc TS1234` for each error of the compiler. */
function compile(folder: string): string[] {
  const { stdout } = run('tsc', ['-b', ...rooms.map((room) => `src/${room}`), '--pretty', 'false'], folder);
  return [...stdout.matchAll(/^([\w./-]+)\(\d.*?\): error (TS\d+)/gm)].map(([, file, code]) => `${file} tsc ${code}`);
}

/** `src/core/name.ts oxlint rule` for each error of the linter. */
function lint(folder: string): string[] {
  const { stdout } = run('oxlint', ['--format', 'json', 'src', 'studio'], folder);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
  return diagnostics.map(({ code, filename }) => `${filename} oxlint ${code.replace(/^.*\(|\)$/g, '')}`);
}

function run(tool: string, args: readonly string[], cwd: string): { stdout: string } {
  const result = spawnSync(join(root, 'node_modules/.bin', tool), args, { cwd, encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return result;
}

/** `// refused by tsc: TS1234, by oxlint: rule` in the first line of a fixture. */
function expectedRefusals(path: string): string[] {
  const first = readFileSync(join(forbidden, path), 'utf8').split('\n')[0] ?? '';
  return [...first.matchAll(/by (tsc|oxlint): ([\w-]+)/g)].map(([, tool, code]) => `${nameOf(path)} ${tool} ${code}`);
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}
