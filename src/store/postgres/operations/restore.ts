import { hasCode } from '../../../core/error.ts';
import type { Platform } from '../../../core/store/event-store.ts';
import type { RestoreOutcome, RestoreRequest } from '../../../core/store/restore-request.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { AppendGroup } from './append.ts';
import { countErased } from './parts.ts';

/** Where a restored branch ends, and the group, whose caches are updated after the commit. */
export interface Restoring {
  readonly outcome: RestoreOutcome;
  readonly group: AppendGroup;
}

/** Judges events of a different store and writes them as they are, inside the caller's transaction. */
export async function restore(
  queries: Queries,
  catalogue: Catalogue,
  platform: Platform,
  request: RestoreRequest,
): Promise<Restoring> {
  const group = new AppendGroup(queries, catalogue, platform);
  const { session, events, outcome, branchId, partBytes } = await group.restore(request);
  await group.write();
  // Counts parts that come ahead of their events.
  if (events.length === 0 && partBytes > 0) await countErased(queries, session, branchId, -partBytes);
  return { outcome, group };
}

/** Restores again if the outcome of the commit is unknown: repeating a restore changes nothing. */
export async function againInDoubt(write: () => Promise<Restoring>): Promise<Restoring> {
  try {
    return await write();
  } catch (error) {
    if (hasCode(error, 'store.unreachable')) return await write();
    throw error;
  }
}
