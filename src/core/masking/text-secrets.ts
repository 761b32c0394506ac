import { findCommandPasswords } from './command-passwords.ts';
import {
  decodedString,
  type JsonStretch,
  type JsonString,
  type JsonVisitor,
  rawPlaces,
  walkJsonIn,
} from './json-text.ts';
import { startsWithMask } from './mask.ts';
import { findNamedValues, hasSecretNames } from './named-values.ts';
import type { OwnRules } from './own-rules.ts';
import { findRandom, randomFields } from './random-text.ts';
import type { RememberedValues } from './remembered-values.ts';
import { findForms } from './secret-forms.ts';
import { isPlainValue, isProtocolId, isSecretName, partFields, wordSecret } from './secret-names.ts';
import { createSearch, type SecretSearch, type SecretSpan, settledSpans } from './secret-span.ts';

/** The rules of one masker. */
export interface TextRules {
  readonly own: OwnRules;
  /** The names of built-in rules that are left out. */
  readonly left: ReadonlySet<string>;
  readonly remembered: RememberedValues;
}

/** How deep JSON text inside JSON text is looked into; each level doubles the backslashes, so few have more than two. */
const levelsMax = 6;

/** Finds the secrets in one text after the other. */
export class TextSecrets {
  readonly #rules: TextRules;
  /** Counts the characters that were looked at, over all strings. */
  effort = 0;

  constructor(rules: TextRules) {
    this.#rules = rules;
  }

  /** Returns the secrets in a string, in order. With `checksRandom`, random-looking text is one. */
  spansIn(text: string, checksRandom: boolean, level = 0): readonly SecretSpan[] {
    const { own, left, remembered } = this.#rules;
    const search = createSearch(text);
    if (own.hasPatterns) own.find(search);
    const hasNames = !left.has('secret-field') && hasSecretNames(text);
    const stretches = this.#inJson(search, checksRandom, hasNames, level);
    findForms(search, left);
    if (hasNames) findNamedValues(search, stretches);
    if (!left.has('command-password')) findCommandPasswords(search);
    if (checksRandom) {
      // Inside JSON the names of fields count too, so the walk has looked there.
      let from = 0;
      for (const { start, end } of stretches) {
        findRandom(search, from, start);
        from = end;
      }
      findRandom(search, from, text.length);
    }
    remembered.find(search);
    this.effort += search.effort + text.length;
    return settledSpans(search);
  }

  /** Returns the secrets that a string has by its form alone, for the name of a field or an id. */
  formsIn(text: string): readonly SecretSpan[] {
    const search = createSearch(text);
    findForms(search, this.#rules.left);
    this.effort += search.effort;
    return settledSpans(search);
  }

  #inJson(search: SecretSearch, checksRandom: boolean, hasNames: boolean, level: number): readonly JsonStretch[] {
    const { text } = search;
    const { own } = this.#rules;
    // Without names, and without letters that are written as escapes, the rules for plain text find the same.
    const isWorthIt = hasNames || checksRandom || own.hasFields || text.includes(own.hasPatterns ? '\\' : '\\u');
    if (level >= levelsMax || !isWorthIt || !text.includes('"')) return [];
    const place: JsonPlace = { name: '', whole: undefined, checksRandom, names: undefined };
    return walkJsonIn(search, new JsonSecrets(this.#rules, this, search, level), place);
  }
}

/** The place of a value in JSON text. */
interface JsonPlace {
  /** The name of the field. */
  readonly name: string;
  /** The rule that masks everything here. */
  readonly whole: string | undefined;
  readonly checksRandom: boolean;
  /** The object around: the field that contains it, and whether it names a secret. */
  readonly names: { readonly container: string; isPair: boolean } | undefined;
}

/** How far apart two items of a list may be. */
const gapUnitsMax = 256;

const logprob = /\s{0,64},\s{0,64}"logprob"/y;

/** Masks JSON text as JSON: by the names of its fields, and inside its strings. */
class JsonSecrets implements JsonVisitor<JsonPlace> {
  readonly #rules: TextRules;
  readonly #texts: TextSecrets;
  readonly #search: SecretSearch;
  readonly #level: number;
  /** The last string, to tell what comes before an item of a list. */
  #last: { readonly place: JsonPlace; readonly text: string; readonly end: number } | undefined;

  constructor(rules: TextRules, texts: TextSecrets, search: SecretSearch, level: number) {
    this.#rules = rules;
    this.#texts = texts;
    this.#search = search;
    this.#level = level;
  }

  readonly object = ({ name, whole, checksRandom, names }: JsonPlace): JsonPlace => {
    // A parameter's description is not a secret, whatever the parameter is called.
    const isDescription = whole === 'secret-field' && names?.container === 'properties';
    return { name, checksRandom, whole: isDescription ? undefined : whole, names: { container: name, isPair: false } };
  };

  readonly key = (key: JsonString, { whole, checksRandom, names }: JsonPlace): JsonPlace => {
    const raw = this.#search.text.slice(key.start, key.end);
    if (raw.includes('\\')) this.#inside(key, raw, false);
    const name = decodedString(raw);
    const isPairValue = name === 'value' && names?.isPair === true;
    return {
      name,
      names,
      whole: whole ?? this.#rules.own.ruleOfField(name) ?? this.#builtIn(isPairValue || isSecretName(name)),
      checksRandom: checksRandom || randomFields.has(name),
    };
  };

  readonly string = (value: JsonString, place: JsonPlace): void => {
    const { name, whole, names } = place;
    const raw = this.#search.text.slice(value.start, value.end);
    const before = this.#before(value, place);
    this.#last = { place, text: raw, end: value.end };
    if (raw === '') return;
    if ((name === 'name' || name === 'key') && names !== undefined && isSecretName(raw)) names.isPair = true;
    if (whole !== undefined && !this.#isKept(value, place, raw)) {
      const secret = decodedString(raw);
      this.#search.found.push({ start: value.start, end: value.end, rule: whole, secret });
    } else if (this.#word(value, name, raw, before)) return;
    else if (raw.includes('\\')) this.#inside(value, raw, place.checksRandom);
    else if (place.checksRandom && !this.#rules.left.has('high-entropy') && !isProtocolId(name, raw))
      findRandom(this.#search, value.start, value.end);
  };

  readonly number = (start: number, end: number, { name, whole }: JsonPlace): void => {
    if (whole === undefined || (whole === 'secret-field' && name === 'pass')) return;
    const secret = this.#search.text.slice(start, end);
    this.#search.found.push({ start, end, rule: whole, secret, quote: '"' });
  };

  /** Returns the item before a string in a list; undefined if the string is not in a list, or is the first. */
  #before({ start }: JsonString, place: JsonPlace): string | undefined {
    const last = this.#last;
    if (last?.place !== place) return undefined;
    const between = this.#search.text.slice(last.end + 1, Math.min(start - 1, last.end + 1 + gapUnitsMax));
    return /^\s*,\s*$/.test(between) ? last.text : undefined;
  }

  /** Adds the secret in a word of a command line, if it is one. */
  #word({ start, end }: JsonString, name: string, raw: string, before: string | undefined): boolean {
    const word = before === undefined && raw.length > gapUnitsMax ? undefined : wordSecret(name, raw, before);
    if (word === undefined || this.#rules.left.has(word.rule) || startsWithMask(raw, word.start)) return false;
    const secret = decodedString(raw.slice(word.start));
    this.#search.found.push({ start: start + word.start, end, rule: word.rule, secret });
    return true;
  }

  #builtIn(isSecret: boolean): string | undefined {
    return isSecret && !this.#rules.left.has('secret-field') ? 'secret-field' : undefined;
  }

  #isKept(value: JsonString, { name, whole }: JsonPlace, raw: string): boolean {
    if (partFields.has(name) && this.#rules.own.ruleOfField(name) === undefined) return true;
    if (whole !== 'secret-field') return false;
    if (isPlainValue(name, raw)) return true;
    logprob.lastIndex = value.end + 1;
    return name === 'token' && logprob.test(this.#search.text);
  }

  /** Looks for secrets among the characters that the escapes of a string encode. */
  #inside(value: JsonString, raw: string, checksRandom: boolean): void {
    const spans = this.#texts.spansIn(decodedString(raw), checksRandom, this.#level + 1);
    if (spans.length === 0) return;
    const places = rawPlaces(
      raw,
      spans.flatMap(({ start, end }) => [start, end]),
    );
    for (const [index, span] of spans.entries()) {
      const [start = 0, end = 0] = [places[index * 2], places[index * 2 + 1]];
      const quote = span.quote === undefined ? {} : { quote: JSON.stringify(span.quote).slice(1, -1) };
      this.#search.found.push({ ...span, start: value.start + start, end: value.start + end, ...quote });
    }
  }
}
