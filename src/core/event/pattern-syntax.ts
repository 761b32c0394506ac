import { assert } from '../error.ts';

/** One thing a pattern asks for. Characters are UTF-16 code units, as JavaScript counts them without the flag `u`. */
export type PatternNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'characters'; readonly set: CharacterSet }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly nodes: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly nodes: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly node: PatternNode; readonly least: number; readonly most: number };

/** A place in the text that a pattern asks for: its start, its end, a word's edge, or not a word's edge. */
export type Assertion = 'start' | 'end' | 'edge' | 'no-edge';

/** Code units as ranges, both ends included. */
export interface CharacterSet {
  readonly ranges: readonly CodeRange[];
  /** Whether the set contains everything else. */
  readonly isNegated: boolean;
}

type CodeRange = readonly [first: number, last: number];

/** A pattern that JavaScript can run and this engine cannot; the message names the construct. */
export class UnsupportedPattern extends Error {}

const digits: readonly CodeRange[] = [[0x30, 0x39]];
const wordCodes: readonly CodeRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const lineBreaks: readonly CodeRange[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const spaces: readonly CodeRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

const classEscapes: Readonly<Record<string, readonly CodeRange[]>> = {
  d: digits,
  D: complement(digits),
  w: wordCodes,
  W: complement(wordCodes),
  s: spaces,
  S: complement(spaces),
};

const controlEscapes: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d };

function complement(ranges: readonly CodeRange[]): CodeRange[] {
  const rest: CodeRange[] = [];
  let next = 0;
  for (const [first, last] of ranges) {
    if (first > next) rest.push([next, first - 1]);
    next = last + 1;
  }
  return next > 0xffff ? rest : [...rest, [next, 0xffff]];
}

/** Returns true if ranges contain a code unit. */
export function holdsCode(ranges: readonly CodeRange[], code: number): boolean {
  return ranges.some(([first, last]) => code >= first && code <= last);
}

/** Returns true if a code unit belongs to a word, as `\w` has it. */
export function isWordCode(code: number): boolean {
  return holdsCode(wordCodes, code);
}

/**
 * Reads a pattern in JavaScript's syntax, without flags. The caller has checked that JavaScript accepts it. Throws
 * {@link UnsupportedPattern} for what needs backtracking: back references and looking around.
 */
export function parsePattern(source: string): PatternNode {
  const reader = new PatternReader(source);
  const node = reader.choice();
  assert(reader.isAtEnd, `the pattern ${JSON.stringify(source)} was read to its end`);
  return node;
}

class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length;
  }

  choice(): PatternNode {
    const nodes = [this.#sequence()];
    while (this.#take('|')) nodes.push(this.#sequence());
    return nodes.length === 1 ? (nodes[0] ?? { kind: 'empty' }) : { kind: 'choice', nodes };
  }

  #sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    while (!this.isAtEnd && this.#next !== '|' && this.#next !== ')') {
      const node = this.#repeated(this.#term());
      if (node.kind !== 'empty') nodes.push(node);
    }
    if (nodes.length === 0) return { kind: 'empty' };
    return nodes.length === 1 ? (nodes[0] ?? { kind: 'empty' }) : { kind: 'sequence', nodes };
  }

  #term(): PatternNode {
    const char = this.#advance();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return { kind: 'characters', set: this.#class() };
      case '\\':
        return this.#escape();
      case '.':
        return { kind: 'characters', set: { ranges: lineBreaks, isNegated: true } };
      case '^':
        return { kind: 'assertion', assertion: 'start' };
      case '$':
        return { kind: 'assertion', assertion: 'end' };
      default:
        return literal(char.charCodeAt(0));
    }
  }

  #group(): PatternNode {
    if (this.#next === '?') this.#groupKind();
    const node = this.choice();
    assert(this.#take(')'), 'a group of a pattern is closed');
    return node;
  }

  #groupKind(): void {
    const kind = /^\?(?::|<?[=!]|<[^>]*>|[^)]?)/.exec(this.#source.slice(this.#at))?.[0] ?? '?';
    if (/^\?<?[=!]/.test(kind)) throw new UnsupportedPattern('it looks ahead or behind');
    if (kind !== '?:' && !kind.startsWith('?<')) throw new UnsupportedPattern('it changes flags inside a group');
    this.#at += kind.length;
  }

  /** Reads the quantifier behind a term, if there is one. How greedy it is does not change whether it matches. */
  #repeated(node: PatternNode): PatternNode {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at, this.#at + 40));
    if (found === null) return node;
    this.#at += found[0].length;
    const [sign = '', from, comma, to] = found;
    if (node.kind === 'empty') return node;
    if (sign.startsWith('*')) return { kind: 'repeat', node, least: 0, most: Number.POSITIVE_INFINITY };
    if (sign.startsWith('+')) return { kind: 'repeat', node, least: 1, most: Number.POSITIVE_INFINITY };
    if (sign.startsWith('?')) return { kind: 'repeat', node, least: 0, most: 1 };
    const least = Number(from);
    const most = comma === '' ? least : to === '' ? Number.POSITIVE_INFINITY : Number(to);
    return most === 0 ? { kind: 'empty' } : { kind: 'repeat', node, least, most };
  }

  #escape(): PatternNode {
    const char = this.#next;
    if (char === 'b' || char === 'B') {
      this.#advance();
      return { kind: 'assertion', assertion: char === 'b' ? 'edge' : 'no-edge' };
    }
    if (/[1-9]/.test(char)) throw new UnsupportedPattern('it refers back to a group');
    if (char === 'k') throw new UnsupportedPattern('it refers back to a named group');
    const found = this.#escaped();
    return typeof found === 'number'
      ? literal(found)
      : { kind: 'characters', set: { ranges: found, isNegated: false } };
  }

  /** Reads behind a backslash: one code unit, or a class such as `\d`. */
  #escaped(): number | readonly CodeRange[] {
    const char = this.#advance();
    const ranges = Object.hasOwn(classEscapes, char) ? classEscapes[char] : undefined;
    if (ranges !== undefined) return ranges;
    const control = Object.hasOwn(controlEscapes, char) ? controlEscapes[char] : undefined;
    if (control !== undefined) return control;
    if (/[0-9]/.test(char)) return this.#octal(char);
    if (char === 'c') return this.#controlLetter();
    if (char === 'x') return this.#hex(2) ?? char.charCodeAt(0);
    if (char === 'u') return this.#hex(4) ?? char.charCodeAt(0);
    return char.charCodeAt(0);
  }

  #octal(char: string): number {
    if (char === '0' && !/[0-9]/.test(this.#next)) return 0;
    throw new UnsupportedPattern('it writes a character in octal');
  }

  #controlLetter(): number {
    if (!/[A-Za-z]/.test(this.#next)) throw new UnsupportedPattern('it has "\\c" without a letter');
    return this.#advance().charCodeAt(0) % 32;
  }

  #hex(length: number): number | undefined {
    const text = this.#source.slice(this.#at, this.#at + length);
    if (text.length < length || !/^[0-9a-fA-F]+$/.test(text)) return undefined;
    this.#at += length;
    return Number.parseInt(text, 16);
  }

  #class(): CharacterSet {
    const isNegated = this.#take('^');
    const ranges: CodeRange[] = [];
    while (!this.#take(']')) {
      const first = this.#classAtom();
      if (this.#next !== '-' || this.#source[this.#at + 1] === ']') {
        ranges.push(...rangesOf(first));
        continue;
      }
      this.#advance();
      const last = this.#classAtom();
      if (typeof first === 'number' && typeof last === 'number') ranges.push([first, last]);
      // A class such as `\w` begins or ends no range: the dash means itself.
      else ranges.push(...rangesOf(first), ...rangesOf('-'.charCodeAt(0)), ...rangesOf(last));
    }
    return { ranges, isNegated };
  }

  #classAtom(): number | readonly CodeRange[] {
    const char = this.#advance();
    if (char !== '\\') return char.charCodeAt(0);
    return this.#take('b') ? 0x08 : this.#escaped();
  }

  get #next(): string {
    return this.#source[this.#at] ?? '';
  }

  #advance(): string {
    assert(!this.isAtEnd, 'a pattern does not end in the middle of a term');
    return this.#source[this.#at++] ?? '';
  }

  #take(char: string): boolean {
    if (this.#next !== char) return false;
    this.#at++;
    return true;
  }
}

function literal(code: number): PatternNode {
  return { kind: 'characters', set: { ranges: [[code, code]], isNegated: false } };
}

function rangesOf(atom: number | readonly CodeRange[]): readonly CodeRange[] {
  return typeof atom === 'number' ? [[atom, atom]] : atom;
}
