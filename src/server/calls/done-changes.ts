import { createHash } from 'node:crypto';
import { BoundedMap } from '../../core/bounded-map.ts';
import { RepriseError } from '../../core/error.ts';
import type { Grant } from '../guarding/grant.ts';

/** Changes that a server remembers; the oldest go first. */
const changesMax = 10_000;

/** A change that a client asks for, perhaps again. */
interface AskedChange {
  readonly call: string;
  /** The same for every attempt; empty if the client gave none. */
  readonly requestId: string;
  /** Everything else that was asked for. */
  readonly request: unknown;
  /** Whether the change itself refuses an id that was used for a different one: the store knows the ids of events. */
  readonly isEvent?: true;
}

interface DoneChange {
  /** The fingerprint of the change. */
  readonly asked: string;
  readonly answer: Promise<unknown>;
}

/**
 * Remembers changes by the id of their request, so that a client whose answer was lost gets the answer of the change
 * that was made, instead of a second change.
 */
export class DoneChanges {
  readonly #changes = new BoundedMap<string, DoneChange>(changesMax);

  /** Makes a change once for each id of a token; a change that failed may be tried again. */
  async once<Answer>({ token }: Grant, change: AskedChange, make: () => Promise<Answer>): Promise<Answer> {
    if (change.requestId === '') return await make();
    const key = `${token}\n${change.requestId}`;
    const asked = fingerprint(change);
    const known = this.#changes.get(key);
    // The answer to a different change would be a wrong answer.
    const isOther = known !== undefined && known.asked !== asked;
    if (isOther && change.isEvent === true) return await make();
    if (isOther) throw usedBefore(change);
    if (known !== undefined) return (await known.answer) as Answer;
    const answer = make();
    this.#changes.set(key, { asked, answer });
    answer.catch(() => this.#changes.delete(key));
    return await answer;
  }

  /** Forgets the change of an id: a new one with the same id begins. */
  forget({ token }: Grant, requestId: string): void {
    this.#changes.delete(`${token}\n${requestId}`);
  }
}

/** Returns the same text for the same change, however large it is. */
function fingerprint({ call, request }: AskedChange): string {
  return createHash('sha256')
    .update(JSON.stringify([call, request], wholeNumbers))
    .digest('base64');
}

function wholeNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function usedBefore({ call, requestId }: AskedChange): RepriseError {
  return new RepriseError('option.invalid', `Cannot answer ${call}: its request id was used for a different change`, {
    hint: 'Use a new id for each change, and the same one only to ask again.',
    details: { path: 'requestId', requestId: requestId.slice(0, 200) },
  });
}
