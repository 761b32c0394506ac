import { lineAt, nameOf, nodesOf, productFiles, type SyntaxNode } from '../syntax.ts';
import type { Problem, Rule, TreeFile } from '../tree.ts';

/** Words with too many meanings, or none. GLOSSARY.md has the ones we use instead. */
export const bannedWords: readonly string[] = [
  'checkpoint',
  'timeline',
  'thread',
  'trace',
  'step',
  'util',
  'helper',
  'manager',
];
const banned = new Set(bannedWords.flatMap((word) => [word, `${word}s`]));

/** Names declared in the product, and its file names, use none of the banned words; adapters speak for others. */
export const rule: Rule = (tree) =>
  productFiles(tree)
    .filter((file) => !file.path.startsWith('src/adapters/'))
    .flatMap((file) => [...inFileName(file), ...inDeclarations(file)]);

function inFileName(file: TreeFile): Problem[] {
  const found = file.path.split(/[/.-]/).filter((word) => banned.has(word));
  return found.map((word) => ({ file: file.path, message: `file name uses the banned word "${word}"` }));
}

function inDeclarations(file: TreeFile): Problem[] {
  return [...nodesOf(file)].flatMap((node) =>
    declaredNames(node).flatMap((name) => {
      const word = wordsOf(name).find((each) => banned.has(each));
      if (word === undefined) return [];
      const line = lineAt(file, node.start);
      return [{ file: file.path, line, message: `"${name}" uses the banned word "${word}"` }];
    }),
  );
}

/** Names a node declares. Keys of object literals are left out: they may belong to a foreign format. */
function declaredNames(node: SyntaxNode): string[] {
  switch (node.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'TSEnumDeclaration':
      return boundNames(node['id']);
    case 'TSPropertySignature':
    case 'TSMethodSignature':
    case 'PropertyDefinition':
    case 'MethodDefinition':
      return boundNames(node['key']);
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [node['id'], ...(node['params'] as SyntaxNode[])].flatMap((each) => boundNames(each));
    default:
      return [];
  }
}

function boundNames(node: unknown): string[] {
  const name = nameOf(node);
  if (name !== undefined) return [name];
  const pattern = node as SyntaxNode | null;
  switch (pattern?.type) {
    case 'PrivateIdentifier':
      return [String(pattern['name'])];
    case 'ObjectPattern':
      return (pattern['properties'] as SyntaxNode[]).flatMap((each) => boundNames(each['value'] ?? each['argument']));
    case 'ArrayPattern':
      return (pattern['elements'] as (SyntaxNode | null)[]).flatMap((each) => boundNames(each));
    case 'AssignmentPattern':
      return boundNames(pattern['left']);
    case 'RestElement':
      return boundNames(pattern['argument']);
    default:
      return [];
  }
}

/** `readTraceId` → read, trace, id. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_$]+/)
    .map((word) => word.toLowerCase());
}
