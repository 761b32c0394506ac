import type { StrictDiff, StrictEvent } from '../core/comparing/diff-strict.ts';

const listedMax = 10;
const textMax = 80;

/**
 * Writes a strict diff as lines for people: the first ten of each list, and at most `limit` lines.
 *
 * @example
 * ```ts
 * const found = await reprise.diff('refund', 'refund/careful', { strict: true });
 * console.log(strictDiffLines(found).join('\n'));
 * ```
 */
export function strictDiffLines(diff: StrictDiff, limit = 40): string[] {
  return linesOf(diff).slice(0, Math.max(0, limit));
}

function linesOf(diff: StrictDiff): string[] {
  const lines = [`diff ${diff.names.left} vs ${diff.names.right}`, `matched: ${diff.matched}`];
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
