/** The most names that are offered in place of one that is unknown. */
const offeredMax = 5;

/** Returns the names nearest to one that is unknown, the nearest first: those that share most of their letter pairs. */
export function nearestNames(text: string, names: readonly string[]): readonly string[] {
  const wanted = pairsOf(text);
  return names
    .map((name) => ({ name, likeness: likeness(wanted, pairsOf(name)) }))
    .filter(({ likeness }) => likeness > 0.2)
    .sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1))
    .slice(0, offeredMax)
    .map(({ name }) => name);
}

/** The pairs of letters of a word, with its beginning and its end. */
function pairsOf(text: string): ReadonlySet<string> {
  const word = ` ${text.toLowerCase().slice(0, 200)} `;
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < word.length; at++) pairs.add([word.charAt(at), word.charAt(at + 1)].sort().join(''));
  return pairs;
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const pair of a) if (b.has(pair)) both++;
  return (2 * both) / (a.size + b.size);
}
