import { Command, CommanderError, Option } from 'commander';
import { RepriseError } from '../core/error.ts';
import { type CommandEntry, describe } from './command.ts';
import { commands } from './commands.ts';
import { Context, type GlobalOptions } from './context.ts';
import { exitCodeOf, failed, usage } from './exit-code.ts';
import { overview } from './help.ts';
import { nearest } from './nearest.ts';
import { version } from './version.ts';

/** The options every command takes. */
function globalOptions(): Option[] {
  return [
    new Option('--store <url>', 'where sessions are kept: sqlite:PATH or memory: (default: .reprise/reprise.db, or REPRISE_STORE)'),
    new Option('--namespace <name>', 'the wall to look behind (default: "default")'),
    new Option('--json [shape]', 'JSON instead of text: one object a line, or "object" for one in all'),
  ];
}

/** Runs one command line and gives its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  const asksJson = argv.some((word) => word === '--json' || word.startsWith('--json='));
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return help(rest[0]);
  if (name === '--version' || name === '-V') return print(version());
  const entry = commands.find((held) => held.name === name);
  if (entry === undefined) return unknownCommand(name, asksJson);
  return runCommand(entry, rest, asksJson);
}

async function help(name: string | undefined): Promise<number> {
  const entry = commands.find((held) => held.name === name);
  return entry === undefined ? print(overview(commands)) : runCommand(entry, ['--help'], false);
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function unknownCommand(name: string, asksJson: boolean): number {
  const found = nearest(name, commands.map((entry) => entry.name));
  const hint = found === undefined ? 'Run "reprise --help" for the commands there are.' : `Did you mean "reprise ${found}"?`;
  return report({ code: 'usage', message: `Cannot run "${name}": there is no such command`, hint }, asksJson, usage);
}

async function runCommand(entry: CommandEntry, argv: readonly string[], asksJson: boolean): Promise<number> {
  const spec = await entry.load();
  let code = 0;
  const command = describe(new Command(`reprise ${entry.name}`), spec)
    .description(entry.summary)
    .helpOption('-h, --help', 'show this')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  for (const option of globalOptions()) command.addOption(option);
  if (spec.examples !== undefined) command.addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join('\n')}`);
  command.action(async (...args: unknown[]) => {
    const options = args[args.length - 2] as GlobalOptions & Record<string, unknown>;
    const values = args.slice(0, -2).flat().filter((value): value is string => typeof value === 'string');
    const context = new Context(options);
    try {
      code = await spec.run(context, values, options);
    } finally {
      await context.close();
    }
  });
  try {
    await command.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return failure(error, asksJson, entry.name);
  }
}

/** Tells what went wrong: as text, or where JSON was asked for as JSON, whatever it was. */
function failure(error: unknown, asksJson: boolean, name: string): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const message = error.message.replace(/^error: /, '');
    return report({ code: 'usage', message: `Cannot run "reprise ${name}": ${message}`, hint: `See "reprise ${name} --help".` }, asksJson, usage);
  }
  if (error instanceof RepriseError) return report(error.toJSON(), asksJson, exitCodeOf(error));
  const message = error instanceof Error ? error.message : String(error);
  if (process.env['REPRISE_DEBUG'] !== undefined && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`);
  return report({ code: 'failed', message: `Cannot go on: ${message}`, hint: 'This looks like a mistake of ours; REPRISE_DEBUG=1 shows where.' }, asksJson, failed);
}

function report(error: { readonly code: string; readonly message: string; readonly hint?: string }, asksJson: boolean, code: number): number {
  if (asksJson) process.stderr.write(`${JSON.stringify({ error: { code: error.code, message: error.message, hint: error.hint ?? null } })}\n`);
  else process.stderr.write(`${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
  return code;
}
