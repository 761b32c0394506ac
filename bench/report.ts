/** What the benchmarks found, for a terminal and for a file. */
import type { Row } from './measure.ts';

const marks = { met: '✓', missed: '✗', 'for the record': '·' } as const;

/** One row for the terminal. */
export function lineOf(row: Row): string {
  return `${marks[row.verdict]} ${row.name}\n    goal ${row.goal}   figure ${row.figure}   ${row.verdict}\n    ${row.detail}${row.miss === undefined ? '' : `\n    ${row.miss}`}`;
}

/** How many goals were met, and how many there are. */
export function tally(rows: readonly Row[]): string {
  const judged = rows.filter((row) => row.verdict !== 'for the record');
  return `${judged.filter((row) => row.verdict === 'met').length} of ${judged.length} goals met`;
}

/** The whole report as Markdown. */
export function markdownOf(
  rows: readonly Row[],
  facts: { readonly machine: Readonly<Record<string, string>>; readonly date: string; readonly command: string },
): string {
  const missed = rows.filter((row) => row.miss !== undefined);
  return [
    '# Benchmarks',
    '',
    `Written by \`${facts.command}\` on ${facts.date}. ${tally(rows)}.`,
    '',
    'Read the ratios: contenders take turns in one run, so a slow moment of the machine falls on all of them. What is bound by',
    'the processor is judged by medians, what waits for the disk by the least of its rounds. A time is given as its median',
    '(least–most).',
    '',
    '| machine | |',
    '|---|---|',
    ...Object.entries(facts.machine).map(([name, value]) => `| ${name} | ${value} |`),
    '',
    '| what | goal | figure | verdict | made of |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.name} | ${row.goal} | ${row.figure} | ${row.verdict} | ${row.detail} |`),
    '',
    '## Missed goals',
    '',
    ...(missed.length === 0 ? ['None.'] : missed.map((row) => `- **${row.name}** (${row.goal}): ${row.miss}`)),
    '',
  ].join('\n');
}
