/** A piece of a line of Markdown. A link keeps its address as text: nothing in a record opens anything. */
export interface Inline {
  readonly kind: 'text' | 'strong' | 'emphasis' | 'code' | 'link';
  readonly text: string;
  /** Of a link. */
  readonly address?: string;
}

/** A block of Markdown. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly inline: readonly Inline[] }
  | { readonly kind: 'paragraph' | 'quote'; readonly inline: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly ListItem[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly kind: 'rule' };

/** An entry of a list: how far it is indented, and its text. */
interface ListItem {
  readonly depth: number;
  readonly inline: readonly Inline[];
}

const signs = /^(?:#{1,6} |```|> |[-*+] |\d{1,9}[.)] |\|)|\*\*|`[^`\n]|\]\(/m;

/** Tells whether a text looks as if it were Markdown. */
export const looksLikeMarkdown = (text: string): boolean => signs.test(text);

const inlineSigns =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__|\*([^*\s][^*\n]*)\*|!?\[([^\]\n]{0,500})\]\(([^)\s]{1,2000})[^)\n]{0,200}\)/g;

/** Reads the pieces of a line. */
export function inlineOf(text: string): readonly Inline[] {
  const pieces: Inline[] = [];
  let from = 0;
  for (const match of text.matchAll(inlineSigns)) {
    const { index, 0: whole } = match;
    const [, code, strong, strongToo, emphasis, label, address] = match;
    if (index > from) pieces.push({ kind: 'text', text: text.slice(from, index) });
    if (code !== undefined) pieces.push({ kind: 'code', text: code });
    else if (emphasis !== undefined) pieces.push({ kind: 'emphasis', text: emphasis });
    else if (address !== undefined) pieces.push({ kind: 'link', text: label ?? '', address });
    else pieces.push({ kind: 'strong', text: strong ?? strongToo ?? '' });
    from = index + whole.length;
  }
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) });
  return pieces;
}

/** Reads Markdown as blocks, in one pass. Everything it does not know is a paragraph. */
export function readMarkdown(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  for (let at = 0; at < lines.length; ) at = readBlock(lines, at, blocks);
  return blocks;
}

const listSign = /^( {0,12})(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;

/** Reads the block that begins at a line, and returns the line after it. */
function readBlock(lines: readonly string[], at: number, blocks: Block[]): number {
  const line = lines[at] ?? '';
  if (line.trim() === '') return at + 1;
  if (/^ {0,3}```/.test(line)) return readCode(lines, at, blocks);
  const [, signs = '', heading] = /^(#{1,6}) +(.*)$/.exec(line) ?? [];
  if (heading !== undefined) {
    blocks.push({ kind: 'heading', level: signs.length, inline: inlineOf(heading) });
    return at + 1;
  }
  if (/^ {0,3}(?:-{3,}|\*{3,}|_{3,}) *$/.test(line)) {
    blocks.push({ kind: 'rule' });
    return at + 1;
  }
  if (listSign.test(line)) return readList(lines, at, blocks);
  if (line.startsWith('|') && /^\|[ :|-]+$/.test(lines[at + 1] ?? '')) return readTable(lines, at, blocks);
  return readLines(lines, at, blocks);
}

function readCode(lines: readonly string[], at: number, blocks: Block[]): number {
  let end = at + 1;
  while (end < lines.length && !/^ {0,3}``` *$/.test(lines[end] ?? '')) end++;
  blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n') });
  return end + 1;
}

function readList(lines: readonly string[], at: number, blocks: Block[]): number {
  const items: ListItem[] = [];
  let end = at;
  for (; end < lines.length; end++) {
    const [, indent = '', , words] = listSign.exec(lines[end] ?? '') ?? [];
    if (words === undefined) break;
    items.push({ depth: Math.min(4, Math.floor(indent.length / 2)), inline: inlineOf(words) });
  }
  const isOrdered = /^ *\d/.test(lines[at] ?? '');
  blocks.push({ kind: 'list', isOrdered, items });
  return end;
}

function readTable(lines: readonly string[], at: number, blocks: Block[]): number {
  const rows: (readonly (readonly Inline[])[])[] = [];
  let end = at;
  for (; (lines[end] ?? '').startsWith('|'); end++)
    if (end !== at + 1)
      rows.push(
        (lines[end] ?? '')
          .replace(/^\||\| *$/g, '')
          .split('|')
          .map((cell) => inlineOf(cell.trim())),
      );
  blocks.push({ kind: 'table', rows });
  return end;
}

/** Reads lines up to an empty one, as a paragraph or a quote. */
function readLines(lines: readonly string[], at: number, blocks: Block[]): number {
  const isQuote = /^ {0,3}>/.test(lines[at] ?? '');
  let end = at + 1;
  while (end < lines.length && isMore(lines[end] ?? '', isQuote)) end++;
  const text = lines.slice(at, end).map((line) => (isQuote ? line.replace(/^ {0,3}> ?/, '') : line));
  blocks.push({ kind: isQuote ? 'quote' : 'paragraph', inline: inlineOf(text.join('\n')) });
  return end;
}

const isMore = (line: string, isQuote: boolean): boolean =>
  line.trim() !== '' &&
  /^ {0,3}>/.test(line) === isQuote &&
  !/^(?: {0,3}```|#{1,6} )/.test(line) &&
  !listSign.test(line);
