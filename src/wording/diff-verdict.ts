import type { DiffPlace, HistoryDiff } from '../core/comparing/diff.ts';
import type { Point } from '../core/point.ts';
import { pointText } from '../core/ref.ts';
import { countText, plural } from './amount.ts';

/** The counts of a diff. */
type Counts = Pick<HistoryDiff, 'matched' | 'changed' | 'onlyLeft' | 'onlyRight'>;

/** Writes the result of a diff: `Different: 4 equal, 1 changed, 2 only left, 0 only right.` */
export function verdictText(diff: Counts & Pick<HistoryDiff, 'identical'>): string {
  if (diff.identical) return `The same: ${plural(diff.matched, 'event')} with the same behavior.`;
  return `Different: ${countsText(diff)}.`;
}

/** Writes the counts of a diff: `4 equal, 1 changed, 2 only left, 0 only right`. */
export function countsText({ matched, changed, onlyLeft, onlyRight }: Counts): string {
  return [
    `${countText(matched)} equal`,
    `${countText(changed)} changed`,
    `${countText(onlyLeft)} only left`,
    `${countText(onlyRight)} only right`,
  ].join(', ');
}

/** Where two histories part. */
interface Divergence extends Pick<HistoryDiff, 'divergedAt' | 'sustainedAt'> {
  readonly forkPoint: Point | null;
}

/** Writes where two histories part: the last point they share, the first difference, and where they part for good. */
export function divergenceLines({ forkPoint, divergedAt, sustainedAt }: Divergence): string[] {
  const shared =
    forkPoint === null ? 'They have no shared history.' : `They share everything up to ${forkPointText(forkPoint)}.`;
  if (divergedAt === null) return [shared];
  const isSame = sustainedAt?.left === divergedAt.left && sustainedAt.right === divergedAt.right;
  const rest =
    sustainedAt === null
      ? ' They come back together later.'
      : isSame
        ? ''
        : ` They part for good at ${placeText(sustainedAt)}.`;
  return [shared, `They first differ at ${placeText(divergedAt)}.${rest}`];
}

const forkPointText = ({ branch, seq }: Point): string => pointText({ branch, at: { kind: 'seq', seq } });

function placeText({ left, right }: DiffPlace): string {
  const side = (seq: number | null): string => (seq === null ? 'the end' : `@${seq}`);
  return `${side(left)} on the left and ${side(right)} on the right`;
}
