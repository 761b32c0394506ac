import { styleText } from 'node:util';
import type { HelpConfiguration } from 'commander';
import { fold } from '../wording/text.ts';
import { type CommandEntry, commandGroups } from './command.ts';

function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stdout, validateStream: true });
}

/** Returns the text of `reprise --help`. */
export function overview(commands: readonly CommandEntry[]): string {
  const width = Math.max(...commands.map((entry) => entry.name.length)) + 2;
  const columns = helpColumns();
  const lines = [
    `${style('bold', 'reprise')}, the time machine for AI agents`,
    '',
    'Usage: reprise <command> [options]',
    '',
  ];
  for (const group of commandGroups) {
    lines.push(style('bold', group));
    for (const { name, summary } of commands.filter((entry) => entry.group === group))
      lines.push(...entryLines(name, summary, { width, columns }));
    lines.push('');
  }
  return [
    ...lines,
    style('bold', 'Refs'),
    ...refForms.flatMap(([form, about]) => entryLines(form, about, { width: refWidth, columns })),
    '',
    style('bold', 'Global options'),
    ...indented('--json, --store URL, --namespace NAME, --help', 2, columns),
    '',
    ...indented('Run "reprise <command> --help" for its options and examples.', 0, columns).map((line) =>
      style('dim', line),
    ),
  ].join('\n');
}

const refForms = [
  ['session[/branch][@at]', 'a session, a branch of it, and a point on that branch'],
  ['@at', '@SEQ, @head, @before:SEQ, @turn:N, @story:N, @run:ID or @time:ISO'],
  ['latest', 'the session last appended to, as in latest@12'],
  ['RUN, task:ID', 'a run or a task, for commands that look: where it ended'],
] as const;
const refWidth = Math.max(...refForms.map(([form]) => form.length)) + 2;

const columnsOfPipe = 80;

/** Returns how many columns wide help may be. */
export function helpColumns(): number {
  return Number(process.env['COLUMNS']) || process.stdout.columns || columnsOfPipe;
}

/** Folds text into lines that begin with that many spaces. */
export const indented = (text: string, indent: number, columns: number): string[] =>
  fold(text, columns - indent).lines.map((line) => ' '.repeat(indent) + line);

/** Puts a term and its description side by side where there is room. */
function entryLines(
  name: string,
  summary: string,
  { width, columns }: { readonly width: number; readonly columns: number },
): string[] {
  if (2 + width + summary.length <= columns) return [`  ${style('cyan', name.padEnd(width))}${summary}`];
  return [`  ${style('cyan', name)}`, ...indented(summary, 6, columns)];
}

/** Returns the styles of the help of one command. */
export function helpStyle(): HelpConfiguration {
  return {
    styleTitle: (text) => style('bold', text),
    styleOptionTerm: (text) => style('cyan', text),
    styleArgumentTerm: (text) => style('cyan', text),
  };
}
