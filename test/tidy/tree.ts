/** The repository as the tidy rules see it: paths and their text. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** One file; `path` is relative to the root and uses `/`. */
export interface TreeFile {
  readonly path: string;
  readonly text: string;
  readonly bytes: number;
}

/** Every file below one root. */
export interface Tree {
  readonly root: string;
  readonly files: readonly TreeFile[];
}

/** Something a rule does not accept. */
export interface Problem {
  readonly file: string;
  readonly line?: number;
  readonly message: string;
}

/** A rule is a function from the tree to what is wrong with it; a file in `rules/` exports one as `rule`. */
export type Rule = (tree: Tree) => Problem[];

const forbidden = 'test/fixtures/forbidden/';
const notOurs = new Set(['node_modules', '.types', 'dist', 'coverage', '.git', '.reprise']);

/** The repository: what git tracks or would track. Fixtures that must be rejected are left out. */
export function readRepository(root: string): Tree {
  const git = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const listed = git.status === 0 ? git.stdout.split('\0').filter((path) => path !== '') : walk(root);
  const present = listed.filter((path) => !path.startsWith(forbidden) && isFile(join(root, path)));
  return { root, files: present.toSorted().map((path) => readTreeFile(root, path)) };
}

/** A fixture: everything below a folder. */
export function readFixture(root: string): Tree {
  return { root, files: walk(root).map((path) => readTreeFile(root, path)) };
}

/** The file at `path`, or undefined. */
export function fileAt(tree: Tree, path: string): TreeFile | undefined {
  return tree.files.find((file) => file.path === path);
}

function walk(root: string, below = ''): string[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) return notOurs.has(entry.name) ? [] : walk(root, path);
    return entry.isFile() ? [path] : [];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** A file `name.repeat` stands for a long file `name`: `{ "text": …, "times": … }`, so that fixtures stay small. */
function readTreeFile(root: string, path: string): TreeFile {
  const text = readFileSync(join(root, path), 'utf8');
  if (!path.endsWith('.repeat')) return { path, text, bytes: Buffer.byteLength(text) };
  const repeat = JSON.parse(text) as { text: string; times: number };
  const long = repeat.text.repeat(repeat.times);
  return { path: path.slice(0, -'.repeat'.length), text: long, bytes: Buffer.byteLength(long) };
}
