import { commands } from './commands.ts';
import { plain } from './render/text.ts';
import { typedAdvice } from './typed.ts';

const commandNames = commands.map(({ name }) => name);

/** What went wrong, as it is told. */
export interface Told {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Tells what went wrong: as text, or where JSON was asked for as JSON. Gives the exit code back. */
export function report({ code, message, hint }: Told, asksJson: boolean, exitCode: number): number {
  if (asksJson) process.stderr.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
  else
    process.stderr.write(
      `${plain(message)}\n${hint === undefined ? '' : `${typedAdvice(plain(hint), commandNames)}\n`}`,
    );
  return exitCode;
}
