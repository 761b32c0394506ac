const takesValue = new Set(['--store', '--namespace']);

/** Moves global options that come before the command's name behind it. */
export function commandFirst(argv: readonly string[]): readonly string[] {
  let at = 0;
  for (let word = argv[at]; word !== undefined && isGlobal(word); word = argv[at]) at += takesValue.has(word) ? 2 : 1;
  const [name, ...rest] = argv.slice(at);
  return name === undefined ? argv : [name, ...rest, ...argv.slice(0, at)];
}

function isGlobal(word: string): boolean {
  return takesValue.has(word) || /^--(store|namespace|json)=/.test(word) || word === '--json';
}

/** Keeps a bare `--json` from taking the next word as its shape: `show --json demo@3` means lines of `demo@3`. */
export function withShape(argv: readonly string[]): string[] {
  const end = ownWords(argv).length;
  return argv.map((word, index) => (index < end && word === '--json' ? '--json=lines' : word));
}

/** Returns true if JSON was asked for, even on an invalid command line. */
export function asksForJson(argv: readonly string[]): boolean {
  return ownWords(argv).some((word) => word === '--json' || word.startsWith('--json='));
}

/** Returns the words up to `--`: those after it are a different program's. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}
