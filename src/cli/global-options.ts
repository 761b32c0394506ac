import { Option } from 'commander';

/** The options that every command takes. */
export interface GlobalOptions {
  readonly store?: string;
  readonly namespace?: string;
  readonly json?: 'lines' | 'object';
}

/** Creates the options that every command takes, new ones for each command. */
export function globalOptions(): Option[] {
  const options = [
    new Option(
      '--store <url>',
      'store to use: sqlite:PATH, postgres://…, https://…, bundle:PATH or memory: (default: REPRISE_STORE, .reprise/settings.json, reprise.config, .reprise/reprise.db)',
    ),
    new Option('--namespace <name>', 'namespace to use (default: that of the project, "default")'),
    new Option('--json [shape]', 'print JSON: "lines" is one object per line, "object" is a single object')
      .choices(['lines', 'object'])
      .preset('lines'),
  ];
  return options.map((option) => option.helpGroup('Global options:'));
}
