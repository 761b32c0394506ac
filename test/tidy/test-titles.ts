/** The titles of the tests that run. */
import { codeFiles, isTest, nameOf, nodesOf, type SyntaxNode, stringOf } from './syntax.ts';
import type { Problem, Tree, TreeFile } from './tree.ts';

/** Functions that take a title: the runner's own, and those that make the cases of a suite. */
const testers = new Set(['test', 'it', 'describe', 'suite', 'onSession', 'contractCase']);
const notRun = new Set(['skip', 'todo']);

/** Marks such as `I4` that no title carries. */
export function missingMarks(tree: Tree, marks: readonly string[], noun: string): Problem[] {
  const titles = titlesOf(tree);
  return marks
    .filter((mark) => !titles.some((title) => new RegExp(`\\b${mark}\\b`).test(title)))
    .map((mark) => ({ file: 'test', message: `no test title names ${noun} ${mark}` }));
}

/** Titles of test files, of the suites we ship in `src/testing/`, and of the suite of our verbs in `test/verbs/`, where a title is also a `title` field. */
function titlesOf(tree: Tree): string[] {
  const files = codeFiles(tree).filter((file) => isTest(file) || isSuite(file));
  return files.flatMap((file) => [...nodesOf(file)].flatMap((node) => titleOf(node) ?? []));
}

function isSuite(file: TreeFile): boolean {
  return (
    ['src/testing/', 'test/verbs/'].some((folder) => file.path.startsWith(folder)) || file.path.endsWith('.contract.ts')
  );
}

function titleOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Property' && nameOf(node['key']) === 'title') return stringOf(node['value']);
  if (node.type !== 'CallExpression') return undefined;
  const names = calleeNames(node['callee'] as SyntaxNode);
  if (!testers.has(names[0] ?? '') || names.some((name) => notRun.has(name))) return undefined;
  return stringOf((node['arguments'] as SyntaxNode[])[0]);
}

/** `test.skipIf(x)` → test, skipIf; `test.each(table)` → test, each. */
function calleeNames(node: SyntaxNode): string[] {
  if (node.type === 'MemberExpression') {
    return [...calleeNames(node['object'] as SyntaxNode), nameOf(node['property']) ?? ''];
  }
  if (node.type === 'CallExpression') return calleeNames(node['callee'] as SyntaxNode);
  return [nameOf(node) ?? ''];
}
