import { Lexer, type Token, type TokensList } from 'marked';

/** Blocks inside blocks that are read; what is inside those is a paragraph. */
const blockDepthMax = 16;

/** The signs of emphasis in a paragraph up to which they are read: the time for them grows with their square. */
const emphasisSignsMax = 400;

/** Cuts Markdown into tokens, in a time and a depth that hostile text cannot exceed. */
class BoundedLexer extends Lexer {
  #depth = 0;

  override blockTokens(source: string, tokens?: Token[], isParagraphCut?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isParagraphCut?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isParagraphCut?: boolean): Token[] {
    if (this.#depth >= blockDepthMax) {
      tokens.push({ type: 'text', raw: source, text: source });
      return tokens;
    }
    this.#depth += 1;
    const read = super.blockTokens(source, tokens, isParagraphCut);
    this.#depth -= 1;
    return read;
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (countOf(source, /[*_~]/g) <= emphasisSignsMax) return super.inlineTokens(source, tokens);
    tokens.push({ type: 'text', raw: source, text: source });
    return tokens;
  }
}

/** Returns the tokens of Markdown, which say what is what and contain no HTML that was made of it. */
export function markdownTokens(text: string): readonly Token[] {
  return new BoundedLexer({ gfm: true }).lex(text);
}

const countOf = (text: string, sign: RegExp): number => text.match(sign)?.length ?? 0;
