import { lineAt, nodesOf, productFiles } from '../syntax.ts';
import type { Rule } from '../tree.ts';

const linesMax = 70;
const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** A function of the product fits a screen: at most 70 lines, nested functions included. */
export const rule: Rule = (tree) =>
  productFiles(tree).flatMap((file) =>
    [...nodesOf(file)].flatMap((node) => {
      if (!functionTypes.has(node.type)) return [];
      const line = lineAt(file, node.start);
      const lines = lineAt(file, node.end) - line + 1;
      if (lines <= linesMax) return [];
      return [{ file: file.path, line, message: `function has ${lines} lines, at most ${linesMax} are allowed` }];
    }),
  );
