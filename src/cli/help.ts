import { styleText } from 'node:util';
import type { HelpConfiguration } from 'commander';
import type { CommandEntry, CommandGroup } from './command.ts';

/** The headings of the overview, in order. */
export const groups: readonly CommandGroup[] = ['Begin', 'Look', 'Compare and prove', 'Change', 'Run', 'Keep house'];

function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stdout, validateStream: true });
}

/** What `reprise --help` prints. */
export function overview(commands: readonly CommandEntry[]): string {
  const width = Math.max(...commands.map((entry) => entry.name.length)) + 2;
  const lines = [
    `${style('bold', 'reprise')}, the time machine for AI agents`,
    '',
    'Usage: reprise <command> [options]',
    '',
  ];
  for (const group of groups) {
    lines.push(style('bold', group));
    for (const { name, summary } of commands.filter((entry) => entry.group === group))
      lines.push(`  ${style('cyan', name.padEnd(width))}${summary}`);
    lines.push('');
  }
  return [
    ...lines,
    style('bold', 'Places'),
    '  session[/branch][@at], where at is a seq, head, before:SEQ, turn:N, run:ID',
    '  or time:ISO; "latest" is the session last appended to: latest@12',
    '',
    style('bold', 'Everywhere'),
    '  --json, --store URL, --namespace NAME, --help',
    '',
    style('dim', '"reprise <command> --help" shows its options and examples.'),
  ].join('\n');
}

/** How the help of one command looks. */
export function helpStyle(): HelpConfiguration {
  return {
    styleTitle: (text) => style('bold', text),
    styleOptionTerm: (text) => style('cyan', text),
    styleArgumentTerm: (text) => style('cyan', text),
  };
}
