import { canonicalJson, sameJson } from '../canonical-json.ts';
import { itemAt } from '../item-at.ts';
import { isArray, isObject, type JsonArray, type JsonObject, type JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { createAligner, tokensOf } from './diff-align.ts';

/** The path to a value inside a JSON value: keys, and indexes from 0. */
export type JsonPath = readonly (string | number)[];

/** A value that only one side has. */
export interface LoneValue {
  readonly path: JsonPath;
  readonly value: JsonValue;
}

/** A value that differs between the two sides. */
export interface ChangedValue {
  /** Its path on the right. */
  readonly path: JsonPath;
  /** Its path on the left, if it moved there because items before it came or went. */
  readonly leftPath?: JsonPath;
  readonly left: JsonValue;
  readonly right: JsonValue;
}

/** The differences between two JSON values. */
export interface ValueDiff {
  readonly identical: boolean;
  /** Only on the right. */
  readonly added: readonly LoneValue[];
  /** Only on the left. */
  readonly removed: readonly LoneValue[];
  readonly changed: readonly ChangedValue[];
}

interface Found {
  readonly added: LoneValue[];
  readonly removed: LoneValue[];
  readonly changed: ChangedValue[];
}

/** The paths of one value on both sides. */
interface Place {
  readonly leftPath: JsonPath;
  readonly path: JsonPath;
}

/**
 * Compares two JSON values: objects by key, arrays by content, so that an item inserted in front is one addition and not
 * a change of every item. Arrays that are longer than `diffItemsMax` together are compared by index.
 */
export function diffValues(left: JsonValue, right: JsonValue): ValueDiff {
  const found: Found = { added: [], removed: [], changed: [] };
  compare(left, right, { leftPath: [], path: [] }, found);
  const identical = found.added.length + found.removed.length + found.changed.length === 0;
  return { identical, ...found };
}

function compare(left: JsonValue, right: JsonValue, place: Place, found: Found): void {
  if (left === right) return;
  if (isObject(left) && isObject(right)) compareObjects(left, right, place, found);
  else if (isArray(left) && isArray(right)) compareArrays(left, right, place, found);
  else if (!sameJson(left, right)) {
    const { path, leftPath } = place;
    const moved = leftPath.some((name, index) => name !== path[index]);
    found.changed.push({ path, ...(moved ? { leftPath } : {}), left, right });
  }
}

function compareObjects(left: JsonObject, right: JsonObject, place: Place, found: Found): void {
  for (const [key, value] of Object.entries(left)) {
    const other = Object.hasOwn(right, key) ? right[key] : undefined;
    if (other !== undefined) compare(value, other, inside(place, key, key), found);
    else found.removed.push({ path: [...place.leftPath, key], value });
  }
  for (const [key, value] of Object.entries(right)) {
    if (!Object.hasOwn(left, key)) found.added.push({ path: [...place.path, key], value });
  }
}

const inside = ({ leftPath, path }: Place, leftName: string | number, name: string | number): Place => ({
  leftPath: [...leftPath, leftName],
  path: [...path, name],
});

function compareArrays(left: JsonArray, right: JsonArray, place: Place, found: Found): void {
  const matches = matchItems(left, right);
  let [l, r] = [0, 0];
  for (let index = 0; index <= left.length; index++) {
    const match = index === left.length ? right.length : (matches[index] ?? -1);
    if (match < 0) continue;
    compareStretch(left, right, { left: [l, index], right: [r, match] }, place, found);
    l = index + 1;
    r = match + 1;
  }
}

function matchItems(left: JsonArray, right: JsonArray): Int32Array {
  const matches = new Int32Array(left.length).fill(-1);
  if (left.length + right.length > limits.diffItemsMax) return matches;
  const align = createAligner(tokensOf(left, right, canonicalJson));
  align({ left: [0, left.length], right: [0, right.length] }, matches);
  return matches;
}

/** Compares the items between two matches: those at the same position count as one changed item. */
function compareStretch(
  left: JsonArray,
  right: JsonArray,
  stretch: { readonly left: readonly [number, number]; readonly right: readonly [number, number] },
  place: Place,
  found: Found,
): void {
  let [l, r] = [stretch.left[0], stretch.right[0]];
  for (; l < stretch.left[1] && r < stretch.right[1]; l++, r++) {
    compare(itemAt(left, l), itemAt(right, r), inside(place, l, r), found);
  }
  for (; l < stretch.left[1]; l++) found.removed.push({ path: [...place.leftPath, l], value: itemAt(left, l) });
  for (; r < stretch.right[1]; r++) found.added.push({ path: [...place.path, r], value: itemAt(right, r) });
}

/** Returns a path as people read it: `messages[2].content`. */
export function pathText(path: JsonPath): string {
  return path
    .map((name, index) => {
      if (typeof name === 'number') return `[${name}]`;
      if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join('');
}
