import { codeFiles, lineAt, nameOf, nodesOf, type SyntaxNode } from '../syntax.ts';
import type { Rule } from '../tree.ts';

const testers = new Set(['test', 'it', 'describe', 'suite', 'bench']);

/** No `.only`: it silently leaves out every other test of the file. */
export const rule: Rule = (tree) =>
  codeFiles(tree).flatMap((file) =>
    [...nodesOf(file)]
      .filter((node) => node.type === 'MemberExpression' && nameOf(node['property']) === 'only')
      .filter((node) => testers.has(leftmostName(node) ?? ''))
      .map((node) => ({ file: file.path, line: lineAt(file, node.start), message: 'runs only this test' })),
  );

function leftmostName(node: SyntaxNode): string | undefined {
  const object = node['object'] as SyntaxNode;
  return object.type === 'MemberExpression' ? leftmostName(object) : nameOf(object);
}
