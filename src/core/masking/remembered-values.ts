import { limits } from '../limits.ts';
import { ownText } from '../own-text.ts';
import { createSearch, type SecretSearch } from './secret-span.ts';

/** The shortest value that is masked wherever it occurs: a shorter one is too often part of a word. */
const rememberedUnitsMin = 8;

/** Words of protocols and settings that occur in fields of secrets too. To mask them everywhere would break a record. */
const ordinaryWords: ReadonlySet<string> = new Set(
  'anonymous,application/json,assistant,authentication,authorization,credentials,disabled,false,function,localhost,optional,password,passwords,required,same-origin,text/plain,true,unauthenticated,unauthorized,undefined,unlimited,username'.split(
    ',',
  ),
);

const cookieForm = /^[^\s=;]{1,100}=[^;]{8}/;
const cookiePair = /([^\s=;]{1,100})=([^;]{0,4096})/g;
const cookieAttributes: ReadonlySet<string> = new Set(['path', 'expires', 'domain', 'samesite', 'max-age', 'priority']);

interface Remembered {
  /** The value as it may occur in a string. */
  readonly form: string;
  /** Where in it the eight characters are by which it is found. */
  readonly anchor: number;
  /** The value itself, and the rule that found it first. */
  readonly secret: string;
  readonly rule: string;
}

/** Up to so many values are quicker to look for one by one. */
const searchedMax = 4;

const filterSize = 65_536;
const factor = 0x01_00_01_93;
const factorOut = Array.from({ length: rememberedUnitsMin - 1 }).reduce<number>((sum) => Math.imul(sum, factor), 1);
/** Values that share eight characters, such as those of one provider's keys, are found by others of theirs. */
const bucketMax = 8;

/**
 * The values that a recorder has masked. They are masked wherever they occur later, even where no rule would find them.
 * Looking for all of them takes one pass over a string, however many there are.
 */
export class RememberedValues {
  readonly #values = new Map<string, readonly Remembered[]>();
  #index = new Map<number, Remembered[]>();
  #filter = new Uint8Array(filterSize);
  /** Counts the changes, so that strings that were searched before are searched again. */
  version = 0;

  /**
   * Remembers a value, unless it is too short, too long or an ordinary word. Of too many, the oldest go. The values of
   * cookies are remembered one by one too.
   */
  add(value: string, rule: string): void {
    this.#add(value.trim(), rule);
    if (rule === 'secret-field' && cookieForm.test(value))
      for (const [, name = '', held = ''] of value.slice(0, 4_096).matchAll(cookiePair))
        if (!cookieAttributes.has(name.toLowerCase())) this.#add(held, rule);
  }

  #add(found: string, rule: string): void {
    const isFit = found.length >= rememberedUnitsMin && found.length <= limits.maskedValueUnitsMax;
    if (!isFit || this.#values.has(found) || ordinaryWords.has(found.toLowerCase())) return;
    const secret = ownText(found);
    if (this.#values.size >= limits.maskedValuesMax) this.#forgetOldest();
    const forms = formsOf(secret).map((form): Remembered => ({ form, anchor: this.#anchorOf(form), secret, rule }));
    this.#values.set(secret, forms);
    for (const form of forms) this.#enter(form);
    this.version++;
  }

  /** Returns the rule that found a value, if it is remembered. */
  ruleOf(value: string): string | undefined {
    return this.#values.get(value)?.[0]?.rule;
  }

  /** Returns true if a string contains a remembered value. */
  isIn(text: string): boolean {
    if (this.#values.size === 0) return false;
    if (this.#values.size > searchedMax) {
      const search = createSearch(text);
      this.find(search);
      return search.found.length > 0;
    }
    for (const forms of this.#values.values()) for (const { form } of forms) if (text.includes(form)) return true;
    return false;
  }

  /** Finds remembered values in a string. */
  find(search: SecretSearch): void {
    const { text, found } = search;
    if (this.#values.size === 0 || text.length < rememberedUnitsMin) return;
    search.effort += text.length;
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      if (at >= rememberedUnitsMin) hash = (hash - Math.imul(text.charCodeAt(at - rememberedUnitsMin), factorOut)) | 0;
      hash = (Math.imul(hash, factor) + text.charCodeAt(at)) | 0;
      if (at < rememberedUnitsMin - 1 || this.#filter[hash & (filterSize - 1)] === 0) continue;
      const start = at - rememberedUnitsMin + 1;
      for (const { form, anchor, secret, rule } of this.#index.get(hash) ?? [])
        if (text.startsWith(form, start - anchor) && start >= anchor)
          found.push({ start: start - anchor, end: start - anchor + form.length, rule, secret });
    }
  }

  #enter(remembered: Remembered): void {
    const hash = hashAt(remembered.form, remembered.anchor);
    const bucket = this.#index.get(hash);
    if (bucket === undefined) this.#index.set(hash, [remembered]);
    else bucket.push(remembered);
    this.#filter[hash & (filterSize - 1)] = 1;
  }

  /** The last eight characters of a value tell it apart best: keys have their prefix in common. */
  #anchorOf(form: string): number {
    const last = form.length - rememberedUnitsMin;
    for (let anchor = last; anchor >= Math.max(0, last - 64); anchor--)
      if ((this.#index.get(hashAt(form, anchor))?.length ?? 0) < bucketMax) return anchor;
    return last;
  }

  /** Forgets a tenth of the values at once, because the index is then made again. */
  #forgetOldest(): void {
    for (const value of [...this.#values.keys()].slice(0, Math.ceil(limits.maskedValuesMax / 10)))
      this.#values.delete(value);
    this.#index = new Map();
    this.#filter = new Uint8Array(filterSize);
    for (const forms of this.#values.values()) for (const form of forms) this.#enter(form);
  }
}

function hashAt(text: string, start: number): number {
  let hash = 0;
  for (let at = start; at < start + rememberedUnitsMin; at++)
    hash = (Math.imul(hash, factor) + text.charCodeAt(at)) | 0;
  return hash;
}

/** A value as it occurs in plain text, in JSON text, in JSON text inside JSON text, and in an address. */
function formsOf(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const forms = [secret, inJson, JSON.stringify(inJson).slice(1, -1), encoded(secret), decoded(secret)];
  return [...new Set(forms)].filter((form) => form.length >= rememberedUnitsMin);
}

function encoded(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret;
}

function decoded(secret: string): string {
  try {
    return secret.includes('%') ? decodeURIComponent(secret) : secret;
  } catch {
    return secret;
  }
}
