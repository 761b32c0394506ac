/** The reference page of the command line, made from the specs of the commands. */
import { Command, type Option } from 'commander';
import { type CommandEntry, type CommandSpec, describe } from '../src/cli/command.ts';
import { commands } from '../src/cli/commands.ts';
import { globalOptions } from '../src/cli/global-options.ts';
import { groups } from '../src/cli/help.ts';
import { shapes } from './cli-shapes.ts';

/** Where the page is kept, from the root of the repository. */
export const cliPagePath = 'docs/reference/cli.md';

const intro = `# The command line

Generated from \`src/cli/commands\` and \`scripts/cli-shapes.ts\` by \`npm run docs:pages\`; edit it there. [The guide](../guides/command-line.md) tells it to people; this page is the contract for scripts.

In a clone it is \`npm run -s reprise -- list\`, where the package is installed \`npx reprise list\`.

## The contract

**Streams.** stdout is data and nothing else. What is said about the data, what to type next, progress and errors go to stderr. Pipes get no colours; \`NO_COLOR\` and \`FORCE_COLOR\` decide it otherwise. A reader that goes away (\`| head -1\`) ends the command
quietly. Ctrl-C ends it with 130, quietly.

**JSON.** \`--json\` prints one object a line: many for what is many (\`list\`, \`tree\`, \`replay\`, \`projections\`, \`experiment\`, \`import\`, \`copy\`, \`keys\`, \`scan\`, \`history\`), else one. \`--json=object\` prints one object for everything. A verdict goes to stdout also when it is no. What could not be done is on stderr, on every way out, wrong usage included:

\`\`\`json
{"error":{"code":"session.not-found","message":"Cannot open session \\"refnud\\": …","hint":"Did you mean \\"refund\\"? …"}}
\`\`\`

\`code\` is one of [the error codes](errors.md), \`usage\` for a command line that cannot be understood, or \`failed\` for a mistake of ours; \`hint\` is null where there is nothing to advise. Keys may be added to a shape; none is taken away or changes its meaning.

**Exit codes.**

| | |
|--:|---|
| 0 | done; the answer is yes |
| 1 | the answer is no: different, not verified, not found, conflict, exists already, a finding of \`doctor\` |
| 2 | wrong usage: the same command will never work; also a question that was not answered with \`--yes\` |
| 3 | the store or the world failed: missing, locked, damaged, full, written by a newer release |
| 130 | Ctrl-C |

**Places** are refs: \`session[/branch][@at]\`, where \`at\` is a seq, \`head\`, \`before:SEQ\`, \`turn:N\`, \`run:ID\` or \`time:ISO\`; \`latest\` is the session last appended to. \`/ @ : %\` in an id are percent-encoded. [More](../concepts/points-and-refs.md)

**What cannot be undone** (\`erase\`, \`delete-session\`) is asked for at a terminal, and needs \`--yes\` elsewhere.

**The store** is \`--store\`, else \`REPRISE_STORE\`, else what [\`reprise.config.ts\`](../guides/configure.md) says, else the nearest \`.reprise/reprise.db\` on the way up to the root of the git repository. Looking never makes one. The configuration is loaded by commands that open the store without \`--store\`, and by those that start agents.
`;

/** The page as text. */
export async function cliPage(): Promise<string> {
  const sections: string[] = [intro, `## Everywhere\n\n${optionTable(globalOptions())}`];
  for (const group of groups) {
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
    `\`--json\`: \`{ ${shape.keys.join(', ')} }\`${shape.about}\n`,
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

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
