import { Argument, type Command, type Option } from 'commander';
import type { Context } from './context.ts';

/** What a command is: its words, its options, and what it does. One file each in `commands/`. */
export interface CommandSpec {
  /** The arguments as commander writes them: `<ref>`, `[projection]`, `<files...>`. */
  readonly arguments?: readonly {
    readonly name: string;
    readonly about: string;
    readonly choices?: readonly string[];
  }[];
  readonly options?: readonly Option[];
  /** What it exits with, where that is not plain. */
  readonly exits?: string;
  /** Lines of examples, each a command that works. */
  readonly examples?: readonly string[];
  /** Does it and gives the exit code: 0 done, 1 the answer is no. Errors are thrown. */
  run(context: Context, values: readonly string[], options: Readonly<Record<string, unknown>>): Promise<number>;
}

/** A command before it is loaded: what `reprise --help` shows. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: CommandGroup;
  readonly load: () => Promise<CommandSpec>;
}

/** The headings of `reprise --help`. */
export type CommandGroup = 'Begin' | 'Look' | 'State' | 'Compare and prove' | 'Change' | 'Run' | 'Keep house';

/** Adds a spec's words and options to a commander command. */
export function describe(command: Command, spec: CommandSpec): Command {
  for (const { name, about, choices } of spec.arguments ?? []) {
    const argument = new Argument(name, about);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const option of spec.options ?? []) command.addOption(option);
  return command;
}
