import type { HistoryFacts } from '../../reading/answers/history-facts.ts';
import { durationText, timeText } from '../../wording/amount.ts';
import { gitText } from '../../wording/event-gist.ts';
import { cut, fold, plain } from '../../wording/text.ts';
import type { Output } from '../terminal/output.ts';
import { outcomeStyle } from './outcome-style.ts';

const labelColumns = 12;

/** Prints the header of a history: its name, lineage, times, digest and fingerprint. */
export function headerLines(out: Output, session: string, facts: HistoryFacts, fingerprint?: string): string[] {
  const { branch, seq, title, lineage, startedAt, git, configDigest, digest } = facts;
  const lines: [string, string][] = [
    ['session', `${session}  ${branch}@${seq}${title === null ? '' : `  ${title}`}`],
    ['lineage', lineageText(branch, lineage)],
    ['started', startedAt === null ? '' : startedText(facts, startedAt)],
    ['git', gitText(git)],
    ['config', configDigest ?? ''],
    ['digest', digest],
    ['fingerprint', fingerprint ?? ''],
  ];
  const shown = lines.filter(([, text]) => text !== '').flatMap(([label, text]) => headerLine(out, label, text, facts));
  return [...shown, ''];
}

const foldedLines = 3;

/** Prints one line of a header. A digest that does not fit is cut; text is folded. */
function headerLine(out: Output, label: string, text: string, facts: HistoryFacts): string[] {
  const columns = out.tableColumns - labelColumns;
  const { lines, bytesLeft } = fold(plain(text), columns, foldedLines);
  const last = bytesLeft > 0 ? [`${cut(lines.at(-1) ?? '', columns - 1)}…`] : lines.slice(-1);
  const shown = digests.includes(label) ? [cut(plain(text), columns)] : [...lines.slice(0, -1), ...last];
  return shown.map((line, index) => {
    const lead = index === 0 ? out.dim(label.padEnd(labelColumns)) : ' '.repeat(labelColumns);
    return lead + styled(out, index === 0 ? label : `${label} …`, line, facts.outcome);
  });
}

const digests: readonly string[] = ['config', 'digest', 'fingerprint'];

function styled(out: Output, label: string, text: string, outcome: string | null): string {
  if (label === 'session') {
    const end = text.indexOf('  ');
    return out.bold(end < 0 ? text : text.slice(0, end)) + (end < 0 ? '' : text.slice(end));
  }
  if (!label.startsWith('started') || outcome === null || !text.endsWith(outcome)) return text;
  return text.slice(0, -outcome.length) + out.style(outcomeStyle(outcome), outcome);
}

function lineageText(branch: string, lineage: HistoryFacts['lineage']): string {
  if (lineage.length === 0) return '';
  const forks = lineage.map(
    ({ branch: parent, seq, reason }) => `${parent}@${seq}${reason === null ? '' : ` “${reason}”`}`,
  );
  return [branch, ...forks].join(' ← ');
}

/** Returns when the history started and how long it took; for a long one, when it was last appended to. */
function startedText({ lastAt, resumedAt, durationMs, outcome }: HistoryFacts, startedAt: string): string {
  const again = resumedAt === null ? '' : `, resumed ${timeText(resumedAt)}`;
  const last = lastAt === null ? '' : `, last event ${timeText(lastAt)}`;
  const took = durationMs === null ? last : `, took ${durationText(durationMs)}`;
  return `${timeText(startedAt)} UTC${again}${took}${outcome === null ? '' : `, ${outcome}`}`;
}
