import { itemAt } from '../item-at.ts';
import { limits } from '../limits.ts';

/** Two sequences of whole numbers below `count`; equal numbers mean equal items. */
export interface Tokens {
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly count: number;
}

/** A stretch of each sequence: from the first index, up to but not including the second. */
export interface Gap {
  readonly left: readonly [number, number];
  readonly right: readonly [number, number];
}

/** Numbers items by the first use of their text, so that alignment compares numbers. */
export function tokensOf<Item>(left: readonly Item[], right: readonly Item[], textOf: (item: Item) => string): Tokens {
  const numbers = new Map<string, number>();
  const number = (items: readonly Item[]): Int32Array => {
    const tokens = new Int32Array(items.length);
    for (let index = 0; index < items.length; index++) {
      const text = textOf(itemAt(items, index));
      let token = numbers.get(text);
      if (token === undefined) {
        token = numbers.size;
        numbers.set(text, token);
      }
      tokens[index] = token;
    }
    return tokens;
  };
  return { left: number(left), right: number(right), count: numbers.size };
}

/** Fills in, for indexes on the left, the index on the right of the equal item they are aligned with. */
export type Aligner = (gap: Gap, matches: Int32Array) => void;

/**
 * Returns a function that aligns stretches of two sequences. It matches equal items at both ends, then items that are
 * unique on both sides (patience), and repeats this in each gap between those. It aligns a small rest exactly and a large
 * one in windows. So the work is bounded, at the price of a longer diff for long stretches without unique items.
 */
export function createAligner(tokens: Tokens): Aligner {
  const seen: Seen = {
    left: new Int32Array(tokens.count),
    right: new Int32Array(tokens.count),
    place: new Int32Array(tokens.count),
  };
  return (whole, matches) => {
    const gaps: { readonly gap: Gap; readonly depth: number }[] = [{ gap: whole, depth: 0 }];
    for (let next = gaps.pop(); next !== undefined; next = gaps.pop()) {
      const gap = trim(tokens, next.gap, matches);
      if (sizeOf(gap) === 0) continue;
      const { anchors, common } = look(tokens, seen, gap);
      if (anchors.length > 0 && next.depth < depthMax) {
        for (const inner of split(gap, longestRising(anchors), matches))
          gaps.push({ gap: inner, depth: next.depth + 1 });
      } else if (common.left.length > 0) alignWindows(tokens, common, matches);
    }
  };
}

const depthMax = 64;

/** How often a token occurs on each side of the current gap, and where it last occurs on the right. */
interface Seen {
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly place: Int32Array;
}

interface Anchor {
  readonly left: number;
  readonly right: number;
}

/** Indexes of items that the other side has too. */
interface Common {
  readonly left: number[];
  readonly right: number[];
}

const sizeOf = ({ left, right }: Gap): number => (left[1] - left[0]) * (right[1] - right[0]);

/** Matches equal items at both ends, and returns the gap between them. */
function trim({ left, right }: Tokens, gap: Gap, matches: Int32Array): Gap {
  let [leftStart, leftEnd] = gap.left;
  let [rightStart, rightEnd] = gap.right;
  while (leftStart < leftEnd && rightStart < rightEnd && left[leftStart] === right[rightStart]) {
    matches[leftStart++] = rightStart++;
  }
  while (leftStart < leftEnd && rightStart < rightEnd && left[leftEnd - 1] === right[rightEnd - 1]) {
    matches[--leftEnd] = --rightEnd;
  }
  return { left: [leftStart, leftEnd], right: [rightStart, rightEnd] };
}

/** Finds the items that occur once on each side, and those that occur on both sides at all. */
function look({ left, right }: Tokens, seen: Seen, gap: Gap): { readonly anchors: Anchor[]; readonly common: Common } {
  const anchors: Anchor[] = [];
  const common: Common = { left: [], right: [] };
  const each = (
    side: Int32Array,
    [start, end]: readonly [number, number],
    visit: (token: number, at: number) => void,
  ): void => {
    for (let at = start; at < end; at++) visit(side[at] ?? 0, at);
  };
  each(left, gap.left, (token) => {
    seen.left[token] = (seen.left[token] ?? 0) + 1;
  });
  each(right, gap.right, (token, at) => {
    seen.right[token] = (seen.right[token] ?? 0) + 1;
    seen.place[token] = at;
    if (seen.left[token] !== 0) common.right.push(at);
  });
  each(left, gap.left, (token, at) => {
    if (seen.right[token] === 0) return;
    common.left.push(at);
    if (seen.left[token] === 1 && seen.right[token] === 1) anchors.push({ left: at, right: seen.place[token] ?? 0 });
  });
  each(left, gap.left, (token) => {
    seen.left[token] = 0;
  });
  each(right, gap.right, (token) => {
    seen.right[token] = 0;
  });
  return { anchors, common };
}

/** Returns the most anchors that are in order on the right: a longest rising subsequence. */
function longestRising(anchors: readonly Anchor[]): Anchor[] {
  const tails: number[] = [];
  const before = new Int32Array(anchors.length).fill(-1);
  const rightOf = (index: number): number => itemAt(anchors, index).right;
  for (let index = 0; index < anchors.length; index++) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rightOf(itemAt(tails, middle)) < rightOf(index)) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = itemAt(tails, low - 1);
    tails[low] = index;
  }
  const rising: Anchor[] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) rising.push(itemAt(anchors, index));
  return rising.reverse();
}

/** Matches the anchors and returns the gaps between them. */
function split(gap: Gap, anchors: readonly Anchor[], matches: Int32Array): Gap[] {
  const gaps: Gap[] = [];
  let [left, right] = [gap.left[0], gap.right[0]];
  for (const anchor of anchors) {
    matches[anchor.left] = anchor.right;
    gaps.push({ left: [left, anchor.left], right: [right, anchor.right] });
    left = anchor.left + 1;
    right = anchor.right + 1;
  }
  gaps.push({ left: [left, gap.left[1]], right: [right, gap.right[1]] });
  return gaps.filter((inner) => sizeOf(inner) > 0);
}

/** Cuts both sides into as many windows as keep each within the limit, and aligns window by window. */
function alignWindows(tokens: Tokens, { left, right }: Common, matches: Int32Array): void {
  const windows = Math.max(1, Math.ceil(Math.sqrt((left.length * right.length) / limits.diffCellsMax)));
  const cut = (list: readonly number[], window: number): number[] =>
    list.slice(Math.floor((list.length * window) / windows), Math.floor((list.length * (window + 1)) / windows));
  for (let window = 0; window < windows; window++) alignExactly(tokens, cut(left, window), cut(right, window), matches);
}

/** Matches a longest common subsequence, found by a table of lengths. */
function alignExactly(tokens: Tokens, left: readonly number[], right: readonly number[], matches: Int32Array): void {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  const a = pick(tokens.left, left);
  const b = pick(tokens.right, right);
  for (let i = a.length - 1; i >= 0; i--) {
    const row = i * width;
    const token = a[i];
    let beside = 0;
    let corner = 0;
    for (let j = b.length - 1; j >= 0; j--) {
      const below = lengths[row + width + j] ?? 0;
      beside = token === b[j] ? corner + 1 : below > beside ? below : beside;
      lengths[row + j] = beside;
      corner = below;
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) matches[itemAt(left, i++)] = itemAt(right, j++);
    else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i++;
    else j++;
  }
}

function pick(tokens: Int32Array, places: readonly number[]): Int32Array {
  const picked = new Int32Array(places.length);
  for (let index = 0; index < places.length; index++) picked[index] = tokens[itemAt(places, index)] ?? 0;
  return picked;
}
