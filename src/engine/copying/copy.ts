import { RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import type { Engine } from '../context/engine.ts';
import { sessionRecord, sessionRecords } from '../history/place.ts';
import type { Copied, CopiedSession, CopyOptions } from './copy-options.ts';
import { copySession } from './copy-session.ts';
import { isStaged } from './copy-standing.ts';

const copyKeys: KnownKeys = optionKeys<CopyOptions>(
  'copy',
  { sessions: 'list', dryRun: 'flag', onProgress: 'function', signal: 'signal' },
  'a copy',
);

/**
 * Copies sessions to a different store or namespace. Events keep their ids, times and digests. A copy continues where an
 * earlier one stopped: it does not write events again.
 */
export async function copy(from: Engine, to: Engine, options: CopyOptions = {}): Promise<Copied> {
  checkKeys(options, copyKeys);
  if (from.store === to.store && from.namespace === to.namespace) {
    throw new RepriseError('option.invalid', `Cannot copy namespace "${from.namespace}" to itself`, {
      hint: 'Give a different store, or a different namespace of this one.',
    });
  }
  const sessions: CopiedSession[] = [];
  for (const session of await chosen(from, options)) sessions.push(await copySession(from, to, session, options));
  return { sessions };
}

/** Returns the sessions to copy, in the order in which the target will list them. */
async function chosen(from: Engine, { sessions }: CopyOptions): Promise<readonly string[]> {
  if (sessions === undefined) return await allSessions(from);
  for (const session of sessions) await sessionRecord(from, checkId('session', session));
  return [...new Set(sessions)];
}

async function allSessions(from: Engine): Promise<string[]> {
  const found: SessionRecord[] = [];
  for await (const record of sessionRecords(from)) found.push(record);
  // Leaves out sessions that a different copy has not finished.
  return found
    .filter((record) => !isStaged(record))
    .map(({ session }) => session)
    .reverse();
}
