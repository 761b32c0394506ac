import { withoutPassword } from '../core/store/store-url.ts';
import { plain } from '../wording/text.ts';
import { commands } from './commands.ts';
import { typedAdvice } from './typed.ts';

const commandNames = commands.map(({ name }) => name);

/** What went wrong, as it is told. */
export interface Told {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Tells what went wrong: as text, or where JSON was asked for as JSON. Gives the exit code back. */
export function report(told: Told, asksJson: boolean, exitCode: number): number {
  const { code } = told;
  const message = withoutPasswords(told.message);
  const hint = told.hint === undefined ? undefined : withoutPasswords(told.hint);
  if (asksJson) process.stderr.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
  else
    process.stderr.write(
      `${plain(message)}\n${hint === undefined ? '' : `${typedAdvice(plain(hint), commandNames)}\n`}`,
    );
  return exitCode;
}

/** Text without the passwords of this command line: a URL in the wrong place is repeated as what it was taken for. */
function withoutPasswords(text: string): string {
  const urls = [...process.argv.slice(2), process.env['REPRISE_STORE'] ?? ''].map((word) =>
    word.replace(/^--store=/, ''),
  );
  return urls.reduce((held, url) => (url.includes('://') ? held.replaceAll(url, withoutPassword(url)) : held), text);
}
