import { RepriseError } from '../error.ts';
import type { Seq } from '../point.ts';

/** What the strict diff looks at: every event of a history, in order. */
export interface StrictEvent {
  readonly seq: Seq;
  readonly type: string;
  /** What the event says, for the lines a person reads. */
  readonly text?: string;
}

/** Two events at the same place with different types. */
export interface TypeMismatch {
  readonly left: Seq;
  readonly right: Seq;
  readonly leftType: string;
  readonly rightType: string;
}

/** Two histories compared place by place, by type alone. */
export interface StrictDiff {
  readonly identical: boolean;
  /** How many events from the beginning have equal types. */
  readonly matched: number;
  /** The seq of the first event that differs, on the left if it has one there, else on the right; null if none does. */
  readonly divergedAt: Seq | null;
  /** Every place from there on at which the types differ. */
  readonly typeMismatches: readonly TypeMismatch[];
  /** What the left has beyond the length of the right. */
  readonly onlyLeft: readonly StrictEvent[];
  /** What the right has beyond the length of the left. */
  readonly onlyRight: readonly StrictEvent[];
  /** The diff for a person to read; the first ten of each list, and at most so many lines. */
  toLines(limit?: number): string[];
}

/** What the two sides are called in the lines. */
export interface StrictNames {
  readonly left?: string;
  readonly right?: string;
}

const listedMax = 10;
const textMax = 80;

/** Pairs events by position and compares their types; content is not looked at, and nothing is aligned. */
export function diffStrictly(
  left: readonly StrictEvent[],
  right: readonly StrictEvent[],
  names: StrictNames = {},
): StrictDiff {
  checkSide('left', left);
  checkSide('right', right);
  const shared = Math.min(left.length, right.length);
  const typeMismatches: TypeMismatch[] = [];
  let matched = 0;
  for (let index = 0; index < shared; index++) {
    const [a, b] = [left[index] as StrictEvent, right[index] as StrictEvent];
    if (a.type !== b.type) typeMismatches.push({ left: a.seq, right: b.seq, leftType: a.type, rightType: b.type });
    else if (typeMismatches.length === 0) matched++;
  }
  const divergedAt = left[matched]?.seq ?? right[matched]?.seq ?? null;
  const found = {
    identical: divergedAt === null,
    matched,
    divergedAt,
    typeMismatches,
    onlyLeft: left.slice(shared),
    onlyRight: right.slice(shared),
  };
  return { ...found, toLines: (limit = 40) => linesOf(found, names).slice(0, Math.max(0, limit)) };
}

function checkSide(side: string, events: unknown): void {
  if (Array.isArray(events)) return;
  throw new RepriseError('event.invalid', `Cannot diff: the ${side} side is not a list of events`);
}

function linesOf(diff: Omit<StrictDiff, 'toLines'>, names: StrictNames): string[] {
  const lines = [`diff ${names.left ?? 'left'} vs ${names.right ?? 'right'}`, `matched: ${diff.matched}`];
  if (diff.identical) return [...lines, '✓ identical'];
  lines.push(`diverged at seq ${diff.divergedAt}`);
  if (diff.typeMismatches.length > 0) {
    lines.push(`type mismatches: ${diff.typeMismatches.length}`);
    for (const { left, leftType, rightType } of diff.typeMismatches.slice(0, listedMax)) {
      lines.push(`  [${left}] ${leftType} → ${rightType}`);
    }
  }
  lines.push(...listOf('only left', diff.onlyLeft), ...listOf('only right', diff.onlyRight));
  return lines;
}

function listOf(title: string, events: readonly StrictEvent[]): string[] {
  if (events.length === 0) return [];
  const listed = events
    .slice(0, listedMax)
    .map(({ seq, type, text }) => `  [${seq}] ${type}: ${(text ?? '').slice(0, textMax)}`);
  return [`${title}: ${events.length}`, ...listed];
}
