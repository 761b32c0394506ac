import { previous, type Seq } from '../../core/point.ts';
import type { Piece } from '../../core/view/piece.ts';
import type { View } from '../../core/view/view.ts';

/** A fold that still needs the end of a history. */
interface Unfinished {
  readonly rest: View;
}

/** A part of a history, and the folds that it is read for. */
export interface FoldStage<Held extends Unfinished> {
  readonly part: View;
  readonly folds: readonly Held[];
}

/** Events that are read for folds which do not need them, rather than asking the store once more. */
const passedOverMax = 256;

/**
 * Cuts one history into the parts that some folds need, which all end where it ends: a fold that continues from late on
 * does not make the store bring it everything before.
 */
export function stagesOf<Held extends Unfinished>(folds: readonly Held[]): FoldStage<Held>[] {
  const stages: { part: View; folds: readonly Held[] }[] = [];
  for (const fold of folds.filter(({ rest }) => rest.pieces.length > 0).sort((a, b) => compareEnds(a.rest, b.rest))) {
    const last = stages.at(-1);
    const before = last === undefined ? [] : piecesBefore(last.part, fold.rest);
    const together = [...(last?.folds ?? []), fold];
    if (last === undefined) stages.push({ part: fold.rest, folds: together });
    else if (before.reduce((sum, piece) => sum + lengthOf(piece), 0) <= passedOverMax) last.folds = together;
    else {
      last.part = { pieces: before };
      stages.push({ part: fold.rest, folds: together });
    }
  }
  return stages;
}

/** Orders ends of one history, the longest first: one with more pieces begins earlier, else the one whose first does. */
function compareEnds({ pieces: a }: View, { pieces: b }: View): number {
  const [first, other] = [a[0], b[0]];
  if (a.length !== b.length || first === undefined || other === undefined) return b.length - a.length;
  return startOf(first) - startOf(other);
}

const startOf = (piece: Piece): Seq => (piece.kind === 'carried' ? previous(piece.seq) : piece.after);
const lengthOf = (piece: Piece): number => (piece.kind === 'carried' ? 1 : piece.through - piece.after);

/** Returns the pieces of a longer end that come before a shorter one. */
function piecesBefore({ pieces: longer }: View, { pieces: shorter }: View): Piece[] {
  const count = longer.length - shorter.length;
  const [cut, first] = [longer[count], shorter[0]];
  const isCut = cut?.kind === 'range' && first?.kind === 'range' && cut.after < first.after;
  return [...longer.slice(0, count), ...(isCut ? [{ ...cut, through: first.after }] : [])];
}
