import type { CompareAnswer, ComparePair } from '../source/answers.ts';

/** A side of a comparison. */
export type Side = 'left' | 'right';

/** A place in both histories; on a side that has no event there it is null. */
export type ComparePlace = NonNullable<CompareAnswer['divergedAt']>;

/** A place of a comparison that has a name and a key. */
interface NamedPlace {
  readonly id: string;
  readonly name: string;
  readonly words: string;
  readonly key: string;
  readonly place: ComparePlace;
}

/** Lists the places at which two histories part and meet again, each with its key. */
export function placesOf(answer: CompareAnswer | undefined): readonly NamedPlace[] {
  if (answer === undefined) return [];
  const { divergedAt, sustainedAt, reconvergedAt } = answer;
  const named = [
    { id: 'diverged', name: 'Where they first differ', words: 'differ from', key: '1', place: divergedAt },
    { id: 'sustained', name: 'Where they differ for good', words: 'for good from', key: '2', place: sustainedAt },
    {
      id: 'reconverged',
      name: 'Where they are together again',
      words: 'together again at',
      key: '3',
      place: reconvergedAt[0] ?? null,
    },
  ];
  return named.flatMap(({ place, words, ...rest }) =>
    place === null ? [] : [{ ...rest, words: `${words} @${place.left ?? place.right}`, place }],
  );
}

/** Returns the seqs of all places on one side. */
export function placeSeqs(answer: CompareAnswer | undefined, side: Side): readonly number[] {
  if (answer === undefined) return [];
  return [answer.divergedAt, answer.sustainedAt, ...answer.reconvergedAt].flatMap((place) => place?.[side] ?? []);
}

/** Returns the seq of a pair on one side: of a stretch, its first. */
export function seqOf(pair: ComparePair, side: Side): number | undefined {
  return pair.kind === 'equal' ? pair[side][0] : pair[side]?.seq;
}

/** Returns true if a pair has a place, on either side. */
export function isAtPlace(pair: ComparePair, place: ComparePlace): boolean {
  return (['left', 'right'] as const).some((side) => {
    const seq = place[side];
    if (seq === null) return false;
    return pair.kind === 'equal' ? pair[side][0] <= seq && seq <= pair[side][1] : pair[side]?.seq === seq;
  });
}

/** Finds the pair whose event on one side is nearest to a seq. */
export function nearestPair(pairs: readonly ComparePair[], side: Side, seq: number): number {
  let [best, distance] = [0, Number.POSITIVE_INFINITY];
  for (const [index, pair] of pairs.entries()) {
    const [from, to] = pair.kind === 'equal' ? pair[side] : [pair[side]?.seq, pair[side]?.seq];
    if (from === undefined || to === undefined) continue;
    const away = seq < from ? from - seq : seq > to ? seq - to : 0;
    if (away < distance) [best, distance] = [index, away];
  }
  return best;
}
