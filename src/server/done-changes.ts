import { BoundedMap } from '../core/bounded-map.ts';
import type { Grant } from './grant.ts';

/** Changes that a server remembers; the oldest go first. */
const changesMax = 10_000;

/**
 * Remembers changes by the id of their request, so that a client whose answer was lost gets the answer of the change
 * that was made, instead of a second change.
 */
export class DoneChanges {
  readonly #changes = new BoundedMap<string, Promise<unknown>>(changesMax);

  /** Makes a change once for each id of a token; a change that failed may be tried again. */
  once<Answer>({ token }: Grant, requestId: string, change: () => Promise<Answer>): Promise<Answer> {
    if (requestId === '') return change();
    const key = `${token}\n${requestId}`;
    const known = this.#changes.get(key);
    if (known !== undefined) return known as Promise<Answer>;
    const answer = change();
    this.#changes.set(key, answer);
    answer.catch(() => this.#changes.delete(key));
    return answer;
  }
}
