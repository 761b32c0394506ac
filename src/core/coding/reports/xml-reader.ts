import { checkLimit } from '../../limits.ts';
import { refuseReport } from './report.ts';

/** Receives the elements and text of an XML document, in order. */
export interface XmlListener {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  text(text: string): void;
  close(name: string): void;
}

/** Levels of nesting in an XML report. */
const depthMax = 64;

/**
 * Reads XML piece by piece. It knows elements, attributes, text, CDATA and comments, and refuses document types and
 * every entity but the five of XML: nothing can be defined, so nothing can grow.
 */
export class XmlReader {
  readonly #listener: XmlListener;
  readonly #open: string[] = [];
  #rest = '';
  #hasRoot = false;

  constructor(listener: XmlListener) {
    this.#listener = listener;
  }

  write(text: string): void {
    const all = this.#rest + text;
    let at = 0;
    for (;;) {
      const next = this.#take(all, at);
      if (next === undefined) break;
      at = next;
    }
    this.#rest = all.slice(at);
    checkLimit('reportEntryMax', this.#rest.length, 'read an XML report');
  }

  end(): void {
    if (this.#rest.trim() !== '' || this.#open.length > 0 || !this.#hasRoot)
      refuseReport('JUnit', 'it ends before it is complete');
  }

  /** Takes the next piece of markup or text; returns where it ends, or undefined if it is not complete. */
  #take(all: string, at: number): number | undefined {
    if (at >= all.length) return undefined;
    if (all.charAt(at) !== '<') return this.#takeText(all, at);
    if (all.startsWith('<!--', at)) return past(all, '-->', at);
    if (all.startsWith('<![CDATA[', at)) return this.#takeData(all, at);
    if (all.startsWith('<?', at)) return past(all, '?>', at);
    if (all.startsWith('<!', at) && all.length >= at + declarationMin) return this.#refuseDeclaration(all, at);
    return all.startsWith('<!', at) ? undefined : this.#takeTag(all, at);
  }

  #refuseDeclaration(all: string, at: number): undefined {
    const isCut =
      '<![CDATA['.startsWith(all.slice(at, at + '<![CDATA['.length)) || '<!--'.startsWith(all.slice(at, at + 4));
    if (!isCut) refuseReport('JUnit', 'it has a document type, which reports do not need and attacks do');
    return undefined;
  }

  #takeText(all: string, at: number): number | undefined {
    const end = all.indexOf('<', at);
    if (end < 0) return undefined;
    if (this.#open.length > 0) this.#listener.text(decoded(all.slice(at, end)));
    else if (
      all
        .slice(at, end)
        .replace(/^\uFEFF/, '')
        .trim() !== ''
    )
      refuseReport('JUnit', 'it has text outside of its elements');
    return end;
  }

  #takeData(all: string, at: number): number | undefined {
    const end = past(all, ']]>', at);
    if (end !== undefined) this.#listener.text(all.slice(at + '<![CDATA['.length, end - ']]>'.length));
    return end;
  }

  #takeTag(all: string, at: number): number | undefined {
    tag.lastIndex = at;
    const found = tag.exec(all);
    if (found === null) {
      if (all.indexOf('>', at) >= 0 && !hasOpenQuote(all, at))
        refuseReport('JUnit', `it has a tag that is not well formed: ${JSON.stringify(all.slice(at, at + 60))}`);
      return undefined;
    }
    const [whole, slash, name = '', attributes = '', empty] = found;
    if (slash === '/') this.#close(name);
    else this.#openTag(name, attributes, empty === '/');
    return at + whole.length;
  }

  #openTag(name: string, attributes: string, isEmpty: boolean): void {
    if (this.#open.length === 0 && this.#hasRoot) refuseReport('JUnit', 'it has two roots');
    this.#hasRoot = true;
    if (this.#open.length >= depthMax) refuseReport('JUnit', `it is nested more than ${depthMax} deep`);
    this.#open.push(name);
    this.#listener.open(name, attributesIn(attributes));
    if (isEmpty) this.#close(name);
  }

  #close(name: string): void {
    if (this.#open.pop() !== name) refuseReport('JUnit', `the element "${name}" is closed where it is not open`);
    this.#listener.close(name);
  }
}

/** The characters that distinguish a declaration from a comment and from CDATA. */
const declarationMin = 4;

const tag = /<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const attribute = /([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

function attributesIn(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', double, single] of text.matchAll(attribute))
    found.set(name, decoded(double ?? single ?? ''));
  return found;
}

/** Returns true if a tag may continue: its last attribute value is still open. */
function hasOpenQuote(all: string, at: number): boolean {
  let quote = '';
  for (let index = at; index < all.length; index++) {
    const character = all.charAt(index);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return false;
  }
  return true;
}

function past(all: string, end: string, at: number): number | undefined {
  const found = all.indexOf(end, at);
  return found < 0 ? undefined : found + end.length;
}

const entities: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&([^;&]{0,12});?/g, (whole, name: string) => {
    const number = /^#(?:x([0-9a-fA-F]+)|(\d+))$/.exec(name);
    if (number !== null)
      return characterOf(Number.parseInt(number[1] ?? number[2] ?? '', number[1] === undefined ? 10 : 16));
    return (
      entities.get(name) ??
      refuseReport('JUnit', `it has the entity ${JSON.stringify(whole)}, which XML does not define`)
    );
  });
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '\uFFFD';
}
