import { itemAt } from './item-at.ts';

/** Returns the name nearest to a misspelled one; undefined if none is near enough to be meant. */
export function nearest(text: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(text.length / 3)) + 1;
  for (const name of names) {
    const distance = name.startsWith(text) && text.length > 2 ? 0 : editDistance(text, name, least);
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

/** Counts the letters that must be added, dropped, changed or swapped; gives up at `most`. */
function editDistance(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) >= most) return most;
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = itemAt(row, j - 1) + (left[i - 1] === right[j - 1] ? 0 : 1);
      let least = Math.min(itemAt(row, j) + 1, itemAt(next, j - 1) + 1, change);
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
        least = Math.min(least, itemAt(before, j - 2) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return itemAt(row, right.length);
}
