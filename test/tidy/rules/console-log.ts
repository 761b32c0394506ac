import { lineAt, nameOf, nodesOf, productFiles } from '../syntax.ts';
import type { Rule } from '../tree.ts';

/** A library does not print, and the CLI prints through its renderers. */
export const rule: Rule = (tree) =>
  productFiles(tree).flatMap((file) =>
    [...nodesOf(file)]
      .filter((node) => node.type === 'MemberExpression' && nameOf(node['object']) === 'console')
      .map((node) => ({ file: file.path, line: lineAt(file, node.start), message: 'prints to the console' })),
  );
