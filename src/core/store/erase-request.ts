import { RepriseError } from '../error.ts';
import { isStructural } from '../event/families/structural.ts';
import type { PartInput } from '../parts/parts.ts';
import type { Digest, Point, Seq } from '../point.ts';
import type { AppendOutcome, AppendRequest } from './append-request.ts';
import type { SessionRef } from './session-ref.ts';

/** The payloads and parts that an erasure removes. The engine plans all of it; the store carries it out atomically. */
export interface EraseRequest extends SessionRef {
  /** Events that lose their skeleton and salt; the data digest stays. */
  readonly events: readonly { readonly branch: string; readonly seq: Seq; readonly dataDigest: Digest }[];
  /** Parts this session lets go; the store deletes a part that no session of the namespace has any more. */
  readonly parts: readonly Digest[];
  /** Parts that get a new text under their old digest: lists with a hole, bodies whose base goes. */
  readonly rewrites: readonly PartInput[];
  /** The `payload.erased` events, one append for each branch, written in the same transaction. */
  readonly appends: readonly AppendRequest[];
  /**
   * The number of erasures that the session must have had so far, else `append.conflict`: a rewrite planned before a
   * different erasure would bring back what that one removed.
   */
  readonly erasures?: number;
}

/** The outcome of an erasure. */
export interface EraseOutcome {
  /** One for each append of the request. */
  readonly appends: readonly AppendOutcome[];
  /**
   * The places that the store could not overwrite yet, in words; it keeps trying. Places that are out of its reach,
   * such as backups, are not among them.
   */
  readonly remains: readonly string[];
}

/** Refuses an erasure that was planned before a different one was stored. */
export function checkErasures({ session, erasures }: EraseRequest, actual: number): void {
  if (erasures === undefined || erasures === actual) return;
  throw new RepriseError(
    'append.conflict',
    `Cannot erase in session "${session}": a different erasure was stored first`,
    {
      hint: 'Look again for the events that hold the content, and erase those.',
      details: { session, expected: erasures, actual },
    },
  );
}

/** Refuses to erase an event that does not exist (its type is undefined) or is structural. */
export function checkErasable({ branch, seq }: Point, type: string | undefined): asserts type is string {
  if (type === undefined)
    throw new RepriseError('event.not-found', `Cannot erase "${branch}@${seq}": there is no such event`, {
      details: { branch, seq },
    });
  if (isStructural(type))
    throw new RepriseError(
      'event.structural',
      `Cannot erase "${branch}@${seq}": it is a structural event ("${type}")`,
      { hint: 'Erase the event it carries, or revert it.', details: { branch, seq } },
    );
}
