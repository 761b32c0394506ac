import { limits } from '../limits.ts';

/** Two sequences of whole numbers from 0 up to `count`; equal numbers stand for equal things. */
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
      const text = textOf(items[index] as Item);
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
 * Aligns stretches of two sequences: what they have in common at both ends, then items that are unique on both sides
 * (patience), again within each gap between those; what is left is aligned exactly where it is small, and in windows
 * where it is not. So the work is bounded whatever the difference, at the price of a longer diff for long stretches
 * in which nothing is unique.
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

/** How often a token stands on each side of the gap being looked at, and where on the right. */
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

/** Matches what both ends share, and gives what is between. */
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

/** Finds the items that stand once on each side, and those that both sides have at all. */
function look({ left, right }: Tokens, seen: Seen, gap: Gap): { readonly anchors: Anchor[]; readonly common: Common } {
  const anchors: Anchor[] = [];
  const common: Common = { left: [], right: [] };
  const each = (
    side: Int32Array,
    [start, end]: readonly [number, number],
    visit: (token: number, at: number) => void,
  ): void => {
    for (let at = start; at < end; at++) visit(side[at] as number, at);
  };
  each(left, gap.left, (token) => {
    seen.left[token] = (seen.left[token] as number) + 1;
  });
  each(right, gap.right, (token, at) => {
    seen.right[token] = (seen.right[token] as number) + 1;
    seen.place[token] = at;
    if (seen.left[token] !== 0) common.right.push(at);
  });
  each(left, gap.left, (token, at) => {
    if (seen.right[token] === 0) return;
    common.left.push(at);
    if (seen.left[token] === 1 && seen.right[token] === 1)
      anchors.push({ left: at, right: seen.place[token] as number });
  });
  each(left, gap.left, (token) => {
    seen.left[token] = 0;
  });
  each(right, gap.right, (token) => {
    seen.right[token] = 0;
  });
  return { anchors, common };
}

/** The most anchors that keep their order on the right, which is a longest rising subsequence. */
function longestRising(anchors: readonly Anchor[]): Anchor[] {
  const tails: number[] = [];
  const before = new Int32Array(anchors.length).fill(-1);
  const rightOf = (index: number): number => (anchors[index] as Anchor).right;
  for (let index = 0; index < anchors.length; index++) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rightOf(tails[middle] as number) < rightOf(index)) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1] as number;
    tails[low] = index;
  }
  const rising: Anchor[] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] as number)
    rising.push(anchors[index] as Anchor);
  return rising.reverse();
}

/** Matches the anchors and gives the gaps between them. */
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

/** A longest common subsequence, by the table of lengths. */
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
      const below = lengths[row + width + j] as number;
      beside = token === b[j] ? corner + 1 : below > beside ? below : beside;
      lengths[row + j] = beside;
      corner = below;
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) matches[left[i++] as number] = right[j++] as number;
    else if ((lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number)) i++;
    else j++;
  }
}

function pick(tokens: Int32Array, places: readonly number[]): Int32Array {
  const picked = new Int32Array(places.length);
  for (let index = 0; index < places.length; index++) picked[index] = tokens[places[index] as number] as number;
  return picked;
}
