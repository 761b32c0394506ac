/** The exports of the package, read from the source: names, doc comments, members and examples. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Comment, parseSync } from 'oxc-parser';

/** An `@example` of a doc comment: its code, its file, and the line of the file it begins on. */
export interface Example {
  readonly code: string;
  readonly file: string;
  readonly firstLine: number;
}

/** A method or field of an exported class or interface. */
export interface Member {
  readonly name: string;
  /** For a method: its parameters as a caller sees them. */
  readonly parameters: string | undefined;
  /** For a field: its type. */
  readonly type: string | undefined;
  readonly isOptional: boolean;
  readonly about: string;
  readonly example: Example | undefined;
}

/** One exported name. */
export interface Entry {
  readonly name: string;
  readonly file: string;
  readonly kind: 'class' | 'function' | 'value' | 'type';
  /** Whether only its type can be imported: a class whose objects the verbs return. */
  readonly isTypeOnly: boolean;
  /** For a class: the class of this package that it extends. The entry of that class has the inherited members. */
  readonly base: string | undefined;
  readonly parameters: string | undefined;
  readonly about: string;
  readonly example: Example | undefined;
  readonly members: readonly Member[];
  /** The type as written, where it has no members. */
  readonly type: string | undefined;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

interface Source {
  readonly file: string;
  readonly text: string;
  readonly body: readonly SyntaxNode[];
  readonly comments: readonly Comment[];
}

interface Doc {
  readonly about: string;
  readonly example: Example | undefined;
}

/** Everything a door of the package (`src/index.ts`, `src/testing.ts`) exports, in the order it is written there. */
export function publicSurface(root: string, door: string): Entry[] {
  return parse(root, door).body.flatMap((node) => {
    const from = nodeAt(node, 'source');
    if (node.type !== 'ExportNamedDeclaration' || from === undefined) return [];
    const source = parse(root, posix.join(posix.dirname(door), String(from['value'])));
    return nodesIn(node, 'specifiers').map((specifier) => {
      const entry = entryOf(root, source, String(nodeAt(specifier, 'local')?.['name']));
      const isTypeOnly = [node, specifier].some((each) => each['exportKind'] === 'type');
      return { ...entry, name: String(nodeAt(specifier, 'exported')?.['name']), isTypeOnly };
    });
  });
}

const parsed = new Map<string, Source>();

function parse(root: string, file: string): Source {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(root, file), 'utf8');
  const { program, comments, errors } = parseSync(file, text, { sourceType: 'module', lang: 'ts' });
  if (errors.length > 0) throw new Error(`Cannot parse "${file}": ${errors[0]?.message}`);
  const source = { file, text, body: program.body as unknown as SyntaxNode[], comments };
  parsed.set(file, source);
  return source;
}

function entryOf(root: string, source: Source, name: string): Omit<Entry, 'isTypeOnly'> {
  const { node, declaration } = declarationOf(source, name);
  const base = baseOf(source, declaration);
  return { name, file: source.file, base, ...docBefore(source, node.start), ...shapeOf(root, source, declaration) };
}

/** Returns the name of the class that a class extends, if it is a class of this package. */
function baseOf(source: Source, declaration: SyntaxNode): string | undefined {
  const name = nodeAt(declaration, 'superClass')?.['name'];
  const isHere = source.body.some((node) => nodeAt(nodeAt(node, 'declaration') ?? node, 'id')?.['name'] === name);
  return name !== undefined && (isHere || importedFrom(source, String(name)) !== undefined) ? String(name) : undefined;
}

function declarationOf(source: Source, name: string): { readonly node: SyntaxNode; readonly declaration: SyntaxNode } {
  for (const node of source.body) {
    const declaration = nodeAt(node, 'declaration');
    if (node.type !== 'ExportNamedDeclaration' || declaration === undefined) continue;
    const variable = nodesIn(declaration, 'declarations')[0];
    if ((nodeAt(declaration, 'id') ?? nodeAt(variable ?? node, 'id'))?.['name'] === name) return { node, declaration };
  }
  throw new Error(`"${source.file}" does not export "${name}"`);
}

function shapeOf(
  root: string,
  source: Source,
  declaration: SyntaxNode,
): Pick<Entry, 'kind' | 'parameters' | 'members' | 'type'> {
  switch (declaration.type) {
    case 'ClassDeclaration':
      return {
        kind: 'class',
        parameters: undefined,
        type: undefined,
        members: documented(root, source, declaration),
      };
    case 'TSInterfaceDeclaration':
      return {
        kind: 'type',
        parameters: undefined,
        type: undefined,
        members: withInherited(root, source, declaration),
      };
    case 'TSTypeAliasDeclaration':
      return {
        kind: 'type',
        parameters: undefined,
        type: textOf(source, nodeAt(declaration, 'typeAnnotation')),
        members: [],
      };
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
      return { kind: 'function', parameters: parametersOf(source, declaration), type: undefined, members: [] };
    default:
      return { kind: 'value', parameters: undefined, type: undefined, members: [] };
  }
}

function membersOf(source: Source, declaration: SyntaxNode): Member[] {
  // A framework calls a method that overrides one of the framework's, and its documents describe it.
  const isForeign = baseOf(source, declaration) === undefined;
  const nodes = nodesIn(body(declaration), 'body').filter(
    (node) => !(isForeign && isMethod(node) && node['override'] === true),
  );
  return firstOfEach(nodes.flatMap((node) => memberOf(source, node)));
}

/** Returns the members of an interface, and after them those of the interfaces it extends, in whole or in part. */
function withInherited(root: string, source: Source, declaration: SyntaxNode): Member[] {
  const clauses = nodesIn(declaration, 'extends').map((clause) => textOf(source, clause));
  const inherited = clauses.flatMap((clause) => membersFrom(root, source, clause));
  return firstOfEach([...membersOf(source, declaration), ...inherited]);
}

/** Returns the members that a type named in a file brings; an alias of such a type is followed. */
function membersFrom(root: string, source: Source, type: string): Member[] {
  const { name, isKept } = heritageOf(type);
  const found = declared(root, source, name);
  if (found === undefined) return [];
  const alias = nodeAt(found.declaration, 'typeAnnotation');
  const members =
    alias === undefined
      ? withInherited(root, found.source, found.declaration)
      : membersFrom(root, found.source, textOf(found.source, alias));
  return members.filter((member) => isKept(member.name));
}

/** Reads a type such as `ResumeOptions<Run>`, `Omit<ResumeOptions, 'prompt'>` or `Partial<Pick<Point, 'seq'>>`. */
function heritageOf(text: string): { readonly name: string; readonly isKept: (member: string) => boolean } {
  const [, whole = text] = /^(?:Partial|Readonly|Required)<(.*)>$/s.exec(text) ?? [];
  const [, kind, name, listed = ''] = /^(Omit|Pick)<\s*(\w+)(?:<[^>]*>)?\s*,(.*)>$/s.exec(whole) ?? [];
  if (kind === undefined || name === undefined) return { name: /^\w+/.exec(whole)?.[0] ?? '', isKept: () => true };
  const names = new Set([...listed.matchAll(/'([^']+)'/g)].map(([, word]) => word));
  return { name, isKept: (member) => names.has(member) === (kind === 'Pick') };
}

/** Returns the members of a class; one without a comment has that of the interface it implements. */
function documented(root: string, source: Source, declaration: SyntaxNode): Member[] {
  return membersOf(source, declaration).map((member) => {
    if (member.about !== '') return member;
    const promised = promisedBy(root, source, nodesIn(declaration, 'implements'), member.name);
    return promised === undefined ? member : { ...member, about: promised.about, example: promised.example };
  });
}

/** Finds the documented member of a name in some interfaces and those they extend. */
function promisedBy(root: string, source: Source, heritage: readonly SyntaxNode[], name: string): Member | undefined {
  for (const clause of heritage) {
    const found = declared(root, source, String(nodeAt(clause, 'expression')?.['name']));
    if (found?.declaration.type !== 'TSInterfaceDeclaration') continue;
    const own = membersOf(found.source, found.declaration).find((member) => member.name === name);
    const member =
      own === undefined || own.about === ''
        ? promisedBy(root, found.source, nodesIn(found.declaration, 'extends'), name)
        : own;
    if (member !== undefined) return member;
  }
  return undefined;
}

interface Declared {
  readonly source: Source;
  readonly declaration: SyntaxNode;
}

/** Finds an interface or an alias by the name a file uses for it: declared there, or imported. */
function declared(root: string, source: Source, name: string): Declared | undefined {
  const held = source.body.find((node) => nodeAt(nodeAt(node, 'declaration') ?? node, 'id')?.['name'] === name);
  if (held !== undefined) {
    const declaration = nodeAt(held, 'declaration') ?? held;
    const isType = declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration';
    return isType ? { source, declaration } : undefined;
  }
  const path = importedFrom(source, name);
  if (path === undefined) return undefined;
  return declared(root, parse(root, posix.join(posix.dirname(source.file), path)), name);
}

/** Returns the path from which a file imports a name, if it leads to a file of this package. */
function importedFrom(source: Source, name: string): string | undefined {
  const from = source.body.find(
    (node) =>
      node.type === 'ImportDeclaration' &&
      nodesIn(node, 'specifiers').some((specifier) => nodeAt(specifier, 'local')?.['name'] === name),
  );
  const path = String(from === undefined ? '' : nodeAt(from, 'source')?.['value']);
  return path.startsWith('.') ? path : undefined;
}

/** The overloads of one method share the comment of the first. */
function firstOfEach(members: readonly Member[]): Member[] {
  return members.filter((member, index) => members.findIndex(({ name }) => name === member.name) === index);
}

const body = (node: SyntaxNode): SyntaxNode => nodeAt(node, 'body') as SyntaxNode;

const isMethod = (node: SyntaxNode): boolean =>
  (node.type === 'MethodDefinition' && node['kind'] === 'method') || node.type === 'TSMethodSignature';

/** Public methods and fields; not what is private, inherited from JavaScript, or a constructor. */
function memberOf(source: Source, node: SyntaxNode): Member[] {
  const key = nodeAt(node, 'key');
  if (key?.type !== 'Identifier' || node['computed'] === true || node['kind'] === 'constructor') return [];
  const name = String(key['name']);
  const doc = docBefore(source, node.start);
  const isCalled = isMethod(node);
  const signature = node.type === 'MethodDefinition' ? (nodeAt(node, 'value') as SyntaxNode) : node;
  return [
    {
      name,
      parameters: isCalled ? parametersOf(source, signature) : undefined,
      type: isCalled ? undefined : typeOf(source, node),
      isOptional: node['optional'] === true,
      ...doc,
    },
  ];
}

function typeOf(source: Source, node: SyntaxNode): string {
  const getter = nodeAt(node, 'value');
  const annotation =
    nodeAt(node, 'typeAnnotation') ?? (getter === undefined ? undefined : nodeAt(getter, 'returnType'));
  return textOf(source, annotation).replace(/^:\s*/, '');
}

/** Parameters by name, the ones that may be left out with a question mark. */
function parametersOf(source: Source, node: SyntaxNode): string {
  return nodesIn(node, 'params')
    .map((parameter) => {
      if (parameter.type === 'RestElement') return `...${String(nodeAt(parameter, 'argument')?.['name'])}`;
      const held = parameter.type === 'AssignmentPattern' ? (nodeAt(parameter, 'left') as SyntaxNode) : parameter;
      const name = held.type === 'Identifier' ? String(held['name']) : 'options';
      return parameter.type === 'AssignmentPattern' || held['optional'] === true ? `${name}?` : name;
    })
    .join(', ');
}

const textOf = (source: Source, node: SyntaxNode | undefined): string =>
  node === undefined ? '' : source.text.slice(node.start, node.end).replaceAll(/\s+/g, ' ');

/** The doc comment right before an offset. */
function docBefore(source: Source, start: number): Doc {
  const comment = source.comments.findLast((each) => each.end <= start && each.value.startsWith('*'));
  if (comment === undefined || source.text.slice(comment.end, start).trim() !== '')
    return { about: '', example: undefined };
  const firstLine = source.text.slice(0, comment.start).split('\n').length;
  const lines = comment.value.split('\n').map((line) => line.replace(/^\s*\* ?/, ''));
  const at = lines.findIndex((line) => line.startsWith('@example'));
  const about = lines
    .slice(0, at < 0 ? lines.length : at)
    .join('\n')
    .replace(/^\*/, '')
    .trim();
  return { about, example: at < 0 ? undefined : exampleOf(source.file, lines, at, firstLine) };
}

function exampleOf(file: string, lines: readonly string[], at: number, firstLine: number): Example | undefined {
  const open = lines.findIndex((line, index) => index > at && line.startsWith('```'));
  const close = lines.findIndex((line, index) => index > open && line.startsWith('```'));
  if (open < 0 || close < 0) return undefined;
  return { code: lines.slice(open + 1, close).join('\n'), file, firstLine: firstLine + open + 1 };
}

function nodeAt(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const value = node[field];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SyntaxNode) : undefined;
}

function nodesIn(node: SyntaxNode, field: string): SyntaxNode[] {
  const value = node[field];
  return Array.isArray(value) ? (value as SyntaxNode[]) : [];
}
