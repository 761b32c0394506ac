import { startsWithMask } from './mask.ts';
import { addSpan, type SecretSearch } from './secret-span.ts';

/** Finds programs that take a password as a word. */
const passwordProgram = /(?:curl|mysql(?:dump|admin)?|sshpass|redis-cli)(?![\w-])/g;

/**
 * The options of those programs that a password follows, with everything before it. The first group is the quote before
 * it. Every repeat is bounded.
 */
const options: readonly (readonly [program: string, option: RegExp])[] = [
  [
    'curl',
    /[\s"'](?:-u|-U|--user|--proxy-user)(?:\\{0,3}["'])?,?[\s=]{0,4}(\\{0,3}["'])?(?!-)[^\s:"'\\]{0,200}:(?!\/\/)/g,
  ],
  ['mysql', /[\s"'](?:-p|--password=)(\\{0,3}["'])?(?=[^\s"'\\])/g],
  ['sshpass', /[\s"']-p(?:\\{0,3}["'])?,?\s{0,4}(\\{0,3}["'])?(?=[^\s"'\\-])/g],
  ['redis-cli', /[\s"'](?:-a|--pass)(?:\\{0,3}["'])?,?\s{1,4}(\\{0,3}["'])?(?=[^\s"'\\-])/g],
];

const wordUnitsMax = 1_024;
const placeholder = /^(?:\$[{(A-Z]|<|\{|\*{3})/;

/** Finds the passwords of commands in text: `curl -u user:password`, `mysql -ppassword`. */
export function findCommandPasswords(search: SecretSearch): void {
  const { text } = search;
  search.effort += text.length;
  passwordProgram.lastIndex = 0;
  for (let match = passwordProgram.exec(text); match !== null; match = passwordProgram.exec(text)) {
    const end = commandEnd(text, match.index);
    const command = text.slice(match.index, end);
    for (const [program, option] of options)
      if (command.includes(program)) findPasswords(search, match.index, command, option);
    // The words of a command are looked at once, however many programs it names.
    passwordProgram.lastIndex = end;
  }
}

/** Returns the end of a command: that of its line, unless a backslash continues it. */
function commandEnd(text: string, start: number): number {
  for (let at = text.indexOf('\n', start); at >= 0; at = text.indexOf('\n', at + 1))
    if (text[at - 1] !== '\\' && text.slice(at - 2, at) !== '\\\r') return at;
  return text.length;
}

function findPasswords(search: SecretSearch, start: number, command: string, option: RegExp): void {
  search.effort += command.length;
  for (const match of command.matchAll(option)) {
    const first = match.index + match[0].length;
    const quote = match[1]?.at(-1);
    const rest = command.slice(first, first + wordUnitsMax);
    const [word = ''] =
      (quote === undefined ? /^[^\s"'\\]*/ : quote === '"' ? /^[^"\\]*/ : /^[^'\\]*/).exec(rest) ?? [];
    if (word === '' || placeholder.test(word) || startsWithMask(word)) continue;
    addSpan(search, 'command-password', start + first, start + first + word.length);
  }
}
