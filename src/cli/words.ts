const takesValue = new Set(['--store', '--namespace']);

/** The words of a command line with what every command takes moved behind the command's name. */
export function commandFirst(argv: readonly string[]): readonly string[] {
  let at = 0;
  while (at < argv.length && isGlobal(argv[at] as string)) at += takesValue.has(argv[at] as string) ? 2 : 1;
  const [name, ...rest] = argv.slice(at);
  return name === undefined ? argv : [name, ...rest, ...argv.slice(0, at)];
}

function isGlobal(word: string): boolean {
  return takesValue.has(word) || /^--(store|namespace|json)=/.test(word) || word === '--json';
}

/** A bare `--json` never takes the next word as its shape: `show --json demo@3` asks for lines of `demo@3`. */
export function withShape(argv: readonly string[]): string[] {
  return argv.map((word) => (word === '--json' ? '--json=lines' : word));
}

/** Whether JSON was asked for, also on a command line that is otherwise wrong. */
export function asksForJson(argv: readonly string[]): boolean {
  return argv.some((word) => word === '--json' || word.startsWith('--json='));
}
