import { addSpan, type SecretSearch } from './secret-span.ts';
import { charTable, runEnd } from './text-scan.ts';

const entropyMin = 3.8;
const changesMin = 0.35;
const randomUnitsMax = 256;

const randomUnitsMin = 20;
/** Characters of text that may be random. A slash separates the parts of a path, which are not random. */
const randomChars = charTable(/[A-Za-z0-9+_=-]/);
const randomStart = /[A-Za-z0-9+_=-]{20}/g;

/** Fields in which random-looking text is masked too: headers, environment and arguments. */
export const randomFields: ReadonlySet<string> = new Set([
  'headers',
  'env',
  'environment',
  'arguments',
  'args',
  'input',
]);

/** Finds random-looking text in a stretch of a string. A longer run is a file or an image. */
export function findRandom(search: SecretSearch, start: number, end: number): void {
  if (end - start < randomUnitsMin) return;
  const { text } = search;
  search.effort += end - start;
  randomStart.lastIndex = start;
  for (let match = randomStart.exec(text); match !== null && match.index < end; match = randomStart.exec(text)) {
    const runStop = Math.min(end, runEnd(search, match.index, randomChars));
    const run = text.slice(match.index, Math.min(runStop, match.index + randomUnitsMax + 1));
    if (run.length >= randomUnitsMin && run.length <= randomUnitsMax && looksRandom(run))
      addSpan(search, 'high-entropy', match.index, runStop);
    randomStart.lastIndex = runStop;
  }
}

/**
 * Returns true if text looks random: it has lower-case and upper-case letters and digits, the Shannon entropy of its
 * characters is high, and it changes between those kinds far more often than names such as `getOrderById2`.
 */
function looksRandom(text: string): boolean {
  const kinds = Array.from(text, (char) => (/[a-z]/.test(char) ? 'a' : /[A-Z]/.test(char) ? 'A' : '0'));
  if (new Set(kinds).size < 3 || !/[0-9]/.test(text)) return false;
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  return changes / text.length >= changesMin && entropyOf(text) >= entropyMin;
}

/** Returns the Shannon entropy of a string's characters, in bits. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
