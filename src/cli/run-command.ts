import { Command, CommanderError, Help, type Option } from 'commander';
import { RepriseError } from '../core/error.ts';
import { type CommandEntry, type CommandSpec, describe } from './command.ts';
import { Context } from './context.ts';
import { exitCodeOf, failed, usage } from './exit-code.ts';
import { type GlobalOptions, globalOptions } from './global-options.ts';
import { helpColumns, helpStyle, indented } from './help.ts';
import type { OptionValues } from './option-values.ts';
import { type Reported, report } from './report.ts';
import { keepStdout, writeAnswer } from './terminal/stdout.ts';
import { withShape } from './words.ts';

/** Runs one command with the words after its name, and returns its exit code. */
export async function runCommand(entry: CommandEntry, argv: readonly string[], asksJson: boolean): Promise<number> {
  let ownFailure: number | undefined;
  try {
    const spec = await entry.load();
    ownFailure = spec.ownFailure;
    let code = 0;
    const command = commandOf(entry, spec).action(async (...args: unknown[]) => {
      const options = args.at(-2) as GlobalOptions & OptionValues;
      const values = args
        .slice(0, -2)
        .flat()
        .filter((value): value is string => typeof value === 'string');
      const context = new Context(options);
      keepStdout();
      try {
        // Show progress for anything that takes long; a command that knows the total begins again with it.
        context.out.progress.begin(entry.name);
        code = await spec.run(context, values, options);
      } finally {
        context.out.progress.end();
        await context.close();
      }
    });
    await command.parseAsync(withShape(argv), { from: 'user' });
    return code;
  } catch (error) {
    const code = failure(error, asksJson, entry.name);
    return code === 0 ? code : (ownFailure ?? code);
  }
}

/** Builds the commander command, with its help. */
function commandOf(entry: CommandEntry, spec: CommandSpec): Command {
  const command = describe(new Command(`reprise ${entry.name}`), spec)
    .description(capitalized(entry.summary))
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .configureHelp({ ...helpStyle(), optionDescription, visibleOptions, groupItems, formatItem })
    .configureOutput({ writeOut: writeAnswer, writeErr: () => undefined, getOutHelpWidth: helpColumns });
  for (const option of globalOptions()) command.addOption(option);
  if (spec.exits !== undefined) command.addHelpText('after', exitLines(spec.exits));
  if (spec.examples !== undefined) {
    command.addHelpText('after', `\nExamples:\n${spec.examples.map((line) => `  ${line}`).join('\n')}`);
  }
  return command;
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const exitLines = (exits: string): string => `\nExit code:\n${indented(exits, 2, helpColumns()).join('\n')}`;

/** Leaves out commander's "preset" note; our descriptions explain it. */
function optionDescription(this: Help, option: Option): string {
  return Help.prototype.optionDescription.call(this, option).replace(/, preset: "[^"]*"/, '');
}

/** Lists a command's own options before the global ones. */
function visibleOptions(this: Help, command: Command): Option[] {
  const options = Help.prototype.visibleOptions.call(this, command);
  return options.toSorted((left, right) => Number(isGlobal(left)) - Number(isGlobal(right)));
}

/** Orders groups by the options that are shown. */
function groupItems<Item extends Command | Option>(
  this: Help,
  _all: Item[],
  shown: Item[],
  groupOf: (item: Item) => string,
): Map<string, Item[]> {
  return Help.prototype.groupItems.call(this, shown, shown, groupOf as (item: Command | Option) => string) as Map<
    string,
    Item[]
  >;
}

const isGlobal = ({ helpGroupHeading }: Option): boolean => helpGroupHeading !== undefined;

const narrowColumns = 60;

/** Puts an option and its description side by side, or on two lines in a narrow terminal. */
function formatItem(this: Help, term: string, termWidth: number, description: string, help: Help): string {
  const columns = help.helpWidth ?? narrowColumns;
  return columns < narrowColumns
    ? [`  ${term}`, ...indented(description, 6, columns)].join('\n')
    : Help.prototype.formatItem.call(this, term, termWidth, description, help);
}

/** Reports any error, and returns the exit code. */
function failure(error: unknown, asksJson: boolean, name: string): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : report(misuse(error, name), asksJson, usage);
  }
  if (process.env['REPRISE_DEBUG'] !== undefined && error instanceof Error) {
    const { stack } = error.cause instanceof Error ? error.cause : error;
    process.stderr.write(`${stack ?? ''}\n`);
  }
  if (error instanceof RepriseError) return report(error, asksJson, exitCodeOf(error));
  const message = error instanceof Error ? error.message : String(error);
  const hint = 'This looks like a bug in Reprise. Set REPRISE_DEBUG=1 to see where it happened.';
  return report({ code: 'failed', message: `Cannot continue: ${message}`, hint }, asksJson, failed);
}

/** Explains what is wrong with a command line, and what was probably meant. */
function misuse(error: CommanderError, name: string): Reported {
  const [first = '', second] = error.message.replace(/^error: /, '').split('\n');
  const message = `Cannot run "reprise ${name}": ${first.replace(/\.$/, '')}`;
  if (second !== undefined) return { code: 'usage', message, hint: second.replace(/^\(|\)$/g, '') };
  const isRef = error.code === 'commander.missingArgument' && first.includes("'ref'");
  const hint = isRef
    ? `For the session last appended to, run: reprise ${name} latest. See also "reprise ${name} --help".`
    : `See "reprise ${name} --help".`;
  return { code: 'usage', message, hint };
}
