import { Argument, type Command, type Option } from 'commander';
import type { Context } from './context.ts';
import type { OptionValues } from './option-values.ts';

/** A command: its arguments, its options, and the function that runs it. One file each in `commands/`. */
export interface CommandSpec {
  /** The arguments as commander writes them: `<ref>`, `[projection]`, `<files...>`. */
  readonly arguments?: readonly {
    readonly name: string;
    readonly about: string;
    readonly choices?: readonly string[];
  }[];
  readonly options?: readonly Option[];
  /** The exit codes, where they need an explanation. */
  readonly exits?: string;
  /** The exit code of this command's failures, if it passes the exit code of a child through. */
  readonly ownFailure?: number;
  /** Example command lines; each of them works. */
  readonly examples?: readonly string[];
  /** Runs the command and returns the exit code: 0 is done, 1 means that the answer is no. Errors are thrown. */
  run(context: Context, values: readonly string[], options: OptionValues): Promise<number>;
}

/** A command before it is loaded: the part that `reprise --help` shows. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: CommandGroup;
  readonly load: () => Promise<CommandSpec>;
}

/** The headings of `reprise --help`, in order. */
export const commandGroups = [
  'Start',
  'Look',
  'State',
  'Fleet',
  'Coding',
  'Compare and verify',
  'Change',
  'Run',
  'Manage',
] as const;

/** One of the headings of `reprise --help`. */
type CommandGroup = (typeof commandGroups)[number];

/** Adds a spec's arguments and options to a commander command. */
export function describe(command: Command, spec: CommandSpec): Command {
  for (const { name, about, choices } of spec.arguments ?? []) {
    const argument = new Argument(name, about);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const option of spec.options ?? []) command.addOption(option);
  return command;
}
