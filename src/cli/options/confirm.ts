import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { RepriseError } from '../../core/error.ts';

/** The terminal at which a question is asked. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  readonly isTerminal: boolean;
}

/** A question to confirm, and whether to ask it at all. */
export interface Confirmation {
  readonly question: string;
  /** `--yes` was given: do not ask. */
  readonly yes: boolean;
  readonly isJson: boolean;
}

/** Returns the terminal of this process. */
export function processTerminal(): Terminal {
  return { input: process.stdin, output: process.stderr, isTerminal: process.stdin.isTTY === true };
}

/** Asks before doing something that cannot be undone. Without a terminal, or in JSON, `--yes` is required. */
export async function confirm(
  { question, yes, isJson }: Confirmation,
  terminal: Terminal = processTerminal(),
): Promise<boolean> {
  if (yes) return true;
  if (isJson || !terminal.isTerminal) {
    throw new RepriseError('session.not-confirmed', 'Cannot continue without confirmation: this cannot be undone', {
      hint: 'Add --yes to confirm.',
    });
  }
  return (await ask(terminal, `${question} This cannot be undone. Type "yes" to confirm: `)).trim() === 'yes';
}

/** Asks a question and returns the answer; empty if the input ends first. */
export function ask({ input, output }: Terminal, text: string): Promise<string> {
  const reader = createInterface({ input, output });
  // Without a listener, Ctrl-C would leave the question open forever. Pass it on to the program's own handler.
  reader.once('SIGINT', () => {
    output.write('\n');
    reader.close();
    process.kill(process.pid, 'SIGINT');
  });
  return new Promise((resolve) => {
    let isAnswered = false;
    reader.once('close', () => {
      // Start the next message on a new line.
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
