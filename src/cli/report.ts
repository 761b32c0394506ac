import { withoutPassword } from '../core/store/store-url.ts';
import { plain } from '../wording/text.ts';
import { commands } from './commands.ts';
import { typedAdvice } from './typed.ts';

const commandNames = commands.map(({ name }) => name);

/** An error as the command line reports it. */
export interface Reported {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Writes an error to stderr, as text or JSON, and returns the exit code. */
export function report(error: Reported, asksJson: boolean, exitCode: number): number {
  const { code } = error;
  const message = withoutPasswords(error.message);
  const hint = error.hint === undefined ? undefined : withoutPasswords(error.hint);
  if (asksJson) process.stderr.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
  else
    process.stderr.write(
      `${plain(message)}\n${hint === undefined ? '' : `${typedAdvice(plain(hint), commandNames)}\n`}`,
    );
  return exitCode;
}

/** Removes the passwords of this command line from text: an error repeats a URL that was given in the wrong place. */
function withoutPasswords(text: string): string {
  const urls = [...process.argv.slice(2), process.env['REPRISE_STORE'] ?? ''].map((word) =>
    word.replace(/^--store=/, ''),
  );
  return urls.reduce((held, url) => (url.includes('://') ? held.replaceAll(url, withoutPassword(url)) : held), text);
}
