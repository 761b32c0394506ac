import { RepriseError } from '../error.ts';
import type { EventDraft } from '../event/event.ts';
import { isArray, isObject, type JsonObject, type JsonValue, setKey } from '../json.ts';
import { limits } from '../limits.ts';
import type { Sha256 } from '../parts/digest.ts';
import { propertiesOf } from '../property.ts';
import {
  commandSecret,
  type FieldPath,
  isProtocolId,
  isSecretName,
  looksRandom,
  type MaskRule,
  randomFields,
  randomPattern,
  secretPatterns,
} from './masking-rules.ts';

/** Options of masking. */
export interface MaskingOptions {
  /** Additional rules; they go before the built-in ones. */
  readonly rules?: readonly MaskRule[];
  /** The names of built-in rules to leave out. */
  readonly except?: readonly string[];
}

/** Returns an event with its secrets masked; `data.masked` lists the rules that applied. */
export type Masker = (event: EventDraft) => EventDraft;

/**
 * The key of a session: it gives a secret the same mask throughout the session, and makes the mask meaningless outside
 * it.
 */
export interface MaskKey {
  readonly sha256: Sha256;
  readonly key: string;
}

/**
 * Makes a masker. A mask is `[masked RULE 1a2b3c4d]`. The same secret gets the same mask within a session, so that
 * lists of messages still continue each other and equal calls stay equal; the mask does not reveal the secret. Ids of
 * protocols are never masked, because calls are found by their ids, and structural fields keep their form.
 */
export function createMasker(options: MaskingOptions, { sha256, key }: MaskKey): Masker {
  const rules = (options.rules ?? []).map(checkRule);
  const left = new Set(options.except ?? []);
  const known = new MaskedTexts();
  const mask = (rule: string, secret: string): string => `[masked ${rule} ${sha256(`${key}\n${secret}`).slice(0, 8)}]`;
  const masker: Masker = (event) => {
    if (event.data === undefined) return event;
    const fired = new Set<string>();
    const walker = new MaskWalker({ rules, left, fired, known, mask });
    const data = walker.object(event.data as JsonObject, []);
    if (fired.size === 0) return event;
    return { ...event, data: { ...data, masked: namesIn(data['masked'], fired) } };
  };
  ownMaskers.add(masker);
  return masker;
}

const ownMaskers = new WeakSet<Masker>();

/** Tells whether a masker was made here: it never changes an event, and returns the same one if it masks nothing. */
export function isOwnMasker(masker: Masker): boolean {
  return ownMaskers.has(masker);
}

const maskForm = /\[masked [^\]]{1,200} [0-9a-f]{8}\]/;

/** Tells whether a value holds a mask anywhere, so that the original value is lost. */
export function holdsMask(value: JsonValue | undefined): boolean {
  return value !== undefined && maskForm.test(JSON.stringify(value));
}

function namesIn(before: JsonValue | undefined, fired: ReadonlySet<string>): string[] {
  const earlier = Array.isArray(before) ? before.filter((name) => typeof name === 'string') : [];
  return [...new Set([...earlier, ...fired])].sort();
}

/**
 * Remembers the masked form of long texts: every call sends the whole conversation, and it need not be searched each
 * time.
 */
class MaskedTexts {
  readonly #texts = new Map<string, { readonly text: string; readonly rules: readonly string[] }>();
  #length = 0;

  masked(
    key: string,
    length: number,
    make: () => { readonly text: string; readonly rules: readonly string[] },
  ): { readonly text: string; readonly rules: readonly string[] } {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#length += length;
    if (this.#length > limits.maskedTextsMax) {
      this.#texts.clear();
      this.#length = length;
    }
    this.#texts.set(key, made);
    return made;
  }
}

const longText = 200;

/** The shortest secret with a recognizable form; most names of fields are shorter. */
const secretUnitsMin = 12;

/** Fields that make a message readable; they are never masked. */
const partFields: ReadonlySet<string> = new Set(['type', 'role', 'toolCallId', 'toolName']);

interface Walk {
  readonly known: MaskedTexts;
  readonly rules: readonly MaskRule[];
  readonly left: ReadonlySet<string>;
  readonly fired: Set<string>;
  readonly mask: (rule: string, secret: string) => string;
}

/** Walks through the data of one event; returns a value without secrets as it is, not as a copy. */
class MaskWalker {
  readonly #walk: Walk;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  object(value: JsonObject, path: FieldPath, whole?: string): JsonObject {
    let copy: Record<string, JsonValue> | undefined;
    const keys = Object.keys(value);
    for (const [index, key] of keys.entries()) {
      const held = value[key] ?? null;
      const masked = this.#value(held, [...path, key], whole ?? this.#wholeRule(key));
      const name = key.length < secretUnitsMin ? key : this.#formed(key);
      if ((masked !== held || name !== key) && copy === undefined) {
        copy = {};
        for (const earlier of keys.slice(0, index)) setKey(copy, earlier, value[earlier]);
      }
      if (copy !== undefined) setKey(copy, name, masked);
    }
    return copy ?? value;
  }

  /** Returns the name of the user's rule that masks a whole field. */
  #wholeRule(name: string): string | undefined {
    const isIt = (field: string): boolean => field.toLowerCase() === name.toLowerCase();
    return this.#walk.rules.find(({ fields }) => fields?.some(isIt))?.name;
  }

  /**
   * Masks a value. `whole` is the rule that masks everything inside it, except the fields that make a message readable.
   */
  #value(value: JsonValue, path: FieldPath, whole: string | undefined, before?: JsonValue): JsonValue {
    if (isArray(value)) {
      const items = value.map((item, index) => this.#value(item, path, whole, value[index - 1]));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (isObject(value)) return this.object(value, path, whole);
    if (typeof value !== 'string')
      return whole !== undefined && typeof value === 'number' ? this.#masked(whole, `${value}`) : value;
    if (value === '') return value;
    if (whole === undefined) return this.#text(value, path, before);
    const name = path.at(-1) ?? '';
    return partFields.has(name) && this.#wholeRule(name) === undefined ? value : this.#masked(whole, value);
  }

  #text(text: string, path: FieldPath, before: JsonValue | undefined): string {
    const name = path.at(-1) ?? '';
    const { left } = this.#walk;
    if (!left.has('secret-field')) {
      if (isSecretName(name)) return this.#secretField(text);
      const secret = commandSecret(name, text, before);
      if (secret !== undefined)
        return text.slice(0, text.length - secret.length) + this.#masked('secret-field', secret);
    }
    if (isProtocolId(name, text)) return text;
    const checksRandom = !left.has('high-entropy') && path.some((field) => randomFields.has(field));
    if (text.length < longText) return this.#searched(text, checksRandom);
    const { text: masked, rules: names } = this.#walk.known.masked(`${checksRandom}${text}`, text.length, () => {
      const fired = new Set<string>();
      return { text: new MaskWalker({ ...this.#walk, fired }).#searched(text, checksRandom), rules: [...fired] };
    });
    for (const rule of names) this.#walk.fired.add(rule);
    return masked;
  }

  /** Returns text without the secrets in it. */
  #searched(text: string, checksRandom: boolean): string {
    let result = text;
    for (const { name, pattern } of this.#walk.rules)
      if (pattern !== undefined) result = this.#found(name, pattern, result);
    result = this.#formed(result);
    return checksRandom ? this.#withoutRandom(result) : result;
  }

  /** Returns text without the secrets that have a recognizable form. */
  #formed(text: string): string {
    let result = text;
    for (const { name, pattern } of secretPatterns)
      if (!this.#walk.left.has(name)) result = this.#found(name, pattern, result);
    return result;
  }

  /** Masks the value of a secret field; `Bearer xyz` keeps its scheme, which is not a secret. */
  #secretField(text: string): string {
    const [, scheme = '', secret = text] = /^(Bearer|Basic|Token) +(.+)$/is.exec(text) ?? [];
    return scheme === '' ? this.#masked('secret-field', text) : `${scheme} ${this.#masked('secret-field', secret)}`;
  }

  #found(rule: string, pattern: RegExp, text: string): string {
    return text.replace(pattern, (match: string, ...groups: unknown[]) => {
      const [secret] = groups;
      if (typeof secret !== 'string') return this.#masked(rule, match);
      const at = match.lastIndexOf(secret);
      return match.slice(0, at) + this.#masked(rule, secret) + match.slice(at + secret.length);
    });
  }

  #withoutRandom(text: string): string {
    return text.replace(randomPattern, (match) => (looksRandom(match) ? this.#masked('high-entropy', match) : match));
  }

  #masked(rule: string, secret: string): string {
    // A mask is not a secret: masking twice changes nothing.
    if (/^\[masked [^\]]+ [0-9a-f]{8}\]$/.test(secret)) return secret;
    this.#walk.fired.add(rule);
    return this.#walk.mask(rule, secret);
  }
}

/** Takes a value as masking options, or throws `config.invalid` with the rule. */
export function checkMasking(value: unknown): MaskingOptions {
  if (!isObject(value)) return refuseMasking('it is not an object', 'masking');
  const { rules = [], except = [] } = propertiesOf(value);
  for (const name of Object.keys(value))
    if (name !== 'rules' && name !== 'except') refuseMasking('there is no such field', `masking.${name}`);
  if (!Array.isArray(rules)) return refuseMasking('it is not a list of rules', 'masking.rules');
  rules.forEach(checkRule);
  if (!Array.isArray(except)) return refuseMasking('it is not a list of names', 'masking.except');
  for (const name of except)
    if (!builtInRules.includes(name))
      refuseMasking(`there is no built-in rule ${JSON.stringify(name)}`, 'masking.except');
  return value as MaskingOptions;
}

function refuseMasking(why: string, field: string): never {
  throw new RepriseError('config.invalid', `Cannot use the masking: ${why}`, {
    hint: `Write { rules?, except? }; the built-in rules are ${builtInRules.join(', ')}.`,
    details: { field },
  });
}

/** The names of the built-in rules. */
const builtInRules: readonly string[] = [
  ...new Set(['secret-field', ...secretPatterns.map(({ name }) => name), 'high-entropy']),
];

/** Takes a value as a rule, or throws `config.invalid`. */
function checkRule(rule: MaskRule, index: number): MaskRule {
  const refuse = (of: unknown, why: string): never => refuseRule(of, why, `masking.rules[${index}]`);
  const { name, pattern, fields } = propertiesOf(rule);
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]*$/i.test(name))
    refuse(name, 'its name must be letters, digits and dashes');
  const other = Object.keys(rule ?? {}).find((field) => !['name', 'pattern', 'fields'].includes(field));
  if (other !== undefined) refuse(name, `it has no ${JSON.stringify(other)}`);
  if (pattern === undefined && fields === undefined) refuse(name, 'it has neither "pattern" nor "fields"');
  if (pattern !== undefined && !(pattern instanceof RegExp)) refuse(name, '"pattern" is not a regular expression');
  if (fields !== undefined && !(Array.isArray(fields) && fields.every((field) => typeof field === 'string')))
    refuse(name, '"fields" is not a list of names');
  const { source, flags } = rule.pattern ?? {};
  // Mask every match: a missing `g` or a sticky flag would skip some.
  const global = new Set([...(flags ?? '').replace('y', ''), 'g']);
  return source === undefined ? rule : { ...rule, pattern: new RegExp(source, [...global].join('')) };
}

function refuseRule(name: unknown, why: string, field: string): never {
  throw new RepriseError(
    'config.invalid',
    `Cannot use the masking rule ${JSON.stringify(name) ?? 'without a name'}: ${why}`,
    {
      hint: 'Write a rule as { name, pattern?, fields? }.',
      details: { field },
    },
  );
}
