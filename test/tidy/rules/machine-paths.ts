import { homedir } from 'node:os';
import type { Problem, Rule, Tree, TreeFile } from '../tree.ts';

/** Home folders, of anyone but the reader. */
const homes = /(?<![\w.~-])(?:\/(?:home|Users)\/(?!(?:you|user)\b)[\w.-]+|\/root)\/|[A-Z]:\\+Users\\+/;
const registries =
  /\bhttps?:\/\/[^\s"'`)]*\b(?:registry|artifactory|verdaccio)\b|\bregistry\.npmjs\.org\b|^registry\s*=/im;

/** No file tells on which machine, or from which package registry, it was made. */
export const rule: Rule = (tree) => tree.files.flatMap((file) => tellsIn(file, ownPaths(tree)));

function tellsIn(file: TreeFile, own: readonly RegExp[]): Problem[] {
  return file.text.split('\n').flatMap((text, index) => {
    const line = index + 1;
    const path = [homes, ...own].some((pattern) => pattern.test(text));
    const host = registries.test(text);
    return [
      ...(path ? [{ file: file.path, line, message: 'names a path of one machine' }] : []),
      ...(host ? [{ file: file.path, line, message: 'names a package registry' }] : []),
    ];
  });
}

/** Where this checkout and this home are; a path of one part, such as `/app`, is too common a word to look for. */
function ownPaths(tree: Tree): RegExp[] {
  return [tree.root, homedir()]
    .map((path) => path.replaceAll('\\', '/').replace(/\/$/, ''))
    .filter((path) => path.split('/').length > 2)
    .map((path) => new RegExp(`(?<![\\w.-])${path.replace(/[^\w/]/g, '\\$&')}(?![\\w-])`));
}
