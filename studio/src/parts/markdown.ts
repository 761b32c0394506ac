import type { Token, Tokens } from 'marked';
import { markdownTokens } from './markdown-lexer.ts';

/** A piece of a line of Markdown. A link keeps its address as text: nothing in a record opens anything. */
export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'struck'; readonly inline: readonly Inline[] }
  | { readonly kind: 'link'; readonly inline: readonly Inline[]; readonly address: string };

/** A block of Markdown. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly inline: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly inline: readonly Inline[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'code'; readonly text: string }
  | MarkdownList
  | { readonly kind: 'table'; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly kind: 'rule' };

/** A list, each entry with its blocks; `start` is the number of the first entry of a numbered one. */
export interface MarkdownList {
  readonly kind: 'list';
  readonly start: number | undefined;
  readonly items: readonly (readonly Block[])[];
}

/** Reads Markdown as blocks. HTML in it, and everything else that is not known, is text. */
export function readMarkdown(text: string): readonly Block[] {
  return blocksOf(markdownTokens(text));
}

function blocksOf(tokens: readonly Token[]): readonly Block[] {
  const blocks: Block[] = [];
  // The sign of a task is a token before the words of its entry.
  let task = '';
  for (const token of tokens as readonly Tokens.Generic[]) {
    if (token.type === 'checkbox') task = token.raw;
    else if (token.type !== 'space') {
      blocks.push(blockOf(token, task));
      task = '';
    }
  }
  return blocks;
}

function blockOf(token: Tokens.Generic, task: string): Block {
  switch (token.type) {
    case 'heading':
      return { kind: 'heading', level: (token as Tokens.Heading).depth, inline: inlineOf(token.tokens ?? []) };
    case 'blockquote':
      return { kind: 'quote', blocks: blocksOf(token.tokens ?? []) };
    case 'code':
      return { kind: 'code', text: (token as Tokens.Code).text };
    case 'list':
      return listOf(token as Tokens.List);
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return { kind: 'table', rows: [header, ...rows].map((cells) => cells.map((cell) => inlineOf(cell.tokens))) };
    }
    case 'hr':
      return { kind: 'rule' };
    default: {
      const own = token.tokens === undefined ? [textOf(token.raw.trimEnd())] : inlineOf(token.tokens);
      return { kind: 'paragraph', inline: task === '' ? own : joined([textOf(task), ...own]) };
    }
  }
}

function listOf({ ordered, start, items }: Tokens.List): MarkdownList {
  return {
    kind: 'list',
    start: ordered ? Number(start) : undefined,
    items: items.map(({ tokens }) => blocksOf(tokens)),
  };
}

function inlineOf(tokens: readonly Token[]): readonly Inline[] {
  return joined(tokens.map((token) => pieceOf(token as Tokens.Generic)));
}

function pieceOf(token: Tokens.Generic): Inline {
  switch (token.type) {
    case 'codespan':
      return { kind: 'code', text: (token as Tokens.Codespan).text };
    case 'strong':
      return { kind: 'strong', inline: inlineOf(token.tokens ?? []) };
    case 'em':
      return { kind: 'emphasis', inline: inlineOf(token.tokens ?? []) };
    case 'del':
      return { kind: 'struck', inline: inlineOf(token.tokens ?? []) };
    case 'link':
    case 'image': {
      const { href, tokens } = token as Tokens.Link;
      return { kind: 'link', inline: inlineOf(tokens), address: href };
    }
    case 'escape':
    case 'text':
      return textOf((token as Tokens.Text).text);
    case 'br':
      return textOf('\n');
    default:
      return textOf(token.raw);
  }
}

const textOf = (text: string): Inline => ({ kind: 'text', text });

/** Joins strings that follow each other. */
function joined(pieces: readonly Inline[]): readonly Inline[] {
  const held: Inline[] = [];
  for (const piece of pieces) {
    const last = held.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text') held[held.length - 1] = textOf(last.text + piece.text);
    else held.push(piece);
  }
  return held;
}
