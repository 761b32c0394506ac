/** The rows of the benchmarks, for a terminal and for a file. */
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

const soakHeading = '## Soak';

/** The section that soaks keep in a report; empty if there is none. */
export function soakOf(report: string): string {
  const at = report.indexOf(`\n${soakHeading}\n`);
  return at < 0 ? '' : report.slice(at + 1);
}

/** A report with what a soak of one store found, instead of what the last one of that store did. It is the last section. */
export function withSoak(
  report: string,
  store: string,
  rows: readonly Row[],
  facts: { readonly machine: string; readonly date: string; readonly command: string },
): string {
  const before = soakOf(report);
  const tables = new Map(
    before
      .split('\n### ')
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n') + 1).trim()]),
  );
  const missed = rows.filter((row) => row.miss !== undefined);
  tables.set(
    store,
    [
      `Written by \`${facts.command}\` on ${facts.date} (${facts.machine}). ${tally(rows)}.`,
      '',
      '| what | goal | figure | verdict | made of |',
      '|---|---|---|---|---|',
      ...rows.map((row) => `| ${row.name} | ${row.goal} | ${row.figure} | ${row.verdict} | ${row.detail} |`),
      ...missed.map((row) => `\n- **${row.name}** (${row.goal}): ${row.miss}`),
    ].join('\n'),
  );
  const kept = before === '' ? `${report.trimEnd()}\n\n` : report.slice(0, report.length - before.length);
  const sections = [...tables].sort(([left], [right]) => (left < right ? -1 : 1));
  return `${kept}${soakHeading}\n\n${sections.map(([name, text]) => `### ${name}\n\n${text}\n`).join('\n')}`;
}
