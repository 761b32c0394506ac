import type { Seq } from '../../core/point.ts';
import { eventsAt, onceFor, type Sight } from './sight.ts';
import type { ReplacedIds } from './stored-events.ts';

/**
 * Finds the ids of the events that a view replaced. A later event may name one of them: a claim
 * that was superseded stays superseded when its text is edited. Undefined if the view has no replacement, which is
 * nearly always.
 */
export function replacedIdsOf(sight: Sight): Promise<ReplacedIds | undefined> {
  return onceFor(known, sight, () => findReplacedIds(sight));
}

const known = new WeakMap<Sight, Promise<ReplacedIds | undefined>>();

async function findReplacedIds(sight: Sight): Promise<ReplacedIds | undefined> {
  const replacements = sight.view.pieces.flatMap((piece) =>
    piece.kind === 'carried' && piece.answers.length > 1 ? [piece] : [],
  );
  if (replacements.length === 0) return undefined;
  const earlier = new Set(replacements.flatMap(({ seq, answers }) => answers.filter((held) => held !== seq)));
  const idOf = new Map((await eventsAt(sight, [...earlier])).map(({ seq, id }): [Seq, string] => [seq, id]));
  return new Map(
    replacements.map(({ seq, answers }) => [
      seq,
      answers.flatMap((held) => (held === seq ? [] : (idOf.get(held) ?? []))),
    ]),
  );
}
