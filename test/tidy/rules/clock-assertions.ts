import { codeFiles, isNode, lineAt, nameOf, nodesOf, type SyntaxNode } from '../syntax.ts';
import type { Problem, Rule, TreeFile } from '../tree.ts';

/** Comparisons that depend on how much there is of something. */
const comparing = /^toBe(Less|Greater)Than(OrEqual)?$|^toBeCloseTo$/;
const operators = new Set(['<', '<=', '>', '>=']);

/** Names of times, and of what measures them. */
const timeName = /(^ms|Ms|Millis|Seconds|Duration)$|^(elapsed|took|hrtime)/;

/** Where times are measured on purpose, on a machine that does nothing else. */
const measured = ['bench/', 'test/soak/'];

/**
 * No test compares a clock: it fails on a busy machine, and never says what is wrong. A test compares what the time stands
 * for: bytes read, rows held, statements asked, the order of events, a clock that the test moves.
 */
export const rule: Rule = (tree) => codeFiles(tree).filter(isTestCode).flatMap(clockAssertions);

function isTestCode({ path }: TreeFile): boolean {
  const isTest = path.endsWith('.test.ts') || path.startsWith('test/') || path.startsWith('src/testing/');
  return isTest && !measured.some((folder) => path.startsWith(folder));
}

function clockAssertions(file: TreeFile): Problem[] {
  const clocks = clockNames(file);
  const isClock = (node: SyntaxNode): boolean => readsClock(node, clocks);
  return [...nodesOf(file)]
    .filter((node) => comparedIn(node).some(isClock))
    .map(({ start }) => ({ file: file.path, line: lineAt(file, start), message: 'asserts something about a clock' }));
}

/** Returns the values that an assertion compares: both sides of `expect(a).toBeLessThan(b)`, and of `expect(a < b)` and `assert.ok(a < b)`. */
function comparedIn(node: SyntaxNode): SyntaxNode[] {
  if (node.type !== 'CallExpression') return [];
  const callee = node['callee'] as SyntaxNode;
  const values = (node['arguments'] as SyntaxNode[]).filter(isNode);
  if (comparing.test(nameOf(callee['property']) ?? '')) return [callee['object'] as SyntaxNode, ...values];
  const isAssertion = nameOf(callee) === 'expect' || rootOf(callee) === 'assert';
  return isAssertion ? values.filter(({ type, operator }) => type === 'BinaryExpression' && isOrder(operator)) : [];
}

const isOrder = (operator: unknown): boolean => operators.has(String(operator));

function rootOf(node: SyntaxNode): string | undefined {
  return node.type === 'MemberExpression' ? rootOf(node['object'] as SyntaxNode) : nameOf(node);
}

/** Names that hold a time that was measured, or that measure one: functions and variables whose own code asks a clock. */
function clockNames(file: TreeFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodesOf(file)) {
    const isNamed = node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration';
    const name = isNamed ? nameOf(node['id']) : undefined;
    if (name !== undefined && asksClock(node)) names.add(name);
  }
  return names;
}

function asksClock(node: SyntaxNode): boolean {
  return within(node).some((each) => {
    const [object, property] = [nameOf(each['object']), nameOf(each['property'])];
    return `${object}.${property}` === 'performance.now' || `${object}.${property}` === 'process.hrtime';
  });
}

function readsClock(node: SyntaxNode, clocks: ReadonlySet<string>): boolean {
  return within(node).some((each) => {
    const property = each.type === 'MemberExpression' ? nameOf(each['property']) : undefined;
    if (property !== undefined && (timeName.test(property) || nameOf(each['object']) === 'performance')) return true;
    if (property === 'now' && nameOf(each['object']) === 'Date') return true;
    const name = nameOf(each);
    return name !== undefined && (clocks.has(name) || timeName.test(name));
  });
}

/** A node and everything in it. */
function within(node: SyntaxNode): SyntaxNode[] {
  const inner = Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]));
  return [node, ...inner.filter(isNode).flatMap(within)];
}
