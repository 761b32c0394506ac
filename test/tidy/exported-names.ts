/** Which declaration a name of a file leads to, through imports and re-exports. */
import { posix } from 'node:path';
import { isNode, nameOf, type SyntaxNode, stringOf, syntaxOf } from './syntax.ts';
import { fileAt, type Tree, type TreeFile } from './tree.ts';

/** A declaration: where it stands, its name there, and its nodes; an overloaded function has several. */
export interface Declared {
  readonly file: TreeFile;
  readonly name: string;
  readonly nodes: readonly SyntaxNode[];
}

/** The names of one file: what it declares, and what it imports or re-exports from other files of the tree. */
interface Names {
  readonly declared: ReadonlyMap<string, readonly SyntaxNode[]>;
  readonly imported: ReadonlyMap<string, Source>;
  readonly exported: ReadonlyMap<string, Source>;
}

interface Source {
  readonly path: string;
  readonly name: string;
}

const known = new WeakMap<TreeFile, Names>();

/** Returns the declaration of a name in a file, or undefined for names of the language and of packages. */
export function declarationOf(tree: Tree, file: TreeFile, name: string): Declared | undefined {
  const names = namesOf(file);
  const nodes = names.declared.get(name);
  if (nodes !== undefined) return { file, name, nodes };
  return follow(tree, names.imported.get(name));
}

/** Returns the declarations that a file re-exports, by the name it exports them under. */
export function reExports(tree: Tree, file: TreeFile): Declared[] {
  return [...namesOf(file).exported.values()].flatMap((source) => follow(tree, source) ?? []);
}

function follow(tree: Tree, source: Source | undefined): Declared | undefined {
  const file = source === undefined ? undefined : fileAt(tree, source.path);
  if (source === undefined || file === undefined) return undefined;
  const again = namesOf(file).exported.get(source.name);
  return again === undefined ? declarationOf(tree, file, source.name) : follow(tree, again);
}

function namesOf(file: TreeFile): Names {
  const held = known.get(file);
  if (held !== undefined) return held;
  const [declared, imported, exported] = [
    new Map<string, SyntaxNode[]>(),
    new Map<string, Source>(),
    new Map<string, Source>(),
  ];
  for (const node of syntaxOf(file).program.body as unknown as readonly SyntaxNode[]) {
    for (const [name, source] of sourcesIn(file, node))
      (node.type === 'ImportDeclaration' ? imported : exported).set(name, source);
    const declaration = isNode(node['declaration']) ? node['declaration'] : node;
    for (const each of [declaration, ...listIn(declaration, 'declarations')]) {
      const name = nameOf(each['id']);
      if (name !== undefined) declared.set(name, [...(declared.get(name) ?? []), declaration]);
    }
  }
  const names = { declared, imported, exported };
  known.set(file, names);
  return names;
}

function sourcesIn(file: TreeFile, node: SyntaxNode): [string, Source][] {
  const specifier = stringOf(node['source']);
  if (specifier?.startsWith('.') !== true) return [];
  const path = posix.join(posix.dirname(file.path), specifier);
  const isImport = node.type === 'ImportDeclaration';
  return listIn(node, 'specifiers').map((each) => {
    const local = nameOf(each['local']) ?? '';
    const other = nameOf(each[isImport ? 'imported' : 'exported']) ?? local;
    return isImport ? [local, { path, name: other }] : [other, { path, name: local }];
  });
}

/** Returns the nodes of a list field. */
export function listIn(node: SyntaxNode, field: string): SyntaxNode[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}
