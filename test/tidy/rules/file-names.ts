import { isGenerated } from '../syntax.ts';
import type { Problem, Rule } from '../tree.ts';

const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
const document = /^[A-Z]+\.md$/;
const kept = ['src/', 'test/', 'bench/', 'examples/', 'scripts/', 'docs/'];
const emptyNames = new Set(['util', 'utils', 'helper', 'helpers', 'types', 'common', 'misc', 'shared']);

/** File names are kebab-case nouns; no drawer for odds and ends, no `index.ts` inside a room. */
export const rule: Rule = (tree) =>
  tree.files
    .filter((file) => kept.some((folder) => file.path.startsWith(folder)) && !isGenerated(file))
    .flatMap((file) => [...notKebab(file.path), ...saysNothing(file.path)]);

function notKebab(path: string): Problem[] {
  const parts = path.split('/');
  const bad = parts.filter((part, index) => !kebab.test(part) && !(index === parts.length - 1 && document.test(part)));
  return bad.map((part) => ({ file: path, message: `"${part}" is not kebab-case` }));
}

function saysNothing(path: string): Problem[] {
  if (!path.startsWith('src/')) return [];
  const parts = path.split('/').map((part) => part.replace(/\..*$/, ''));
  const empty = parts.filter((part) => emptyNames.has(part));
  const barrel = path.endsWith('/index.ts') && path !== 'src/index.ts';
  return [
    ...empty.map((part) => ({ file: path, message: `"${part}" does not say what is inside: name the noun` })),
    ...(barrel ? [{ file: path, message: 'a room has no index.ts: import the file you mean' }] : []),
  ];
}
