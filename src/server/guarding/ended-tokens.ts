import { hasCode } from '../../core/error.ts';
import { cutOff } from '../http/cut-off.ts';
import type { HttpResponse } from '../http/listener.ts';

/** How often the tokens of open answers are checked again. */
const everyMs = 1_000;

/** Ends the answers to tokens that have expired or were revoked: a follower would get events for as long as it likes. */
export class EndedTokens {
  readonly #open: ReadonlySet<HttpResponse>;
  readonly #authenticate: (authorization: string | undefined) => Promise<unknown>;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(open: ReadonlySet<HttpResponse>, authenticate: (authorization: string | undefined) => Promise<unknown>) {
    this.#open = open;
    this.#authenticate = authenticate;
    this.#timer = setInterval(() => void this.#look(), everyMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const byToken = Map.groupBy(this.#open, ({ req }) => req.headers.authorization);
    for (const [token, responses] of byToken) {
      if (token === undefined) continue;
      try {
        await this.#authenticate(token);
      } catch (error) {
        // A store that is gone for a moment says nothing about a token.
        if (hasCode(error, 'token.invalid')) for (const response of responses) cutOff(response);
      }
    }
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.#timer);
  }
}
