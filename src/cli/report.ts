import { plain } from './render/text.ts';

/** What went wrong, as it is told. */
export interface Told {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Tells what went wrong: as text, or where JSON was asked for as JSON. Gives the exit code back. */
export function report({ code, message, hint }: Told, asksJson: boolean, exitCode: number): number {
  if (asksJson) process.stderr.write(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
  else process.stderr.write(`${plain(message)}\n${hint === undefined ? '' : `${plain(hint)}\n`}`);
  return exitCode;
}
