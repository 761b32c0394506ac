import { isNode, nameOf, nodesOf, type SyntaxNode, stringOf } from '../syntax.ts';
import { fileAt, type Problem, type Rule, type TreeFile } from '../tree.ts';

const source = 'src/core/error.ts';
const docs = 'docs/reference/errors.md';

/** Every error code has a section, headed by the code, and every section belongs to a code. */
export const rule: Rule = (tree) => {
  const file = fileAt(tree, source);
  const codes = file === undefined ? [] : codesOf(file);
  if (codes.length === 0) return [{ file: source, message: 'has no errorCodes' }];
  const sections = sectionsOf(fileAt(tree, docs)?.text ?? '');
  return [
    ...missing(codes, sections).map((code): Problem => ({ file: docs, message: `has no section "## ${code}"` })),
    ...missing(sections, codes).map((code): Problem => ({ file: docs, message: `"${code}" is not an error code` })),
  ];
};

function codesOf(file: TreeFile): string[] {
  const declaration = [...nodesOf(file)].find((node) => nameOf(node['id']) === 'errorCodes');
  let value = declaration?.['init'];
  if (isNode(value) && value.type === 'TSAsExpression') value = value['expression'];
  if (!isNode(value) || value.type !== 'ObjectExpression') return [];
  return (value['properties'] as SyntaxNode[]).map((each) => stringOf(each['key']) ?? nameOf(each['key']) ?? '?');
}

function sectionsOf(text: string): string[] {
  return [...text.matchAll(/^#{2,3} `?([a-z-]+\.[a-z-]+)`?$/gm)].map((match) => match[1] ?? '');
}

function missing(wanted: readonly string[], from: readonly string[]): string[] {
  return wanted.filter((each) => !from.includes(each));
}
