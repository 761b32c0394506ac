import { isArray, isObject, type JsonArray, type JsonObject, type JsonValue, setKey } from '../json.ts';
import { startsWithMask } from './mask.ts';
import type { MaskedTexts } from './masked-texts.ts';
import type { OwnRules } from './own-rules.ts';
import { randomFields } from './random-text.ts';
import type { RememberedValues } from './remembered-values.ts';
import {
  isDescription,
  isPlainValue,
  isProtocolId,
  isSecretName,
  namesSecret,
  partFields,
  plainParts,
  wordSecret,
} from './secret-names.ts';

/** The rules and the memory of a walk through an event. */
export interface Walk {
  readonly own: OwnRules;
  readonly left: ReadonlySet<string>;
  readonly remembered: RememberedValues;
  readonly texts: MaskedTexts;
  /** Collects the names of the rules that found something. */
  readonly fired: Set<string>;
  readonly mask: (rule: string, secret: string) => string;
}

/** The place of a value. */
interface Place {
  /** The name of the field that contains it. */
  readonly name: string;
  /** The object around it is the value of this field. */
  readonly container: string;
  /** The rule that masks everything here. */
  readonly whole: string | undefined;
  readonly checksRandom: boolean;
  /** How many objects are around it. */
  readonly depth: number;
}

/** The place of an event's data. */
const dataPlace: Place = { name: '', container: '', whole: undefined, checksRandom: false, depth: 0 };

/** Fields of events whose value is one of a few words. */
const wordFields: ReadonlySet<string> = new Set(['kind', 'outcome', 'effect']);

/** Walks through the data of one event; returns a value without secrets as it is, not as a copy. */
export class MaskWalker {
  readonly #walk: Walk;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  /** Masks the data of an event. */
  data(data: JsonObject): JsonObject {
    return this.#object(data, dataPlace);
  }

  #object(value: JsonObject, around: Place): JsonObject {
    let copy: Record<string, JsonValue> | undefined;
    const keys = Object.keys(value);
    const isPair = 'value' in value && this.#isBuiltIn() && namesSecret([value['name'], value['key']]);
    for (const [index, key] of keys.entries()) {
      const held = value[key] ?? null;
      const masked = this.#value(held, this.#placeOf(key, value, around, isPair));
      const name = this.#key(key);
      if ((masked !== held || name !== key) && copy === undefined) {
        copy = {};
        for (const earlier of keys.slice(0, index)) setKey(copy, earlier, value[earlier]);
      }
      if (copy !== undefined) setKey(copy, name, masked);
    }
    return copy ?? value;
  }

  #placeOf(name: string, object: JsonObject, around: Place, isPair: boolean): Place {
    const isSecret = this.#isBuiltIn() && (isPair ? name === 'value' : isSecretName(name));
    // A token of a model comes with its probability.
    const isPlain = !isSecret || (name === 'token' && 'logprob' in object);
    return {
      name,
      container: around.name,
      whole: around.whole ?? this.#walk.own.ruleOfField(name) ?? (isPlain ? undefined : 'secret-field'),
      checksRandom: around.checksRandom || randomFields.has(name),
      depth: around.depth + 1,
    };
  }

  #isBuiltIn(): boolean {
    return !this.#walk.left.has('secret-field');
  }

  #key(key: string): string {
    if (key.length < keyUnitsMin && !this.#walk.own.hasPatterns) return key;
    return this.#found(key, this.#walk.texts.masked(key, false));
  }

  #value(value: JsonValue, place: Place): JsonValue {
    if (typeof value === 'string') return value === '' ? value : this.#string(value, place, undefined);
    if (isArray(value)) return this.#array(value, place);
    if (isObject(value)) {
      const { whole } = place;
      const isPlain = whole === 'secret-field' && isDescription(place.container, value);
      return this.#object(value, isPlain ? { ...place, whole: undefined } : place);
    }
    return typeof value === 'number' ? this.#number(value, place) : value;
  }

  #array(value: JsonArray, place: Place): JsonArray {
    let isChanged = false;
    const items = value.map((item, index) => {
      const masked =
        typeof item === 'string' && item !== ''
          ? this.#string(item, place, value[index - 1])
          : this.#value(item, place);
      isChanged ||= masked !== item;
      return masked;
    });
    return isChanged ? items : value;
  }

  #number(value: number, { name, whole }: Place): JsonValue {
    const text = `${value}`;
    if (whole !== undefined && !(whole === 'secret-field' && name === 'pass')) return this.#masked(whole, text, true);
    const rule = this.#walk.remembered.ruleOf(text);
    if (rule !== undefined) return this.#masked(rule, text, true);
    if (!this.#walk.own.hasPatterns) return value;
    const masked = this.#found(text, this.#walk.texts.masked(text, false));
    return masked === text ? value : masked;
  }

  #string(text: string, place: Place, before: JsonValue | undefined): string {
    const { name, whole } = place;
    const { own, texts, left } = this.#walk;
    if (partFields.has(name) && own.ruleOfField(name) === undefined) return this.#found(text, texts.formed(text));
    if (whole === 'secret-field' && isPlainValue(name, text)) return text;
    if (whole !== undefined) return this.#whole(text, place, whole);
    const word = this.#isBuiltIn() ? wordSecret(name, text, before) : undefined;
    if (word !== undefined && !left.has(word.rule))
      return text.slice(0, word.start) + this.#masked(word.rule, text.slice(word.start), true);
    if (place.depth === 1 && (wordFields.has(name) || isProtocolId(name, text))) return text;
    if (isProtocolId(name, text)) return this.#found(text, texts.formed(text));
    return this.#found(text, texts.masked(text, place.checksRandom && !left.has('high-entropy')));
  }

  /** Masks the value of a secret field; `Bearer xyz` keeps its scheme, which is not a secret. */
  #whole(text: string, { name }: Place, rule: string): string {
    const isRemembered = !plainParts.has(name.toLowerCase());
    if (rule !== 'secret-field') return this.#masked(rule, text, true);
    const [head = '', scheme = ''] = /^(Bearer|Basic|Token) {1,8}(?=.)/is.exec(text) ?? [];
    if (scheme === '') return this.#masked(rule, text, isRemembered);
    return `${scheme} ${this.#masked(rule, text.slice(head.length), isRemembered)}`;
  }

  #found(text: string, { text: masked, rules }: { readonly text: string; readonly rules: readonly string[] }): string {
    for (const rule of rules) this.#walk.fired.add(rule);
    return rules.length === 0 ? text : masked;
  }

  #masked(rule: string, secret: string, isRemembered: boolean): string {
    // A mask is not a secret: masking twice changes nothing.
    if (startsWithMask(secret) && secret.indexOf(']') === secret.length - 1) return secret;
    this.#walk.fired.add(rule);
    if (isRemembered) this.#walk.remembered.add(secret, rule);
    return this.#walk.mask(rule, secret);
  }
}

/** The shortest secret with a recognizable form has 12 characters, and the shortest remembered value 8. */
const keyUnitsMin = 8;
