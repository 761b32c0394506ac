import { hasCode } from '../../../core/error.ts';
import type { Platform } from '../../../core/store/event-store.ts';
import type { RestoreOutcome, RestoreRequest } from '../../../core/store/restore-request.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Queries } from '../connection.ts';
import { AppendGroup } from './append.ts';
import { countErased } from './parts.ts';

/** What restoring did: where the branch ends, and the group that is told once it is committed. */
export interface Restoring {
  readonly outcome: RestoreOutcome;
  readonly group: AppendGroup;
}

/** Judges events of another store and writes them as they are, inside the caller's transaction. */
export async function restore(
  queries: Queries,
  catalogue: Catalogue,
  platform: Platform,
  request: RestoreRequest,
): Promise<Restoring> {
  const group = new AppendGroup(queries, catalogue, platform);
  const { session, events, outcome, branchId, partBytes } = await group.restore(request);
  await group.write();
  // Parts that come ahead of their events count at once.
  if (events.length === 0 && partBytes > 0) await countErased(queries, session, branchId, -partBytes);
  return { outcome, group };
}

/** Nothing is restored twice: where it is not known whether it was committed, it is sent again. */
export async function againInDoubt(write: () => Promise<Restoring>): Promise<Restoring> {
  try {
    return await write();
  } catch (error) {
    if (hasCode(error, 'store.unreachable')) return await write();
    throw error;
  }
}
