/** Reading TypeScript for the rules, with a parser of its own: the compiler has no stable programming interface. */
import { type Comment, type Program, parseSync } from 'oxc-parser';
import type { Tree, TreeFile } from './tree.ts';

/** A node of the syntax tree, seen without its exact type. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A parsed file. */
export interface Syntax {
  readonly program: Program;
  readonly comments: readonly Comment[];
}

const parsed = new WeakMap<TreeFile, Syntax>();

/** Parses a file once. A file that does not parse is an error: a rule must never pass because it saw nothing. */
export function syntaxOf(file: TreeFile): Syntax {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const result = parseSync(file.path, file.text, { sourceType: 'module', lang: 'ts' });
  const error = result.errors.find((each) => each.severity === 'Error');
  if (error !== undefined) throw new Error(`Cannot parse "${file.path}": ${error.message}`);
  const syntax = { program: result.program, comments: result.comments };
  parsed.set(file, syntax);
  return syntax;
}

const nodes = new WeakMap<TreeFile, readonly SyntaxNode[]>();

/** Every node of a file, each before its children. A file is gone through once for all rules. */
export function nodesOf(file: TreeFile): readonly SyntaxNode[] {
  const known = nodes.get(file);
  if (known !== undefined) return known;
  const found: SyntaxNode[] = [];
  visit(syntaxOf(file).program as unknown as SyntaxNode, found);
  nodes.set(file, found);
  return found;
}

/** The line, from 1, of an offset. */
export function lineAt(file: TreeFile, offset: number): number {
  return file.text.slice(0, offset).split('\n').length;
}

/** TypeScript files that are part of the product: no tests, no declarations. */
export function productFiles(tree: Tree): TreeFile[] {
  return tree.files.filter(
    (file) => file.path.startsWith('src/') && isCode(file) && !isTest(file) && !isGenerated(file),
  );
}

/** Every TypeScript file, tests and scripts included. */
export function codeFiles(tree: Tree): TreeFile[] {
  return tree.files.filter((file) => isCode(file) && !isGenerated(file));
}

/** Whether a program wrote the file, from `proto/`. */
export function isGenerated(file: TreeFile): boolean {
  return file.path.startsWith('src/wire/generated/');
}

/** Whether a file holds tests. */
export function isTest(file: TreeFile): boolean {
  return file.path.endsWith('.test.ts');
}

/** Whether a value is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

/** The name of an identifier node, or undefined. */
export function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' && typeof node['name'] === 'string' ? node['name'] : undefined;
}

/** The text of a string literal or of a template's fixed parts, or undefined. */
export function stringOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node.type !== 'TemplateLiteral') return undefined;
  const quasis = node['quasis'] as { value: { cooked: string | null } }[];
  return quasis.map((quasi) => quasi.value.cooked ?? '').join('…');
}

function isCode(file: TreeFile): boolean {
  return file.path.endsWith('.ts') && !file.path.endsWith('.d.ts');
}

function visit(node: SyntaxNode, found: SyntaxNode[]): void {
  found.push(node);
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) for (const child of value) if (isNode(child)) visit(child, found);
    if (isNode(value)) visit(value, found);
  }
}
