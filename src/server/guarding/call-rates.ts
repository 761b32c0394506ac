import { BoundedMap } from '../../core/bounded-map.ts';
import { RepriseError } from '../../core/error.ts';
import type { Grant } from './grant.ts';

/** Tokens whose rates a server remembers; the one that called longest ago goes first. */
const tokensMax = 10_000;

/** Bounds the calls of each token: so many a second, of which a whole second may come at once. */
export class CallRates {
  readonly #perSecond: number;
  readonly #elapsedMs: () => number;
  readonly #tokens = new BoundedMap<string, { calls: number; atMs: number }>(tokensMax);

  constructor(perSecond: number, elapsedMs: () => number) {
    this.#perSecond = perSecond;
    this.#elapsedMs = elapsedMs;
  }

  /** Counts a call; refuses it if the token has made too many, and says how long to wait. */
  check({ token }: Grant): void {
    const now = this.#elapsedMs();
    const held = this.#tokens.get(token) ?? { calls: 0, atMs: now };
    const calls = Math.max(0, held.calls - ((now - held.atMs) / 1_000) * this.#perSecond);
    const isAllowed = calls + 1 <= this.#perSecond;
    this.#tokens.set(token, { calls: isAllowed ? calls + 1 : calls, atMs: now });
    if (!isAllowed) throw tooMany(this.#perSecond, ((calls + 1 - this.#perSecond) / this.#perSecond) * 1_000);
  }
}

function tooMany(max: number, exactMs: number): RepriseError {
  const waitMs = Math.max(1, Math.ceil(exactMs));
  return new RepriseError('limit.exceeded', `Cannot answer: the token makes more than ${max} calls a second`, {
    hint: `Try again in ${waitMs} ms.`,
    details: { limit: 'serverCallsPerSecondMax', max, waitMs },
  });
}
