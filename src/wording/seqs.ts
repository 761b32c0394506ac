import { countText } from './amount.ts';

/** Writes seqs: `@5`, `@5, @6`, `@5…@12 (8 events)`. */
export function seqsText(seqs: readonly number[]): string {
  if (seqs.length === 0) return 'nothing';
  const sorted = [...seqs].sort((a, b) => a - b);
  const runs: { first: number; last: number }[] = [];
  for (const seq of sorted) {
    const run = runs.at(-1);
    if (run !== undefined && run.last === seq - 1) run.last = seq;
    else runs.push({ first: seq, last: seq });
  }
  const parts = runs.map(({ first, last }) =>
    last === first ? `@${first}` : `@${first}${last === first + 1 ? ', ' : '…'}@${last}`,
  );
  const shown = parts.length <= 8 ? parts.join(', ') : `${parts.slice(0, 7).join(', ')} … ${String(parts.at(-1))}`;
  return seqs.length > 4 ? `${shown} (${countText(seqs.length)} events)` : shown;
}

/** Writes every seq from the first to the last: `@5`, `@5…@12 (8 events)`. */
export function rangeText(first: number, last: number): string {
  return first === last ? `@${first}` : `@${first}…@${last} (${countText(last - first + 1)} events)`;
}
