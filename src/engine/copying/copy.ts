import { RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { Digest, Seq } from '../../core/point.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import type { Engine } from '../context/engine.ts';
import { sessionRecord } from '../history/place.ts';
import { copySession } from './copy-session.ts';
import { isStaged } from './copy-standing.ts';

/** What to copy, and how. */
export interface CopyOptions {
  /** The sessions to copy; every one of the namespace if left out, the one appended to last at the end. */
  readonly sessions?: readonly string[];
  /** Only says what would be copied, and refuses what would be refused. */
  readonly dryRun?: boolean;
  /** Told how far the session that is being copied is. */
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Stops between two batches; the next copy goes on there. */
  readonly signal?: AbortSignal;
}

const copyKeys: KnownKeys = optionKeys<CopyOptions>(
  'copy',
  { sessions: true, dryRun: true, onProgress: true, signal: true },
  'a copy',
);

/** How far the copy of a session is. */
export interface CopyProgress {
  readonly session: string;
  /** Events are written first; then all of it is read again and checked. */
  readonly stage: 'copying' | 'verifying';
  /** Events of this stage that are done. */
  readonly events: number;
  /** Events of this stage. */
  readonly total: number;
}

/** What became of one session. */
export interface CopiedSession {
  readonly session: string;
  /**
   * `copied`: it was not at the target. `updated`: it went on from an earlier copy. `replaced`: something was erased at
   * the source since, and the earlier copy was replaced by a new one. `unchanged`: the target had all of it.
   */
  readonly outcome: 'copied' | 'updated' | 'replaced' | 'unchanged';
  /** Events that were written; with `dryRun`, those that would be. */
  readonly written: number;
  /** Where each branch ends, at the source and at the target. */
  readonly branches: readonly { readonly branch: string; readonly head: Seq; readonly digest: Digest }[];
}

/** What was copied. */
export interface Copied {
  readonly sessions: readonly CopiedSession[];
}

/**
 * Copies sessions to another store, or to another namespace: events keep their ids, times and digests. What is there
 * already is not written again, so that a copy goes on where an earlier one stopped.
 */
export async function copy(from: Engine, to: Engine, options: CopyOptions = {}): Promise<Copied> {
  checkKeys(options, copyKeys);
  if (from.store === to.store && from.namespace === to.namespace) {
    throw new RepriseError('option.invalid', `Cannot copy namespace "${from.namespace}" to itself`, {
      hint: 'Give another store, or another namespace of this one.',
    });
  }
  const sessions: CopiedSession[] = [];
  for (const session of await chosen(from, options)) sessions.push(await copySession(from, to, session, options));
  return { sessions };
}

/** The sessions to copy: the target lists them in the order they are copied in. */
async function chosen(from: Engine, { sessions }: CopyOptions): Promise<readonly string[]> {
  if (sessions === undefined) return await allSessions(from);
  for (const session of sessions) await sessionRecord(from, checkId('session', session));
  return [...new Set(sessions)];
}

async function allSessions({ store, namespace }: Engine): Promise<string[]> {
  const found: SessionRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.sessions({
      namespace,
      limit: limits.sessionsPageMax,
      ...given({ cursor }),
    });
    found.push(...page.sessions);
    cursor = page.next;
  } while (cursor !== undefined);
  // What another copy is still bringing here is no session yet.
  return found
    .filter((record) => !isStaged(record))
    .map(({ session }) => session)
    .reverse();
}
