import type { DiffPair } from '../../core/comparing/diff.ts';
import type { ValueDiff } from '../../core/comparing/value-diff.ts';
import type { Event } from '../../core/event/event.ts';
import type { OpenRef } from '../open-ref.ts';

/** One row of a diff: the event on each side, and the fields in which they differ. */
export interface DiffRow {
  readonly kind: 'equal' | 'changed' | 'onlyLeft' | 'onlyRight';
  readonly left?: Event | undefined;
  readonly right?: Event | undefined;
  readonly fields?: ValueDiff | undefined;
}

/** Neighboring rows, and the number of equal events skipped before them. */
export interface DiffHunk {
  readonly equalBefore: number;
  readonly rows: readonly DiffRow[];
}

/** Neighboring pairs, and the number of equal ones skipped before them. */
export interface PairHunk {
  readonly equalBefore: number;
  readonly pairs: readonly DiffPair[];
}

/** Cuts the first `limit` differences out of a diff, each with `around` equal pairs on both sides; hunks that touch are merged. */
export function pairHunks(pairs: readonly DiffPair[], limit: number, around: number): PairHunk[] {
  const hunks: { equalBefore: number; pairs: DiffPair[] }[] = [];
  let left = limit;
  let shownEnd = 0;
  for (let index = 0; index < pairs.length && left > 0; index++) {
    if (pairs[index]?.kind === 'equal') continue;
    left -= 1;
    const from = Math.max(shownEnd, index - around);
    const current = hunks.at(-1);
    if (current === undefined || from > shownEnd) hunks.push({ equalBefore: from - shownEnd, pairs: [] });
    const end = contextEnd(pairs, index, around);
    hunks.at(-1)?.pairs.push(...pairs.slice(from, end));
    shownEnd = end;
  }
  return hunks;
}

/** Finds the end of the equal pairs after a difference: the next difference, or after `around` pairs. */
function contextEnd(pairs: readonly DiffPair[], index: number, around: number): number {
  let end = index + 1;
  while (end < pairs.length && end <= index + around && pairs[end]?.kind === 'equal') end++;
  return end;
}

/** Where to read the events of one side. */
export type DiffSide = Pick<OpenRef, 'session' | 'point'>;

/** Reads the events of the pairs in hunks. */
export async function readHunks(hunks: readonly PairHunk[], left: DiffSide, right: DiffSide): Promise<DiffHunk[]> {
  const pairs = hunks.flatMap((hunk) => hunk.pairs);
  const lefts = await eventsOf(
    left,
    pairs.flatMap((pair) => ('left' in pair ? [pair.left] : [])),
  );
  const rights = await eventsOf(
    right,
    pairs.flatMap((pair) => ('right' in pair ? [pair.right] : [])),
  );
  const rowOf = (pair: DiffPair): DiffRow => ({
    kind: pair.kind,
    left: 'left' in pair ? lefts.get(pair.left) : undefined,
    right: 'right' in pair ? rights.get(pair.right) : undefined,
    fields: pair.kind === 'changed' ? pair.fields : undefined,
  });
  return hunks.map(({ equalBefore, pairs: own }) => ({ equalBefore, rows: own.map(rowOf) }));
}

async function eventsOf({ session, point }: DiffSide, seqs: readonly number[]): Promise<Map<number, Event>> {
  const found = new Map<number, Event>();
  if (seqs.length === 0) return found;
  const wanted = new Set(seqs);
  const [after, through] = [Math.min(...seqs) - 1, Math.max(...seqs)];
  for await (const event of session.at(point).replay({ after, through })) {
    if (wanted.has(event.seq)) found.set(event.seq, event);
    if (found.size === wanted.size) break;
  }
  return found;
}
