/** The reference page of the command line, made from the specs of the commands. */
import { Command, type Option } from 'commander';
import { type CommandEntry, type CommandSpec, commandGroups, describe } from '../src/cli/command.ts';
import { commands } from '../src/cli/commands.ts';
import { globalOptions } from '../src/cli/global-options.ts';
import { type CliShape, shapes } from './cli-shapes.ts';

/** The file of the page, from the root of the repository. */
export const cliPagePath = 'docs/reference/cli.md';

const intro = `# The command line

Generated from \`src/cli/commands\` and \`scripts/cli-shapes.ts\` by \`npm run docs:pages\`; edit it there. [The guide](../guides/command-line.md) is for people; this page is the contract for scripts.

In a clone, run \`npm run -s reprise -- list\`; where the package is installed, \`npx reprise list\`.

## The contract

**Streams.** stdout carries data and nothing else. Messages, hints, progress and errors go to stderr. Pipes get no colors; \`NO_COLOR\` and \`FORCE_COLOR\` override that. If the reader goes away (\`| head -1\`), the command ends
silently. Ctrl-C ends it silently with 130.

**JSON.** \`--json\` prints one object per line: several for a command whose section says "one line per", such as \`list\` and \`replay\`, and one for every other command. \`--json=object\` prints a single object. A key with a question mark is printed only where it applies. An answer goes to stdout even if it is no. Errors go to stderr, wrong usage included:

\`\`\`json
{"error":{"code":"session.not-found","message":"Cannot open session \\"refnud\\": …","hint":"Did you mean \\"refund\\"? …"}}
\`\`\`

\`code\` is one of [the error codes](errors.md), \`usage\` for an invalid command line, or \`failed\` for a bug in Reprise; \`hint\` is null if there is nothing to suggest. A new release may add keys. It never removes a key or changes its meaning.

**Exit codes.**

| | |
|--:|---|
| 0 | done; the answer is yes |
| 1 | the answer is no: different, not verified, not found, conflict, already exists, a finding of \`doctor\` |
| 2 | wrong usage: the same command will never work; also a confirmation that needs \`--yes\` |
| 3 | the store, the network or an agent failed: missing, locked, damaged, full, written by a newer release |
| 130 | Ctrl-C |

**Refs** name histories and points: \`session[/branch][@at]\`, where \`at\` is a seq, \`head\`, \`before:SEQ\`, \`turn:N\`, \`run:ID\` or \`time:ISO\`; \`latest\` is the session last appended to. Commands that look also take a run (\`RUN\`) or a task (\`task:ID\`, \`SESSION@task:ID\`) in place of a session: the point where it ended, and for \`replay\` its events alone. \`/ @ : %\` in an id are percent-encoded. [More](../concepts/points-and-refs.md)

**Confirmation.** Commands that cannot be undone (\`erase\`, \`branch delete\`, \`delete-session\`) ask at a terminal, and need \`--yes\` elsewhere.

**The store** is \`--store\`, else \`REPRISE_STORE\`, else the one in [\`.reprise/settings.json\`](../guides/configure.md#where-reprise-finds-it), else, for commands that run it, the one in \`reprise.config.ts\`, else the nearest \`.reprise/reprise.db\` on the way up to the root of the git repository. Reading never creates one. [Trust](../concepts/trust.md#what-runs-when) says which commands run the configuration.
`;

/** Writes the page. */
export async function cliPage(): Promise<string> {
  const sections: string[] = [intro, `## Global options\n\n${optionTable(globalOptions())}`];
  for (const group of commandGroups) {
    sections.push(`## ${group}\n`);
    for (const entry of commands.filter((held) => held.group === group))
      sections.push(section(entry, await entry.load()));
  }
  return sections.join('\n');
}

function section(entry: CommandEntry, spec: CommandSpec): string {
  const usage = [`reprise ${entry.name}`, ...(spec.arguments ?? []).map(({ name }) => name)].join(' ');
  const command = describe(new Command(entry.name), spec);
  const places = (spec.arguments ?? []).map(({ name, about }) => `- \`${name}\`: ${about}`);
  const shape = shapes[entry.name];
  if (shape === undefined) throw new Error(`The command "${entry.name}" has no shape in scripts/cli-shapes.ts`);
  return [
    `### ${entry.name}\n`,
    `${capital(entry.summary)}. \`${usage}\`\n`,
    ...(places.length === 0 ? [] : [`${places.join('\n')}\n`]),
    ...(command.options.length === 0 ? [] : [optionTable(command.options)]),
    `\`--json\`: \`{ ${keysText(shape)} }\`${shape.about === '' ? '' : `. ${shape.about}`}\n`,
    ...(spec.examples === undefined ? [] : [`\`\`\`sh\n${spec.examples.join('\n')}\n\`\`\`\n`]),
  ].join('\n');
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map(({ flags, description, defaultValue }) => {
    const fallback = typeof defaultValue === 'string' ? ` (default: ${defaultValue})` : '';
    return `| \`${flags}\` | ${`${description}${fallback}`.replaceAll('|', '\\|')} |`;
  });
  return ['| option | |', '|---|---|', ...rows, ''].join('\n');
}

/** Writes the keys of a shape, with a question mark after those that are not always there. */
function keysText({ keys, optional }: CliShape): string {
  return keys.map((key) => (optional.includes(key) ? `${key}?` : key)).join(', ');
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
