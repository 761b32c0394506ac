/** The imports of a file, in every form an import can take. */
import { posix } from 'node:path';
import { lineAt, nodesOf, type SyntaxNode, stringOf } from './syntax.ts';
import type { TreeFile } from './tree.ts';

/** One import or re-export; `target` is the path in the tree when the specifier is relative. */
export interface Import {
  readonly specifier: string;
  readonly target?: string;
  readonly line: number;
  /** Whether it is `import()`, which runs when it is reached. */
  readonly isLater: boolean;
}

/** Static and dynamic imports, re-exports, and `import('…')` types. */
export function importsOf(file: TreeFile): Import[] {
  return [...nodesOf(file)].flatMap((node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined) return [];
    const found = { specifier, line: lineAt(file, node.start), isLater: node.type === 'ImportExpression' };
    if (!specifier.startsWith('.')) return [found];
    return [{ ...found, target: posix.join(posix.dirname(file.path), specifier) }];
  });
}

function specifierOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return stringOf(node['source'] ?? node['argument']);
    default:
      return undefined;
  }
}
