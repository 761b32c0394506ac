import { Command, CommanderError } from 'commander';
import { RepriseError } from '../core/error.ts';
import { type CommandEntry, type CommandSpec, describe } from './command.ts';
import { commands } from './commands.ts';
import { Context } from './context.ts';
import { exitCodeOf, failed, usage } from './exit-code.ts';
import { asksForJson, commandFirst, type GlobalOptions, globalOptions, withShape } from './global-options.ts';
import { helpStyle, overview } from './help.ts';
import { nearest } from './nearest.ts';
import { plain } from './render/text.ts';
import { version } from './version.ts';

/** Runs one command line and gives its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = commandFirst(argv);
  const asksJson = asksForJson(argv);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return help(rest[0], asksJson);
  if (name === '--version' || name === '-V') return print(version());
  const entry = commands.find((held) => held.name === name);
  if (entry === undefined) return unknownCommand(name, asksJson);
  return runCommand(entry, rest, asksJson);
}

async function help(name: string | undefined, asksJson: boolean): Promise<number> {
  if (name === undefined || name.startsWith('-')) return print(overview(commands));
  const entry = commands.find((held) => held.name === name);
  return entry === undefined ? unknownCommand(name, asksJson) : runCommand(entry, ['--help'], asksJson);
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

/** What other programs call the same thing. */
const elsewhere: Readonly<Record<string, string>> = {
  'replay-filter': 'replay',
  branch: 'fork',
  log: 'replay',
  ls: 'list',
  rm: 'delete-session',
  undo: 'revert',
};

function unknownCommand(name: string, asksJson: boolean): number {
  const names = commands.map((entry) => entry.name);
  const found = (Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined) ?? nearest(name, names);
  const hint =
    found === undefined ? 'Run "reprise --help" for the commands there are.' : `Did you mean "reprise ${found}"?`;
  return report({ code: 'usage', message: `Cannot run "${name}": there is no such command`, hint }, asksJson, usage);
}

async function runCommand(entry: CommandEntry, argv: readonly string[], asksJson: boolean): Promise<number> {
  try {
    const spec = await entry.load();
    let code = 0;
    const command = commandOf(entry, spec).action(async (...args: unknown[]) => {
      const options = args.at(-2) as GlobalOptions & Record<string, unknown>;
      const values = args
        .slice(0, -2)
        .flat()
        .filter((value): value is string => typeof value === 'string');
      const context = new Context(options);
      try {
        code = await spec.run(context, values, options);
      } finally {
        await context.close();
      }
    });
    await command.parseAsync(withShape(argv), { from: 'user' });
    return code;
  } catch (error) {
    return failure(error, asksJson, entry.name);
  }
}

/** The command as commander knows it, help included. */
function commandOf(entry: CommandEntry, spec: CommandSpec): Command {
  const command = describe(new Command(`reprise ${entry.name}`), spec)
    .description(entry.summary)
    .helpOption('-h, --help', 'show this')
    .exitOverride()
    .configureHelp(helpStyle())
    .configureOutput({ writeErr: () => undefined });
  for (const option of globalOptions()) command.addOption(option);
  if (spec.examples !== undefined) {
    command.addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join('\n')}`);
  }
  return command;
}

/** Tells what went wrong: as text, or where JSON was asked for as JSON, whatever it was. */
function failure(error: unknown, asksJson: boolean, name: string): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : report(misuse(error, name), asksJson, usage);
  }
  if (error instanceof RepriseError) return report(error, asksJson, exitCodeOf(error));
  const message = error instanceof Error ? error.message : String(error);
  if (process.env['REPRISE_DEBUG'] !== undefined && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
  const hint = 'This looks like a mistake of ours; REPRISE_DEBUG=1 shows where.';
  return report({ code: 'failed', message: `Cannot go on: ${message}`, hint }, asksJson, failed);
}

interface Told {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** What is wrong with a command line, with what was probably meant. */
function misuse(error: CommanderError, name: string): Told {
  const [first = '', second] = error.message.replace(/^error: /, '').split('\n');
  const message = `Cannot run "reprise ${name}": ${first.replace(/\.$/, '')}`;
  if (second !== undefined) return { code: 'usage', message, hint: second.replace(/^\(|\)$/g, '') };
  const isRef = error.code === 'commander.missingArgument' && first.includes("'ref'");
  const hint = isRef
    ? `"latest" is the session last appended to: reprise ${name} latest. See also "reprise ${name} --help".`
    : `See "reprise ${name} --help".`;
  return { code: 'usage', message, hint };
}

function report({ code, message, hint }: Told, asksJson: boolean, exitCode: number): number {
  if (asksJson) process.stderr.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
  else process.stderr.write(`${plain(message)}\n${hint === undefined ? '' : `${plain(hint)}\n`}`);
  return exitCode;
}
