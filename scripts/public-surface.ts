/** The exports of the package, read from the source: names, doc comments, members and examples. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Comment, parseSync } from 'oxc-parser';

/** An `@example` of a doc comment: its code, and the line of the file it begins on. */
export interface Example {
  readonly code: string;
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
    return nodesIn(node, 'specifiers').map((specifier) =>
      entryOf(source, String(nodeAt(specifier, 'local')?.['name'])),
    );
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

function entryOf(source: Source, name: string): Entry {
  for (const node of source.body) {
    const declaration = nodeAt(node, 'declaration');
    if (node.type !== 'ExportNamedDeclaration' || declaration === undefined) continue;
    const variable = nodesIn(declaration, 'declarations')[0];
    if ((nodeAt(declaration, 'id') ?? nodeAt(variable ?? node, 'id'))?.['name'] !== name) continue;
    return { name, file: source.file, ...docBefore(source, node.start), ...shapeOf(source, declaration) };
  }
  throw new Error(`"${source.file}" does not export "${name}"`);
}

function shapeOf(source: Source, declaration: SyntaxNode): Pick<Entry, 'kind' | 'parameters' | 'members' | 'type'> {
  const members = (list: readonly SyntaxNode[]): Member[] =>
    firstOfEach(list.flatMap((node) => memberOf(source, node)));
  switch (declaration.type) {
    case 'ClassDeclaration':
      return {
        kind: 'class',
        parameters: undefined,
        type: undefined,
        members: members(nodesIn(body(declaration), 'body')),
      };
    case 'TSInterfaceDeclaration':
      return {
        kind: 'type',
        parameters: undefined,
        type: undefined,
        members: members(nodesIn(body(declaration), 'body')),
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

/** The overloads of one method share the comment of the first. */
function firstOfEach(members: readonly Member[]): Member[] {
  return members.filter((member, index) => members.findIndex(({ name }) => name === member.name) === index);
}

const body = (node: SyntaxNode): SyntaxNode => nodeAt(node, 'body') as SyntaxNode;

/** Public methods and fields; what is private, inherited from JavaScript, or a constructor is nobody's to call. */
function memberOf(source: Source, node: SyntaxNode): Member[] {
  const key = nodeAt(node, 'key');
  if (key?.type !== 'Identifier' || node['computed'] === true || node['kind'] === 'constructor') return [];
  const name = String(key['name']);
  const doc = docBefore(source, node.start);
  const isMethod = (node.type === 'MethodDefinition' && node['kind'] === 'method') || node.type === 'TSMethodSignature';
  // A framework calls a method that overrides one of its own, and its documents describe it.
  if (isMethod && node['override'] === true) return [];
  const signature = node.type === 'MethodDefinition' ? (nodeAt(node, 'value') as SyntaxNode) : node;
  return [
    {
      name,
      parameters: isMethod ? parametersOf(source, signature) : undefined,
      type: isMethod ? undefined : typeOf(source, node),
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

/** The doc comment that stands right before an offset. */
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
  return { about, example: at < 0 ? undefined : exampleOf(lines, at, firstLine) };
}

function exampleOf(lines: readonly string[], at: number, firstLine: number): Example | undefined {
  const open = lines.findIndex((line, index) => index > at && line.startsWith('```'));
  const close = lines.findIndex((line, index) => index > open && line.startsWith('```'));
  if (open < 0 || close < 0) return undefined;
  return { code: lines.slice(open + 1, close).join('\n'), firstLine: firstLine + open + 1 };
}

function nodeAt(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const value = node[field];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SyntaxNode) : undefined;
}

function nodesIn(node: SyntaxNode, field: string): SyntaxNode[] {
  const value = node[field];
  return Array.isArray(value) ? (value as SyntaxNode[]) : [];
}
