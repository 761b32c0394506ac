import { Code, ConnectError } from '@connectrpc/connect';

/** Looks of one token that are worked on at once; the others wait their turn. */
const looksMax = 4;

interface Line {
  working: number;
  readonly waiting: (() => void)[];
}

/**
 * Works on a few looks of each token at once. A person who scrubs asks for hundreds of points and gives up nearly all
 * of them: a look that no one waits for when its turn comes is not begun.
 */
export class LookQueue {
  readonly #lines = new Map<string, Line>();

  /** Works on a look when its turn comes; throws if it was given up by then, as a call whose client has left does. */
  async inTurn<Answer>(token: string, signal: AbortSignal, look: () => Promise<Answer>): Promise<Answer> {
    const line = this.#lines.get(token) ?? { working: 0, waiting: [] };
    this.#lines.set(token, line);
    if (line.working < looksMax) line.working++;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    try {
      if (signal.aborted) throw new ConnectError('Nobody waits for this look any more', Code.Canceled);
      return await look();
    } finally {
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else if (--line.working === 0) this.#lines.delete(token);
    }
  }
}
