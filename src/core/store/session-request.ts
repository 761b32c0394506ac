import { RepriseError } from '../error.ts';
import type { Digest } from '../point.ts';
import type { BranchSummary } from './branch-record.ts';
import type { SessionRef } from './session-ref.ts';

/** A session in a listing. */
export interface SessionRecord extends SessionRef {
  /** The random text that the genesis digest is made from. */
  readonly seed: string;
  readonly genesis: Digest;
  /** The first branch of the session. */
  readonly root: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** How many payloads were erased; part of every snapshot's key. */
  readonly erasures: number;
}

/** How to list sessions, the one last appended to first. */
export interface SessionsRequest {
  /** All namespaces when left out. */
  readonly namespace?: string;
  readonly limit: number;
  /** Continues after a page: its `next`. */
  readonly cursor?: string;
}

/** Some sessions. */
export interface SessionsPage {
  readonly sessions: readonly SessionRecord[];
  /** The position of the last session, in digits; it rises whenever a session becomes the last that was appended to. */
  readonly next?: string;
}

/** The fields of a new session. */
export interface NewSession {
  /** The name of its first branch. */
  readonly root: string;
  /** The random text that its genesis digest is made from. */
  readonly seed: string;
  /** When it was created elsewhere; now if left out. */
  readonly createdAt?: string;
  /** How many payloads were erased in the store it comes from; 0 if left out. */
  readonly erasures?: number;
}

/** The new id of a session. */
export interface RenameRequest {
  readonly to: string;
  /** The branches of the session to replace, each with the digest at its head. */
  readonly replaces?: readonly Pick<BranchSummary, 'branch' | 'digest'>[];
}

/** The error for a session that does not exist. */
export function sessionNotFound(ref: SessionRef): RepriseError {
  return new RepriseError('session.not-found', `Cannot find session "${ref.session}" in namespace "${ref.namespace}"`, {
    hint: 'List the sessions of the namespace, or create the session first.',
    details: { namespace: ref.namespace, session: ref.session },
  });
}

/** The error for an id that is taken. */
export function sessionExists({ namespace, session }: SessionRef, attempted = 'create session'): RepriseError {
  return new RepriseError(
    'session.exists',
    `Cannot ${attempted} "${session}": namespace "${namespace}" has a session of that id`,
    {
      hint: 'Choose a different id, or open the existing session.',
      details: { namespace, session },
    },
  );
}

/** Refuses to replace a session whose branches do not end where the caller expects. */
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
    `Cannot replace session "${to}": someone wrote to it after the caller read it`,
    {
      hint: 'Read what was appended since, and decide again.',
      details: { namespace, session: to },
    },
  );
}

/** Beyond every position in the order of a listing. Positions are text: in a busy store they exceed a JavaScript number. */
export const positionMax = '9000000000000000000';

/** Returns the position before which a listing continues, or throws `option.invalid` for a cursor that no listing gave. */
export function positionOf({ cursor }: SessionsRequest): string {
  if (cursor === undefined) return positionMax;
  if (/^\d{1,19}$/.test(cursor) && BigInt(cursor) <= BigInt(positionMax)) return cursor;
  throw new RepriseError(
    'option.invalid',
    'Cannot continue the list of sessions: the cursor is from a different list',
    {
      hint: 'Pass the cursor of the page before, unchanged, or none for the first page.',
      details: { option: 'cursor' },
    },
  );
}
