import { styleText } from 'node:util';
import type { CommandEntry, CommandGroup } from './command.ts';

const groups: readonly CommandGroup[] = ['Look', 'Compare and prove', 'Change', 'Keep house'];

/** What `reprise --help` prints. */
export function overview(commands: readonly CommandEntry[]): string {
  const style = (format: Parameters<typeof styleText>[0], text: string): string => styleText(format, text, { stream: process.stdout, validateStream: true });
  const width = Math.max(...commands.map((entry) => entry.name.length)) + 2;
  const lines = [style('bold', 'reprise') + ', the time machine for AI agents', '', `Usage: reprise <command> [options]`, ''];
  for (const group of groups) {
    lines.push(style('bold', group));
    for (const { name, summary } of commands.filter((entry) => entry.group === group)) lines.push(`  ${style('cyan', name.padEnd(width))}${summary}`);
    lines.push('');
  }
  return [
    ...lines,
    'A place is written session[/branch][@at], where at is a seq, head, before:SEQ, turn:N, run:ID or time:ISO;',
    '"latest" is the session last appended to. Every command takes --json, --store URL and --namespace NAME.',
    '',
    style('dim', 'reprise <command> --help shows its options and examples.'),
  ].join('\n');
}
