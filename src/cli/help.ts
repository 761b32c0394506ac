import { styleText } from 'node:util';
import type { HelpConfiguration } from 'commander';
import { fold } from '../wording/text.ts';
import type { CommandEntry, CommandGroup } from './command.ts';

/** The headings of the overview, in order. */
export const groups: readonly CommandGroup[] = [
  'Begin',
  'Look',
  'State',
  'Compare and prove',
  'Change',
  'Run',
  'Keep house',
];

function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stdout, validateStream: true });
}

/** What `reprise --help` prints. */
export function overview(commands: readonly CommandEntry[]): string {
  const width = Math.max(...commands.map((entry) => entry.name.length)) + 2;
  const columns = helpColumns();
  const lines = [
    `${style('bold', 'reprise')}, the time machine for AI agents`,
    '',
    'Usage: reprise <command> [options]',
    '',
  ];
  for (const group of groups) {
    lines.push(style('bold', group));
    for (const { name, summary } of commands.filter((entry) => entry.group === group))
      lines.push(...entryLines(name, summary, { width, columns }));
    lines.push('');
  }
  return [
    ...lines,
    style('bold', 'Places'),
    ...indented(places, 2, Math.min(columns, columnsOfPipe)),
    '',
    style('bold', 'Everywhere'),
    ...indented('--json, --store URL, --namespace NAME, --help', 2, columns),
    '',
    ...indented('"reprise <command> --help" shows its options and examples.', 0, columns).map((line) =>
      style('dim', line),
    ),
  ].join('\n');
}

const columnsOfPipe = 80;

/** How wide help may be. */
export function helpColumns(): number {
  return Number(process.env['COLUMNS']) || process.stdout.columns || columnsOfPipe;
}

const places =
  'session[/branch][@at], where at is a seq, head, before:SEQ, turn:N, run:ID or time:ISO; "latest" is the session last appended to: latest@12';

/** Text folded over lines that begin with so many spaces. */
export const indented = (text: string, indent: number, columns: number): string[] =>
  fold(text, columns - indent).lines.map((line) => ' '.repeat(indent) + line);

/** A command and what it does, beside each other where there is room. */
function entryLines(
  name: string,
  summary: string,
  { width, columns }: { readonly width: number; readonly columns: number },
): string[] {
  if (2 + width + summary.length <= columns) return [`  ${style('cyan', name.padEnd(width))}${summary}`];
  return [`  ${style('cyan', name)}`, ...indented(summary, 6, columns)];
}

/** How the help of one command looks. */
export function helpStyle(): HelpConfiguration {
  return {
    styleTitle: (text) => style('bold', text),
    styleOptionTerm: (text) => style('cyan', text),
    styleArgumentTerm: (text) => style('cyan', text),
  };
}
