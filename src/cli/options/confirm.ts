import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { RepriseError } from '../../core/error.ts';

/** Where a question is asked. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  readonly isTerminal: boolean;
}

/** What decides whether to ask. */
export interface Confirmation {
  readonly question: string;
  /** `--yes`: do not ask. */
  readonly yes: boolean;
  readonly isJson: boolean;
}

/** The terminal this process was started at. */
export function processTerminal(): Terminal {
  return { input: process.stdin, output: process.stderr, isTerminal: process.stdin.isTTY === true };
}

/** Asks before something that cannot be undone. Without a terminal, or in JSON, only `--yes` will do. */
export async function confirm(
  { question, yes, isJson }: Confirmation,
  terminal: Terminal = processTerminal(),
): Promise<boolean> {
  if (yes) return true;
  if (isJson || !terminal.isTerminal) {
    throw new RepriseError('session.not-confirmed', 'Cannot go on without a confirmation: this cannot be undone', {
      hint: 'Add --yes.',
    });
  }
  return (await ask(terminal, `${question} This cannot be undone. Type "yes": `)).trim() === 'yes';
}

/** The answer to a question; empty when the input ends first. */
export function ask({ input, output }: Terminal, text: string): Promise<string> {
  const reader = createInterface({ input, output });
  // Without a listener, Ctrl-C would leave the question unanswered for ever. What it means is for the program to say.
  reader.once('SIGINT', () => {
    output.write('\n');
    reader.close();
    process.kill(process.pid, 'SIGINT');
  });
  return new Promise((resolve) => {
    let isAnswered = false;
    reader.once('close', () => {
      // What is said next has a line of its own.
      if (!isAnswered) output.write('\n');
      resolve('');
    });
    reader.question(text, (answer) => {
      isAnswered = true;
      resolve(answer);
      reader.close();
    });
  });
}
