import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Engine } from '../context/engine.ts';
import { branchHead } from '../history/place.ts';
import { append } from './append.ts';

/** The metadata key of an archived branch. A fork of it does not inherit the key. */
export const archivedKey = 'reprise.archived';

/** How to archive a branch. */
export interface ArchiveOptions {
  /** Why, for the log. */
  readonly reason?: string;
  /** Shows the branch again. */
  readonly undo?: boolean;
}

const archiveKeys: KnownKeys = optionKeys<ArchiveOptions>(
  'archive the branch',
  { reason: true, undo: true },
  'archiving',
);

/** Hides a branch from listings, or shows it again. Nothing is removed, and every verb still works on it. */
export async function archiveBranch(
  engine: Engine,
  session: string,
  branch: string,
  options: ArchiveOptions = {},
): Promise<void> {
  checkKeys(options, archiveKeys);
  const { parent } = await branchHead(engine, session, branch);
  if (parent === undefined)
    throw new RepriseError('branch.in-use', `Cannot archive "${branch}": session "${session}" began with it`, {
      hint: 'Archive a fork, or delete the whole session.',
      details: { session, branch },
    });
  const { reason, undo = false } = options;
  const archived = undo ? null : { at: engine.platform.now(), ...given({ reason }) };
  await append(engine, session, { type: 'metadata.changed', data: { set: { [archivedKey]: archived } } }, { branch });
}
