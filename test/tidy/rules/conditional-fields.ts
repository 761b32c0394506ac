import { lineAt, nameOf, nodesOf, productFiles, type SyntaxNode } from '../syntax.ts';
import type { Rule } from '../tree.ts';

/** An optional field is written `...given({ agent })`, not `...(agent === undefined ? {} : { agent })`. */
export const rule: Rule = (tree) =>
  productFiles(tree).flatMap((file) =>
    [...nodesOf(file)].filter(isConditionalField).map(({ start }) => ({
      file: file.path,
      line: lineAt(file, start),
      message: 'spreads a field only if it is there: write "...given({ … })"',
    })),
  );

function isConditionalField({ type, argument }: SyntaxNode): boolean {
  const { type: kind, test, consequent, alternate } = withoutParens(argument);
  if (type !== 'SpreadElement' || kind !== 'ConditionalExpression') return false;
  const name = testedName(test as SyntaxNode);
  const fields = propertiesOf(alternate);
  return name !== undefined && propertiesOf(consequent)?.length === 0 && fields?.every(isOf(name)) === true;
}

function withoutParens(node: unknown): SyntaxNode {
  const held = (node ?? {}) as SyntaxNode;
  return held.type === 'ParenthesizedExpression' ? withoutParens(held['expression']) : held;
}

/** Returns the name in `name === undefined`. */
function testedName({ type, operator, left, right }: SyntaxNode): string | undefined {
  const isTest = type === 'BinaryExpression' && operator === '===' && nameOf(right) === 'undefined';
  return isTest ? nameOf(left) : undefined;
}

function propertiesOf(node: unknown): SyntaxNode[] | undefined {
  const { type, properties } = node as SyntaxNode;
  return type === 'ObjectExpression' ? (properties as SyntaxNode[]) : undefined;
}

const isOf =
  (name: string) =>
  ({ value }: SyntaxNode): boolean =>
    nameOf(value) === name;
