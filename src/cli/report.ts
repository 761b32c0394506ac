import { withoutPassword } from '../core/store/store-url.ts';
import { plain } from '../wording/text.ts';
import { commands } from './commands.ts';
import { jsonText } from './terminal/json-text.ts';
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
  if (asksJson) process.stderr.write(`${jsonText({ error: { code, message, hint: hint ?? null } })}\n`);
  else
    process.stderr.write(
      `${plain(message)}\n${hint === undefined ? '' : `${typedAdvice(plain(hint), commandNames)}\n`}`,
    );
  return exitCode;
}

/**
 * Removes the passwords of this command line from text: an error repeats a URL that was given in the wrong place, as it
 * is or quoted.
 */
function withoutPasswords(text: string): string {
  const words = [...process.argv.slice(2), process.env['REPRISE_STORE'] ?? ''];
  const urls = words.map((word) => word.replace(/^--store=/, '')).filter((word) => /[:=].*@|password=/is.test(word));
  return urls
    .flatMap((url) => [
      [url, withoutPassword(url)] as const,
      [JSON.stringify(url).slice(1, -1), JSON.stringify(withoutPassword(url)).slice(1, -1)] as const,
    ])
    .reduce((held, [url, shown]) => held.replaceAll(url, shown), text);
}
