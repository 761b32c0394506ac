import { nearest } from '../core/nearest.ts';
import { release } from '../node/release.ts';
import type { CommandEntry } from './command.ts';
import { commands } from './commands.ts';
import { usage } from './exit-code.ts';
import { overview } from './help.ts';
import { report } from './report.ts';
import { writeAnswer } from './terminal/stdout.ts';
import { asksForJson, commandFirst } from './words.ts';

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = listFirst(commandFirst(argv));
  const asksJson = asksForJson(argv);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return help(rest[0], asksJson);
  if (name === '--version' || name === '-V') return print(release());
  const entry = commands.find((held) => held.name === name);
  if (entry === undefined) return unknownCommand(name, asksJson);
  return run(entry, rest, asksJson);
}

/** Treats `replay list` as `list`. */
function listFirst(words: readonly string[]): readonly string[] {
  return words[0] === 'replay' && words[1] === 'list' ? words.slice(1) : words;
}

async function help(name: string | undefined, asksJson: boolean): Promise<number> {
  if (name === undefined || name.startsWith('-')) return print(overview(commands));
  const entry = commands.find((held) => held.name === name);
  return entry === undefined ? unknownCommand(name, asksJson) : run(entry, ['--help'], asksJson);
}

function print(text: string): number {
  writeAnswer(`${text}\n`);
  return 0;
}

/** Names that other programs use for our commands. */
const aliases: Readonly<Record<string, string>> = {
  'replay-filter': 'replay',
  branch: 'fork',
  log: 'replay',
  ls: 'list',
  rm: 'delete-session',
  undo: 'revert',
  version: '--version',
};

function unknownCommand(name: string, asksJson: boolean): number {
  const names = commands.map((entry) => entry.name);
  const found = (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? nearest(name, names);
  const hint = found === undefined ? 'Run "reprise --help" to see the commands.' : `Did you mean "reprise ${found}"?`;
  return report({ code: 'usage', message: `Cannot run "${name}": no such command`, hint }, asksJson, usage);
}

/** Loads what commands need only when one is run, so that help prints at once. */
async function run(entry: CommandEntry, words: readonly string[], asksJson: boolean): Promise<number> {
  const { runCommand } = await import('./run-command.ts');
  return runCommand(entry, words, asksJson);
}
