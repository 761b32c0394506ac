import { decodedString, type JsonStretch } from './json-text.ts';
import { startsWithMask } from './mask.ts';
import { endsLikeSecret, isPlainValue, isSecretName } from './secret-names.ts';
import type { SecretSearch } from './secret-span.ts';
import { charTable, isAt, matchAt, runStart } from './text-scan.ts';

/** Finds the end of a name that may be a secret's, with what follows such a name. All its repeats are bounded. */
const nameEnd =
  /(?:pass(?:words?|wd|phrase|code)?|pwd|secrets?(?:[-_]?value)?|tokens?|keys?|auth(?:orization)?|cookies?|credentials?|signature)(?:[-_.]?(?:confirmation|confirm|again|repeat|hash|\d))?(?=[\\"'\]]{0,9}[ \t]{0,4}(?:[=:>]|%3[Dd])|[ \t"',\\])/gi;

const nameUnitsMax = 64;
const nameChars = charTable(/[\w.-]/);
const lineEnds = charTable(/[\r\n]/);
const plainEnds = charTable(/[\s&;"'`<>]/);
const closers = charTable(/[),.\]}]/);

const separator = /(\\{0,7}["'])?\]?([ \t]{0,4})(:=|={1,3}>?|:|%3[Dd]|>)([ \t]{0,4})/y;
const optionSeparator = /(?:\\{0,7}["'])?,?[ \t]{1,4}(?:\\{0,7}["'])?|\\{0,7}["'],\\{0,7}["']/y;
const openQuote = /(\\{0,7})(["'`])/y;
const headerName = /^(?:(?:proxy-)?authorization|(?:set-)?cookie)$/i;
const scheme = /(?:Bearer|Basic|Token|Digest|Negotiate|ApiKey)[ \t]{1,4}/iy;

/** Options of a command that a user and password follow, as an item of a list. */
const userOption = /["'](?:-u|--user|--proxy-user)\\{0,7}["']/;

/**
 * Returns true if a string may contain the name of a secret. Most names that end like one, such as `input_tokens`,
 * contain no secret, and a string with only such names needs no closer look.
 */
export function hasSecretNames(text: string): boolean {
  nameEnd.lastIndex = 0;
  for (let match = nameEnd.exec(text); match !== null; match = nameEnd.exec(text)) {
    const end = match.index + match[0].length;
    let start = match.index;
    while (end - start < nameUnitsMax && isAt(text, start - 1, nameChars)) start--;
    const first = withoutEscape(text, start);
    if (endsLikeSecret(text.slice(start, end)) || (first > start && endsLikeSecret(text.slice(first, end))))
      return true;
  }
  return text.includes('-u') && userOption.test(text);
}

/**
 * Finds secrets behind their names in text that is not JSON: `pwd=…`, `?api_key=…&token=…`, `PGPASSWORD=… psql`,
 * `--password …`, `password: '…'`, `Cookie: …`. The name decides, so a value of any form is found. Keys of JSON count
 * outside the stretches that were walked through as JSON.
 */
export function findNamedValues(search: SecretSearch, json: readonly JsonStretch[]): void {
  search.effort += search.text.length;
  nameEnd.lastIndex = 0;
  let next = 0;
  for (let match = nameEnd.exec(search.text); match !== null; match = nameEnd.exec(search.text)) {
    while ((json[next]?.end ?? Number.POSITIVE_INFINITY) <= match.index) next++;
    const isInJson = (json[next]?.start ?? Number.POSITIVE_INFINITY) <= match.index;
    const end = new NamedValue(search, match.index + match[0].length).find(isInJson);
    if (end !== undefined) nameEnd.lastIndex = end;
  }
}

/** How sure a place is that a value of it is a secret. */
type Place = 'sure' | 'assigned' | 'told';

/** The value that may follow one name. It looks at a long value only if it takes it. */
class NamedValue {
  readonly #search: SecretSearch;
  readonly #nameEnd: number;
  readonly #nameStart: number;
  readonly #name: string;
  readonly #isOption: boolean;

  constructor(search: SecretSearch, end: number) {
    const start = runStart(search, end, nameChars, nameUnitsMax);
    const run = search.text.slice(withoutEscape(search.text, start), end);
    this.#name = run.replace(/^[-.]{1,8}/, '');
    this.#search = search;
    this.#nameEnd = end;
    this.#nameStart = end - this.#name.length;
    this.#isOption = /^--?[A-Za-z]/.test(run);
  }

  /** Adds the span of the value, if there is one; returns its end. */
  find(isInJson: boolean): number | undefined {
    if (!isSecretName(this.#name)) return undefined;
    const match = matchAt(this.#search, separator, this.#nameEnd);
    if (match === null) return this.#isOption ? this.#afterOption() : undefined;
    const [whole, nameQuote = '', before = '', sign = '', after = ''] = match;
    const at = this.#nameEnd + whole.length;
    if (sign === '>') return this.#element(at);
    if (headerName.test(this.#name) && (sign === ':' || sign === '=')) return this.#header(at);
    const isKey = nameQuote.endsWith('"') && sign === ':';
    if (isKey && isInJson) return undefined;
    const isTight = sign !== ':' && before === '' && after === '';
    const place = isKey || this.#isInQuery() || this.#isOption ? 'sure' : isTight ? 'assigned' : 'told';
    return this.#quoted(at, place) ?? this.#plain(at, place, isKey ? nameQuote : '');
  }

  #isInQuery(): boolean {
    const before = this.#search.text.slice(Math.max(0, this.#nameStart - 5), this.#nameStart);
    return /(?:[?&]|&amp;|%3F|%26)$/i.test(before);
  }

  #afterOption(): number | undefined {
    const match = matchAt(this.#search, optionSeparator, this.#nameEnd);
    if (match === null) return undefined;
    const at = this.#nameEnd + match[0].length;
    return this.#search.text[at] === '-' ? undefined : (this.#quoted(at, 'sure') ?? this.#plain(at, 'sure', ''));
  }

  /** `<password>…</password>`. */
  #element(at: number): number | undefined {
    const { text } = this.#search;
    if (!/[<:]/.test(text[this.#nameStart - 1] ?? '')) return undefined;
    const head = text.slice(at, at + elementUnitsMax);
    this.#search.effort += head.length;
    const end = head.indexOf('</');
    return end <= 0 || isPlaceholder(head) || startsWithMask(head) ? undefined : this.#take(at, at + end);
  }

  /** `Authorization: Bearer …` and `Cookie: …` to the end of the line, or to the quote around it. */
  #header(at: number): number | undefined {
    const { text } = this.#search;
    const [open = ''] = matchAt(this.#search, openQuote, at) ?? [];
    const start = at + open.length;
    const [word = ''] = matchAt(this.#search, scheme, start) ?? [];
    const first = start + word.length;
    const head = text.slice(first, first + prefixUnits);
    const [token = ''] = /^\S*/.exec(head) ?? [];
    const isAlone = /^[ \t]*(?:$|[\r\n"'`\\])/.test(head.slice(token.length));
    const isCookie = /cookie$/i.test(this.#name);
    const isSecret = isCookie
      ? /^[^\s=;"']+=/.test(head)
      : word !== ''
        ? isStrong(token) || isAlone
        : isStrong(token) && isAlone;
    if (!isSecret || isPlaceholder(head) || startsWithMask(head)) return undefined;
    return this.#take(first, this.#lineEnd(first));
  }

  #lineEnd(at: number): number {
    const { text } = this.#search;
    let end = at;
    for (; end < text.length; end++) {
      if (isAt(text, end, lineEnds) || /["'`]/.test(text[end] ?? '')) break;
      if (text[end] === '\\' && /["'`nr\\]/.test(text[end + 1] ?? '')) break;
    }
    this.#search.effort += end - at + 1;
    return end;
  }

  #quoted(at: number, place: Place): number | undefined {
    const { text } = this.#search;
    const match = matchAt(this.#search, openQuote, at);
    if (match === null) return undefined;
    const [open, slashes = '', quote = ''] = match;
    const start = at + open.length;
    const head = text.slice(start, start + prefixUnits);
    const inside = head.split(quote, 1)[0] ?? '';
    if (inside === '' || isPlaceholder(inside) || startsWithMask(inside)) return start;
    if (place !== 'sure' && (/\s/.test(inside) || isReference(inside, quote) || isVocabulary(inside))) return start;
    return this.#take(start, this.#quoteEnd(start, slashes.length, quote));
  }

  /** The quote that closes a string has as many backslashes before it as the one that opens it. */
  #quoteEnd(start: number, slashes: number, quote: string): number {
    const { text } = this.#search;
    for (let at = text.indexOf(quote, start); at >= 0; at = text.indexOf(quote, at + 1)) {
      let first = at;
      while (first > start && text[first - 1] === '\\') first--;
      if (at - first <= slashes) return at - Math.min(slashes, at - first);
    }
    return text.length;
  }

  #plain(at: number, place: Place, quote: string): number | undefined {
    const { text } = this.#search;
    const head = text.slice(at, at + prefixUnits);
    if (isPlaceholder(head) || startsWithMask(head) || /^[{[(<]/.test(head)) return undefined;
    const [value = ''] = /^[^\s&;"'`<>]*/.exec(head) ?? [];
    if (value === '' || isVocabulary(value)) return undefined;
    // A key of JSON is followed by a number here; every other value is quoted.
    if (quote !== '' && !/^-?\d/.test(value)) return undefined;
    if (place !== 'sure' && isReference(value, text[at + value.length] ?? '')) return undefined;
    if (place === 'told' && !isStrong(value)) return undefined;
    const end = quote === '' ? this.#plainEnd(at) : at + (/^-?[\d.eE+-]*/.exec(value)?.[0].length ?? 0);
    return end > at ? this.#take(at, end, quote) : undefined;
  }

  #plainEnd(at: number): number {
    const { text } = this.#search;
    let end = at;
    for (; end < text.length; end++) {
      if (isAt(text, end, plainEnds)) break;
      if (text[end] === '\\' && /["'`nrt]/.test(text[end + 1] ?? '')) break;
      if (text.startsWith('%26', end)) break;
      if (text[end] === ',' && isListEnd(text, end + 1)) break;
    }
    this.#search.effort += end - at + 1;
    while (end > at && isAt(text, end - 1, closers)) end--;
    return end;
  }

  #take(start: number, end: number, quote = ''): number {
    const { text, found } = this.#search;
    const secret = decodedString(text.slice(start, end));
    if (isPlainValue(this.#name, secret)) return end;
    found.push({ start, end, rule: 'secret-field', secret, ...(quote === '' ? {} : { quote }) });
    this.#search.effort += end - start;
    return end;
  }
}

/** The longest value of an XML element that is looked for. */
const elementUnitsMax = 512;

/** How much of a value is looked at before it is taken. */
const prefixUnits = 256;

/** A name may follow an escape, such as that of a newline in JSON text; its letters are no part of the name. */
function withoutEscape(text: string, start: number): number {
  const before = text[start - 1];
  if (before === '%' && /^[0-9a-f]{2}/i.test(text.slice(start, start + 2))) return start + 2;
  if (before !== '\\') return start;
  if (/^u[0-9a-f]{4}/i.test(text.slice(start, start + 5))) return start + 5;
  return /[nrtbf]/.test(text[start] ?? '') ? start + 1 : start;
}

/** Returns true if a comma ends a value: a list continues after it. */
const isListEnd = (text: string, at: number): boolean => /^(?:\s|$|[\w.-]{1,40}=)/.test(text.slice(at, at + 42));

/** Returns true if text is a placeholder of a secret that is somewhere else: `$TOKEN`, `<your key>`, `{{token}}`, `***`. */
function isPlaceholder(text: string): boolean {
  return /^(?:\$[{(]|\$[A-Z_][A-Z0-9_]*(?![A-Za-z0-9_])|\$\d(?!\w)|\{\{|<[^>]{0,80}>|\*{3}|%[({]|%[sd](?!\w)|\.{3}|…)/.test(
    text,
  );
}

/** Words that occur where a secret could be, in code and in settings. */
const vocabulary = new Set(
  'true,false,null,none,nil,undefined,void,string,str,number,int,integer,float,bool,boolean,any,unknown,object,bytes,required,optional,yes,no,on,off,never,basic,bearer,oauth,oauth2,digest,include,omit,same-origin'.split(
    ',',
  ),
);

const isVocabulary = (value: string): boolean => vocabulary.has(value.toLowerCase().replace(/[;,)|?\]}]+$/, ''));

/** Returns true if a value has a sign that words and names in code do not have. */
const isStrong = (value: string): boolean => /[0-9!@#%^*+/=~-]/.test(value);

const codeRoots =
  /^(?:self|this|process|os|req|request|config|settings|args|opts|options|env|ctx|context|props|state|params|body|data|import)[.?[]/;

/** Returns true if a value is code that gives the secret: a call, an element, a field, or a variable of a secret's name. */
function isReference(value: string, next: string): boolean {
  const [path = ''] = /^[A-Za-z_$][\w$]{0,60}(?:(?:\??\.|::|->)[A-Za-z_$][\w$]{0,60}){0,8}/.exec(value) ?? [];
  if (path === '') return false;
  if (/[([]/.test(value[path.length] ?? next) || codeRoots.test(value)) return true;
  const isWhole = /^[;,)\]}]*$/.test(value.slice(path.length));
  const last = path.split(/\??\.|::|->/).at(-1) ?? '';
  return isWhole && (isSecretName(last) || /^[A-Z_]+$/.test(last));
}
