import { RepriseError } from '../error.ts';
import type { Seq } from '../point.ts';

/** An event as the strict diff compares it. */
export interface StrictEvent {
  readonly seq: Seq;
  readonly type: string;
  /** The event's data as text, for the lines a person reads. */
  readonly text?: string;
}

/** Two events at the same position with different types. */
export interface TypeMismatch {
  /** Their position, from 0. */
  readonly index: number;
  readonly left: Seq;
  readonly right: Seq;
  readonly leftType: string;
  readonly rightType: string;
}

/** An event beyond the end of the other side, with its position, from 0. */
export interface TailEvent extends StrictEvent {
  readonly index: number;
}

/** Two histories compared position by position, by type alone. */
export interface StrictDiff {
  /** The names of the two sides. */
  readonly names: StrictNames;
  readonly identical: boolean;
  /** How many events from the beginning have equal types. */
  readonly matched: number;
  /** The seq of the first event that differs, on the left if it has one there, else on the right; null if none does. */
  readonly divergedAt: Seq | null;
  /** The position of that event, from 0; null if none differs. */
  readonly divergedIndex: number | null;
  /** Every later position at which the types differ. */
  readonly typeMismatches: readonly TypeMismatch[];
  /** The events of the left beyond the length of the right. */
  readonly onlyLeft: readonly TailEvent[];
  /** The events of the right beyond the length of the left. */
  readonly onlyRight: readonly TailEvent[];
}

/** The names of the two sides of a strict diff. */
export interface StrictNames {
  readonly left: string;
  readonly right: string;
}

/** Pairs events by position and compares their types. It ignores their content and aligns nothing. */
export function diffStrictly(
  left: readonly StrictEvent[],
  right: readonly StrictEvent[],
  names: StrictNames = { left: 'left', right: 'right' },
): StrictDiff {
  checkSide('left', left);
  checkSide('right', right);
  const shared = Math.min(left.length, right.length);
  const typeMismatches: TypeMismatch[] = [];
  let matched = 0;
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) break;
    if (a.type !== b.type)
      typeMismatches.push({ index, left: a.seq, right: b.seq, leftType: a.type, rightType: b.type });
    else if (typeMismatches.length === 0) matched++;
  }
  const divergedAt = left[matched]?.seq ?? right[matched]?.seq ?? null;
  return {
    names,
    identical: divergedAt === null,
    matched,
    divergedAt,
    divergedIndex: divergedAt === null ? null : matched,
    typeMismatches,
    onlyLeft: tailOf(left, shared),
    onlyRight: tailOf(right, shared),
  };
}

const tailOf = (events: readonly StrictEvent[], after: number): readonly TailEvent[] =>
  events.slice(after).map((event, position) => ({ ...event, index: after + position }));

function checkSide(side: string, events: unknown): void {
  if (Array.isArray(events)) return;
  throw new RepriseError('event.invalid', `Cannot diff: the ${side} side is not a list of events`);
}
