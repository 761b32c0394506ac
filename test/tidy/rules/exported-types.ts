import { type Declared, declarationOf, listIn, reExports } from '../exported-names.ts';
import { isNode, lineAt, nameOf, type SyntaxNode } from '../syntax.ts';
import { fileAt, type Problem, type Rule, type Tree, type TreeFile } from '../tree.ts';

/** Every type that a public signature names can be imported from a door of the package. */
export const rule: Rule = (tree) => {
  const open = doorsOf(tree).flatMap((door) => reExports(tree, door));
  const exported = new Set(open.map(keyOf));
  const problems = new Map<string, Problem>();
  for (const each of open) {
    for (const name of new Set(shown(each.nodes).flatMap((node) => [...namesIn(node)]))) {
      const found = declarationOf(tree, each.file, name);
      if (found === undefined || exported.has(keyOf(found)) || problems.has(keyOf(found))) continue;
      const message = `"${name}" is in the signature of "${each.name}" and is exported by no door`;
      const line = lineAt(found.file, found.nodes[0]?.start ?? 0);
      problems.set(keyOf(found), { file: found.file.path, line, message });
    }
  }
  return [...problems.values()];
};

/** The source files behind the subpaths of the package. */
function doorsOf(tree: Tree): TreeFile[] {
  const { exports } = JSON.parse(fileAt(tree, 'package.json')?.text ?? '{}') as { exports?: Record<string, unknown> };
  const targets = [...JSON.stringify(exports ?? {}).matchAll(/dist\/([\w-]+)\.d\.ts/g)];
  return targets.flatMap(([, name]) => fileAt(tree, `src/${name}.ts`) ?? []);
}

const keyOf = ({ file, name }: Declared): string => `${file.path} ${name}`;

/** The declarations that callers see: of an overloaded function or method, all but the one with the code. */
function shown(nodes: readonly SyntaxNode[]): readonly SyntaxNode[] {
  const overloads = nodes.filter(({ type, value }) => type === 'TSDeclareFunction' || isBodiless(value));
  return overloads.length === 0 ? nodes : overloads;
}

function isBodiless(value: unknown): boolean {
  return isNode(value) && value.type === 'TSEmptyBodyFunctionExpression';
}

/** The names of types in what a declaration shows: its parameters, results, members and heritage, never its code. */
function* namesIn(node: SyntaxNode, own: ReadonlySet<string> = new Set()): Generator<string> {
  if (isHidden(node)) return;
  const inner = new Set([...own, ...typeParametersOf(node)]);
  const name = typeNameOf(node);
  if (name !== undefined && !inner.has(name)) yield name;
  for (const [field, value] of Object.entries(node)) {
    if (isCode(node, field)) continue;
    for (const child of childrenOf(node, value)) yield* namesIn(child, inner);
  }
}

/** The child nodes of a field; of the members of a class, those that callers see. */
function childrenOf(node: SyntaxNode, value: unknown): readonly SyntaxNode[] {
  const children = (Array.isArray(value) ? value : [value]).filter(isNode);
  if (node.type !== 'ClassBody') return children;
  return [...Map.groupBy(children, ({ key }) => nameOf(key) ?? key).values()].flatMap(shown);
}

/** A member that users cannot reach. */
function isHidden(node: SyntaxNode): boolean {
  const key = node['key'];
  // A verb makes a handle; its constructor is nobody's to call.
  if (node['accessibility'] === 'private' || node['accessibility'] === 'protected' || node['kind'] === 'constructor')
    return true;
  return isNode(key) && key.type === 'PrivateIdentifier';
}

/** The body of a function, and the value of a constant or field with a type of its own. */
function isCode(node: SyntaxNode, field: string): boolean {
  if (field === 'body') return /Function|StaticBlock/.test(node.type);
  if (field === 'init') return true;
  return field === 'value' && node.type === 'PropertyDefinition';
}

function typeParametersOf(node: SyntaxNode): string[] {
  const declared = node['typeParameters'];
  const list = isNode(declared) ? listIn(declared, 'params') : [];
  const own = [...list.map((each) => nameOf(each['name'])), nameOf(node['key']), nameOf(node['typeParameter'])];
  return node.type === 'TSMappedType' || node.type === 'TSInferType' || list.length > 0
    ? own.filter((name) => name !== undefined)
    : [];
}

/** The first name of a reference to a type: `A` of `A<B>`, `A.B` and `extends A`. */
function typeNameOf(node: SyntaxNode): string | undefined {
  if (node.type === 'TSTypeReference') return firstName(node['typeName']);
  if (node.type === 'TSInterfaceHeritage' || node.type === 'TSClassImplements') return firstName(node['expression']);
  return node.type === 'ClassDeclaration' ? firstName(node['superClass']) : undefined;
}

function firstName(node: unknown): string | undefined {
  if (isNode(node) && node.type === 'TSQualifiedName') return firstName(node['left']);
  return nameOf(node);
}
