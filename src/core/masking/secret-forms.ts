import { decodedString } from './json-text.ts';
import { addSpan, type SecretSearch } from './secret-span.ts';
import { type CharTable, charTable, isAt, isWordStart, runEnd, wordChars } from './text-scan.ts';
import { UrlPasswords } from './url-passwords.ts';

/** A kind of key with its own prefix, and the characters after it. */
interface KeyForm {
  readonly rule: string;
  /** Matches the whole prefix. */
  readonly prefix: RegExp;
  readonly chars: CharTable;
  readonly unitsMin: number;
  /** The exact number of characters, for a key that has one. */
  readonly units?: number;
}

const keyChars = charTable(/[A-Za-z0-9_-]/);
const alphanumerics = charTable(/[A-Za-z0-9]/);
const tokenChars = charTable(/[A-Za-z0-9\-._~+/=]/);
const spaces = charTable(/\s/);

const keyForms: readonly KeyForm[] = [
  { rule: 'anthropic-key', prefix: /^sk-ant-$/, chars: keyChars, unitsMin: 16 },
  { rule: 'openai-key', prefix: /^sk-$/, chars: keyChars, unitsMin: 20 },
  { rule: 'stripe-key', prefix: /^[rs]k_(?:live|test)_$/, chars: alphanumerics, unitsMin: 16 },
  { rule: 'github-token', prefix: /^gh[pousr]_$/, chars: alphanumerics, unitsMin: 30 },
  { rule: 'github-token', prefix: /^github_pat_$/, chars: charTable(/\w/), unitsMin: 40 },
  { rule: 'gitlab-token', prefix: /^glpat-$/, chars: keyChars, unitsMin: 20 },
  { rule: 'slack-token', prefix: /^xox[abposr]-$/, chars: charTable(/[A-Za-z0-9-]/), unitsMin: 10 },
  { rule: 'aws-key', prefix: /^(?:AKIA|ASIA)$/, chars: charTable(/[A-Z0-9]/), unitsMin: 16, units: 16 },
  { rule: 'google-key', prefix: /^AIza$/, chars: keyChars, unitsMin: 35 },
  { rule: 'hugging-face-token', prefix: /^hf_$/, chars: alphanumerics, unitsMin: 30 },
  { rule: 'npm-token', prefix: /^npm_$/, chars: alphanumerics, unitsMin: 36, units: 36 },
];

/** Finds where a secret with a form may begin. It repeats nothing without a bound, so a search takes linear time. */
const formStart =
  /sk-(?:ant-)?|[rs]k_(?:live|test)_|gh[pousr]_|github_pat_|glpat-|xox[abposr]-|AKIA|ASIA|AIza|hf_|npm_|eyJ|-----BEGIN |:(?:\\{0,3}\/){2}|[Bb](?:earer|asic)|BEARER|BASIC/g;

/** Finds secrets with a recognizable form. `left` are the names of rules to leave out. */
export function findForms(search: SecretSearch, left: ReadonlySet<string>): void {
  const jwts = new Jwts(search);
  const urls = new UrlPasswords(search);
  const endOf = (start: number, begin: string): number | undefined => {
    switch (begin[0]) {
      case '-':
        return left.has('private-key') ? undefined : privateKeyEnd(search, start, begin);
      case ':':
        return left.has('url-password') ? undefined : urls.endAfter(start, start + begin.length);
      case 'e':
        return left.has('jwt') ? undefined : jwts.endAt(start);
      case 'B':
      case 'b':
        return left.has('bearer-token') ? undefined : bearerEnd(search, start, begin);
      default:
        return keyEnd(search, start, begin, left);
    }
  };
  search.effort += search.text.length;
  formStart.lastIndex = 0;
  for (let match = formStart.exec(search.text); match !== null; match = formStart.exec(search.text)) {
    const end = endOf(match.index, match[0]);
    if (end !== undefined) formStart.lastIndex = end;
  }
}

/** A run that is too short for its form has at most 40 characters, so looking at it again from a later prefix is cheap. */
function keyEnd(search: SecretSearch, start: number, begin: string, left: ReadonlySet<string>): number | undefined {
  const form = keyForms.find(({ prefix }) => prefix.test(begin));
  if (form === undefined || left.has(form.rule) || !isWordStart(search, start)) return undefined;
  const { rule, chars, unitsMin, units } = form;
  const first = start + begin.length;
  const end = runEnd(search, first, chars);
  if (end - first < unitsMin) return undefined;
  if (units !== undefined && (end - first !== units || isAt(search.text, end, wordChars))) return undefined;
  return addSpan(search, rule, start, rule === 'google-key' ? first + unitsMin : end);
}

const labelUnitsMax = 64;
const keyLabel = /^[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;

/** A private key ends with its last line, or with the text if that is missing. */
function privateKeyEnd(search: SecretSearch, start: number, begin: string): number | undefined {
  const { text } = search;
  const first = start + begin.length;
  search.effort += labelUnitsMax;
  if (!keyLabel.test(text.slice(first, first + labelUnitsMax))) return undefined;
  for (let at = text.indexOf('-----END ', first); at >= 0; at = text.indexOf('-----END ', at + 1)) {
    const label = keyLabel.exec(text.slice(at + 9, at + 9 + labelUnitsMax));
    if (label !== null) return noted(at + 9 + label[0].length);
  }
  return noted(text.length);

  function noted(end: number): number {
    search.effort += end - start;
    // In JSON text its line breaks are escapes.
    const secret = decodedString(text.slice(start, end));
    search.found.push({ start, end, rule: 'private-key', secret });
    return end;
  }
}

const credentialUnitsMin = 8;
const wordUnitsMax = 19;
const credentialSign = /[0-9]|[._~+/=]|[a-z][A-Z]|[A-Z][A-Z][a-z]/;

/** The token after `Bearer` or `Basic`. Both are common words, too: "basic authentication" contains no secret. */
function bearerEnd(search: SecretSearch, start: number, begin: string): number | undefined {
  const spacesStart = start + begin.length;
  if (!isAt(search.text, spacesStart, spaces) || !isWordStart(search, start)) return undefined;
  const first = runEnd(search, spacesStart, spaces);
  const end = runEnd(search, first, tokenChars);
  if (end - first < credentialUnitsMin) return undefined;
  const last = search.text[end - 1] === '.' ? end - 1 : end;
  const token = search.text.slice(first, Math.min(last, first + 256));
  if (token.length <= wordUnitsMax && !credentialSign.test(token)) return undefined;
  return addSpan(search, 'bearer-token', first, last);
}

const jwtPartUnitsMin = 8;

/** Finds JSON Web Tokens: three runs, of which the first two begin with `eyJ`. It looks at each run only once. */
class Jwts {
  readonly #search: SecretSearch;
  #firstEnd = -1;
  #end: number | undefined;

  constructor(search: SecretSearch) {
    this.#search = search;
  }

  endAt(start: number): number | undefined {
    // Every start inside one run has the same rest.
    if (start >= this.#firstEnd) {
      this.#firstEnd = runEnd(this.#search, start, keyChars);
      this.#end = this.#endAfter(this.#firstEnd);
    }
    if (this.#end === undefined || this.#firstEnd - start < jwtPartUnitsMin + 3) return undefined;
    return isWordStart(this.#search, start) ? addSpan(this.#search, 'jwt', start, this.#end) : undefined;
  }

  #endAfter(firstEnd: number): number | undefined {
    const { text } = this.#search;
    if (!text.startsWith('.eyJ', firstEnd)) return undefined;
    const secondEnd = runEnd(this.#search, firstEnd + 1, keyChars);
    if (secondEnd - firstEnd < jwtPartUnitsMin + 4 || text[secondEnd] !== '.') return undefined;
    const end = runEnd(this.#search, secondEnd + 1, keyChars);
    return end - secondEnd - 1 < jwtPartUnitsMin ? undefined : end;
  }
}
