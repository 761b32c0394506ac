import { RepriseError } from '../error.ts';
import type { BranchSummary, Receipt, SessionRef } from './event-store.ts';

/** What a session is made with. */
export interface NewSession {
  /** The branch it begins with. */
  readonly root: string;
  /** What its genesis is made of. */
  readonly seed: string;
  /** When it was made elsewhere; now if left out. */
  readonly createdAt?: string;
  /** How many payloads were erased where it comes from; 0 if left out. */
  readonly erasures?: number;
}

/** The id that a session gets. */
export interface RenameRequest {
  readonly to: string;
  /** The branches of the session that it takes the place of, each with the digest at its head. */
  readonly replaces?: readonly Pick<BranchSummary, 'branch' | 'digest'>[];
}

/** How to read all receipts of a session. */
export interface ReceiptsRequest {
  /** Receipts at most, up to `pageEventsMax`. */
  readonly limit: number;
  /** Continues after this one. */
  readonly after?: Pick<Receipt, 'digest' | 'kind'>;
}

/** The error for a session that does not exist. */
export function sessionNotFound(ref: SessionRef): RepriseError {
  return new RepriseError('session.not-found', `Cannot find session "${ref.session}" in namespace "${ref.namespace}"`, {
    hint: 'List the sessions of the namespace, or create it first.',
    details: { namespace: ref.namespace, session: ref.session },
  });
}

/** The error for an id that is taken. */
export function sessionExists({ namespace, session }: SessionRef, attempted = 'create session'): RepriseError {
  return new RepriseError(
    'session.exists',
    `Cannot ${attempted} "${session}": there is one in namespace "${namespace}"`,
    {
      hint: 'Choose another id, or open the session that is there.',
      details: { namespace, session },
    },
  );
}

/** Refuses to take the place of a session that is not, or no longer, the one that was meant. */
export function checkReplaced(
  { namespace }: SessionRef,
  { to, replaces }: RenameRequest,
  held: readonly Pick<BranchSummary, 'branch' | 'digest'>[],
): void {
  if (replaces === undefined) throw sessionExists({ namespace, session: to }, 'rename a session to');
  const heads = new Map(held.map(({ branch, digest }) => [branch, digest]));
  if (heads.size === replaces.length && replaces.every(({ branch, digest }) => heads.get(branch) === digest)) return;
  throw new RepriseError(
    'append.conflict',
    `Cannot replace session "${to}": it was written to since it was looked at`,
    {
      hint: 'Look at what was appended, and decide again.',
      details: { namespace, session: to },
    },
  );
}
