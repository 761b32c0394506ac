import { withoutPassword } from '../core/store/store-url.ts';
import type { GlobalOptions } from './global-options.ts';

/**
 * Writes a command as this person can type it: through npm in a clone, through npx where it is installed, and with the
 * store and namespace just used. Passwords are left out, since others may see the screen or read the log.
 */
export function typed(
  command: string,
  { store, namespace }: GlobalOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const words = command.replace(/^reprise\b/, program(env));
  const more = [
    ...(store === undefined ? [] : ['--store', quoted(withoutPassword(store))]),
    ...(namespace === undefined ? [] : ['--namespace', quoted(namespace)]),
  ];
  return [words, ...more].join(' ');
}

/** Rewrites the commands in a hint as this person can type them. */
export function typedAdvice(
  advice: string,
  commands: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const mentioned = new RegExp(String.raw`\breprise (?=(?:${commands.join('|')}|--help)\b)`, 'g');
  return advice.replace(mentioned, `${program(env)} `);
}

function program(env: Readonly<Record<string, string | undefined>>): string {
  if (env['npm_lifecycle_event'] === 'reprise') return 'npm run -s reprise --';
  return env['npm_command'] === 'exec' ? 'npx reprise' : 'reprise';
}

/** Quotes a word for a shell if it needs quotes. */
export function quoted(word: string): string {
  return /^[\w./:@%=,+~-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
