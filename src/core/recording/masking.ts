import { RepriseError } from '../error.ts';
import type { EventDraft } from '../event/event.ts';
import { isArray, isObject, type JsonObject, type JsonValue, setKey } from '../json.ts';
import { limits } from '../limits.ts';
import type { Sha256 } from '../parts/digest.ts';
import { propertiesOf } from '../property.ts';
import {
  commandSecret,
  type FieldPath,
  isDrawnByLot,
  isProtocolId,
  isSecretName,
  lotFields,
  lotPattern,
  type MaskRule,
  secretPatterns,
} from './masking-rules.ts';

/** What is masked before anything is stored. */
export interface MaskingOptions {
  /** Rules beside those that are built in; they go first. */
  readonly rules?: readonly MaskRule[];
  /** Names of built-in rules to leave out. */
  readonly except?: readonly string[];
}

/** Gives an event with its secrets masked, the names of the rules that fired in `data.masked`. */
export type Masker = (event: EventDraft) => EventDraft;

/** What makes a mask the same for the same secret within a session, and say nothing outside of it. */
export interface MaskKey {
  readonly sha256: Sha256;
  readonly key: string;
}

/**
 * Makes a masker. A mask is `[masked RULE 1a2b3c4d]`: the same secret gets the same mask within a session, so lists of
 * messages still continue each other and equal calls are still equal; what it was cannot be told from it. Ids of
 * protocols are never masked (a call is found by its id), and structural fields keep their form.
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

/** Whether a mask stands anywhere in a value: what it was before is not known any more. */
export function holdsMask(value: JsonValue | undefined): boolean {
  return value !== undefined && maskForm.test(JSON.stringify(value));
}

function namesIn(before: JsonValue | undefined, fired: ReadonlySet<string>): string[] {
  const earlier = Array.isArray(before) ? before.filter((name) => typeof name === 'string') : [];
  return [...new Set([...earlier, ...fired])].sort();
}

/** What long texts became: a conversation is sent whole with every call, and need not be searched whole each time. */
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

/** No secret that is told by its form is shorter; most names of fields are. */
const secretUnitsMin = 12;

/** What tells a message and its parts apart from others: with a mask here nothing could be read any more. */
const partFields: ReadonlySet<string> = new Set(['type', 'role', 'toolCallId', 'toolName']);

interface Walk {
  readonly known: MaskedTexts;
  readonly rules: readonly MaskRule[];
  readonly left: ReadonlySet<string>;
  readonly fired: Set<string>;
  readonly mask: (rule: string, secret: string) => string;
}

/** Goes through one event's data; what holds no secret is given back as it is, not copied. */
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

  /** The rule of a user that masks all of a field. */
  #wholeRule(name: string): string | undefined {
    const isIt = (field: string): boolean => field.toLowerCase() === name.toLowerCase();
    return this.#walk.rules.find(({ fields }) => fields?.some(isIt))?.name;
  }

  /** `whole` is the rule that masks everything here; what tells parts of a message apart keeps its form. */
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
    const isLot = !left.has('high-entropy') && path.some((field) => lotFields.has(field));
    if (text.length < longText) return this.#searched(text, isLot);
    const { text: masked, rules: names } = this.#walk.known.masked(`${isLot}${text}`, text.length, () => {
      const fired = new Set<string>();
      return { text: new MaskWalker({ ...this.#walk, fired }).#searched(text, isLot), rules: [...fired] };
    });
    for (const rule of names) this.#walk.fired.add(rule);
    return masked;
  }

  /** Text without the secrets that are found inside it. */
  #searched(text: string, isLot: boolean): string {
    let result = text;
    for (const { name, pattern } of this.#walk.rules)
      if (pattern !== undefined) result = this.#found(name, pattern, result);
    result = this.#formed(result);
    return isLot ? this.#drawn(result) : result;
  }

  /** Text without the secrets that can be told by their form. */
  #formed(text: string): string {
    let result = text;
    for (const { name, pattern } of secretPatterns)
      if (!this.#walk.left.has(name)) result = this.#found(name, pattern, result);
    return result;
  }

  /** `Bearer xyz` keeps its scheme: which one was used is no secret. */
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

  #drawn(text: string): string {
    return text.replace(lotPattern, (match) => (isDrawnByLot(match) ? this.#masked('high-entropy', match) : match));
  }

  #masked(rule: string, secret: string): string {
    // What is masked already is no secret: masking twice changes nothing.
    if (/^\[masked [^\]]+ [0-9a-f]{8}\]$/.test(secret)) return secret;
    this.#walk.fired.add(rule);
    return this.#walk.mask(rule, secret);
  }
}

/** Takes a value as what is to be masked, or throws `config.invalid` that names the rule. */
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
    hint: `It is { rules?, except? }; the built-in rules are ${builtInRules.join(', ')}.`,
    details: { field },
  });
}

/** The names of the rules that are applied unless they are excepted. */
const builtInRules: readonly string[] = [
  ...new Set(['secret-field', ...secretPatterns.map(({ name }) => name), 'high-entropy']),
];

/** Takes a value as a rule, or throws `config.invalid`. */
function checkRule(rule: MaskRule, index: number): MaskRule {
  const refuse = (of: unknown, why: string): never => refuseRule(of, why, `masking.rules[${index}]`);
  const { name, pattern, fields } = propertiesOf(rule);
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]*$/i.test(name))
    refuse(name, 'its name is not letters and dashes');
  const other = Object.keys(rule ?? {}).find((field) => !['name', 'pattern', 'fields'].includes(field));
  if (other !== undefined) refuse(name, `it has no ${JSON.stringify(other)}`);
  if (pattern === undefined && fields === undefined) refuse(name, 'it has neither "pattern" nor "fields"');
  if (pattern !== undefined && !(pattern instanceof RegExp)) refuse(name, '"pattern" is not a regular expression');
  if (fields !== undefined && !(Array.isArray(fields) && fields.every((field) => typeof field === 'string')))
    refuse(name, '"fields" is not a list of names');
  const { source, flags } = rule.pattern ?? {};
  // Every match is masked, whatever flags were given, and a sticky or remembered place would skip some.
  const global = new Set([...(flags ?? '').replace('y', ''), 'g']);
  return source === undefined ? rule : { ...rule, pattern: new RegExp(source, [...global].join('')) };
}

function refuseRule(name: unknown, why: string, field: string): never {
  throw new RepriseError(
    'config.invalid',
    `Cannot use the masking rule ${JSON.stringify(name) ?? 'without a name'}: ${why}`,
    {
      hint: 'A rule is { name, pattern?, fields? }.',
      details: { field },
    },
  );
}
