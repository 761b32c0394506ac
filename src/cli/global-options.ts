import { Option } from 'commander';

/** What every command takes. */
export interface GlobalOptions {
  readonly store?: string;
  readonly namespace?: string;
  readonly json?: 'lines' | 'object';
}

/** The options every command takes, new ones for each command. */
export function globalOptions(): Option[] {
  const options = [
    new Option(
      '--store <url>',
      'sqlite:PATH, postgres://… or memory: (default: REPRISE_STORE, reprise.config, .reprise/reprise.db)',
    ),
    new Option('--namespace <name>', 'the wall to look behind (default: reprise.config, "default")'),
    new Option('--json [shape]', 'JSON: "lines" is one object a line, "object" one for everything')
      .choices(['lines', 'object'])
      .preset('lines'),
  ];
  return options.map((option) => option.helpGroup('Everywhere:'));
}
