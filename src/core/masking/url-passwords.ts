import { startsWithMask } from './mask.ts';
import type { SecretSearch } from './secret-span.ts';
import { charTable, isAt, runStart } from './text-scan.ts';

const schemeUnitsMax = 31;
const urlUnitsMax = 1_024;
const schemeChars = charTable(/[A-Za-z0-9+.-]/);
const schemeStart = charTable(/[A-Za-z]/);
const urlEnds = charTable(/[\s"'`<>]/);
/** Schemes of addresses whose path contains no at sign. */
const dataScheme =
  /^(?:postgres|pg|mysql|maria|mongo|redis|amqp|mssql|sqlserver|clickhouse|cassandra|ldap|smtp|ftp|sftp)/i;
const hostForm = /^(?:localhost$|\[|[^@]*\.[^@]|[^@]*:\d+$)/i;
const placeholder = /^(?:\$[{(]|\$[A-Z_]+$|<|\{\{|\*{3})/;

/**
 * Finds the passwords of addresses: `scheme://user:password@host`. The user may be missing, and the password may have
 * an at sign or a slash that should have been encoded: then the mask rather takes too much.
 */
export class UrlPasswords {
  readonly #search: SecretSearch;
  /** The next at sign; -1 if there is none. */
  #nextAt = 0;

  constructor(search: SecretSearch) {
    this.#search = search;
  }

  /** Looks at the address whose scheme ends at `colon`; returns the end of its password. */
  endAfter(colon: number, first: number): number | undefined {
    const search = this.#search;
    const { text } = search;
    if (this.#nextAt >= 0 && this.#nextAt < first) this.#nextAt = text.indexOf('@', first);
    if (this.#nextAt < 0 || this.#nextAt > first + urlUnitsMax) return undefined;
    const start = runStart(search, colon, schemeChars, schemeUnitsMax);
    if (colon - start < 2 || !isAt(text, start, schemeStart)) return undefined;
    const url = text.slice(first, this.#urlEnd(first));
    const place = passwordIn(url, text.slice(start, colon));
    if (place === undefined) return undefined;
    const secret = url.slice(place.start, place.end);
    if (placeholder.test(secret) || startsWithMask(secret)) return undefined;
    search.found.push({ start: first + place.start, end: first + place.end, rule: 'url-password', secret });
    return first + place.end;
  }

  /** Returns the end of an address: where text continues that cannot be part of an address, or at an escaped quote or line break. */
  #urlEnd(first: number): number {
    const { text } = this.#search;
    let end = first;
    for (const max = Math.min(text.length, first + urlUnitsMax); end < max; end++) {
      if (isAt(text, end, urlEnds)) break;
      if (text[end] === '\\' && /["'nrt]/.test(text[end + 1] ?? '')) break;
    }
    this.#search.effort += end - first;
    return end;
  }
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function passwordIn(url: string, scheme: string): Place | undefined {
  const authorityEnd = firstOf(url, /[/?#\\]/);
  const at = url.lastIndexOf('@', authorityEnd - 1);
  if (at >= 0 && at < authorityEnd) {
    const colon = url.indexOf(':');
    if (colon < 0 || colon > at) return undefined;
    const isHost = !dataScheme.test(scheme) && hostForm.test(url.slice(at + 1, authorityEnd));
    return nonEmpty(colon + 1, isHost ? at : (laterAt(url, at, authorityEnd) ?? at));
  }
  const colon = url.indexOf(':');
  if (colon < 0 || colon >= authorityEnd) return undefined;
  const mayBePort = /^\d{0,5}$/.test(url.slice(colon + 1, authorityEnd));
  if (mayBePort && colon > 0 && !dataScheme.test(scheme)) return undefined;
  const end = lastAt(url, mayBePort ? firstOf(url, /[?#]/) : url.length);
  return end > authorityEnd ? nonEmpty(colon + 1, end) : undefined;
}

const nonEmpty = (start: number, end: number): Place | undefined => (end > start ? { start, end } : undefined);

/** Returns the last at sign of the path, if the password may extend to there. */
function laterAt(url: string, at: number, authorityEnd: number): number | undefined {
  const end = lastAt(url, authorityEnd + firstOf(url.slice(authorityEnd), /[?#]/));
  const isOneUrl = end > at && !/:\/\/|[)\]}|,;&]/.test(url.slice(at, end));
  return isOneUrl ? end : undefined;
}

/** Returns the last at sign before a place that does not begin a part of a path, such as `/@scope`. */
function lastAt(url: string, before: number): number {
  for (let at = url.lastIndexOf('@', before - 1); at >= 0; at = at === 0 ? -1 : url.lastIndexOf('@', at - 1))
    if (url[at - 1] !== '/') return at;
  return -1;
}

function firstOf(text: string, pattern: RegExp): number {
  const found = text.search(pattern);
  return found < 0 ? text.length : found;
}
