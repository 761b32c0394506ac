import { isArray, isObject, type JsonValue, setKey } from '../../core/json.ts';

/** A string or list of a value that was cut: its beginning is in the value. */
export interface Cut {
  /** A JSON pointer into the value. */
  readonly path: string;
  /** How much is there: characters of a string, items of a list, keys of an object. */
  readonly shown: number;
  /** How much there is in all. */
  readonly length: number;
  /** Whether items or keys are missing, and not the end of a string. */
  readonly items: boolean;
}

/** A value that is small enough to send, and what was cut from it. */
export interface CutValue {
  readonly value: JsonValue;
  readonly cuts: readonly Cut[];
}

/** The most that a value may have, in characters. */
export interface CutLimits {
  /** Of one text. */
  readonly text: number;
  /** Of the whole value, about: its last text may be over it. */
  readonly whole: number;
}

/** The characters of a string that are shown however little room is left. */
const shownMin = 200;

/** Returns a value without what makes it too large: long strings lose their end, and a value that is full loses items. */
export function cutValue(value: JsonValue, most: CutLimits): CutValue {
  const cuts: Cut[] = [];
  let left = most.whole;
  const text = (held: string, path: string): string => {
    const max = Math.max(shownMin, Math.min(most.text, left));
    left -= Math.min(held.length, max);
    const shown = cutText(held, max);
    if (shown.length < held.length) cuts.push({ path, shown: shown.length, length: held.length, items: false });
    return shown;
  };
  const walk = (held: JsonValue, path: string): JsonValue => {
    left -= 8;
    if (typeof held === 'string') return text(held, path);
    if (isArray(held)) {
      const shown: JsonValue[] = [];
      for (const item of held) {
        if (left <= 0) break;
        shown.push(walk(item, `${path}/${shown.length}`));
      }
      if (shown.length < held.length) cuts.push({ path, shown: shown.length, length: held.length, items: true });
      return shown;
    }
    if (!isObject(held)) return held;
    const shown: Record<string, JsonValue> = {};
    const keys = Object.keys(held);
    let count = 0;
    for (const key of keys) {
      const item = held[key];
      // A key is shown whole or not at all.
      if (left <= 0 || key.length > Math.max(shownMin, Math.min(most.text, left))) break;
      count++;
      left -= key.length;
      if (item !== undefined) setKey(shown, key, walk(item, `${path}/${pointerWord(key)}`));
    }
    if (count < keys.length) cuts.push({ path, shown: count, length: keys.length, items: true });
    return shown;
  };
  return { value: walk(value, ''), cuts };
}

/** Returns the beginning of a string, and no half of a character. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, isHighSurrogate(text, max - 1) ? max - 1 : max);
}

const isHighSurrogate = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00;
};

/** Writes a key as one word of a JSON pointer. */
export function pointerWord(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the value that a JSON pointer names; undefined if there is none. */
export function valueAtPointer(value: JsonValue, pointer: string): JsonValue | undefined {
  let held: JsonValue | undefined = value;
  for (const word of pointer.split('/').slice(1)) {
    const key = word.replaceAll('~1', '/').replaceAll('~0', '~');
    if (isArray(held)) held = /^\d+$/.test(key) ? held[Number(key)] : undefined;
    else if (isObject(held)) held = Object.hasOwn(held, key) ? held[key] : undefined;
    else return undefined;
  }
  return held;
}
