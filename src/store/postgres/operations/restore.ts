import { RepriseError } from '../../../core/error.ts';
import type { Platform } from '../../../core/ports.ts';
import type { RestoredRow, RestoreOutcome, RestoreRequest } from '../../../core/restore.ts';
import { arrayLiteral } from '../array-literal.ts';
import type { Catalogue, SessionKey } from '../catalogue.ts';
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
  await keepDigests(queries, session, branchId, events);
  return { outcome, group };
}

/** Nothing is restored twice: where it is not known whether it was committed, it is sent again. */
export async function againInDoubt(write: () => Promise<Restoring>): Promise<Restoring> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof RepriseError && error.code === 'store.unreachable') return await write();
    throw error;
  }
}

/** What is left of erased payloads. */
async function keepDigests(
  queries: Queries,
  { namespaceId, id }: SessionKey,
  branchId: number,
  events: readonly RestoredRow[],
): Promise<void> {
  const erased = events.filter(({ dataDigest }) => dataDigest !== null);
  if (erased.length === 0) return;
  await queries.run(
    `UPDATE events e SET data_digest = kept.digest FROM unnest($4::bigint[], $5::text[]) kept (seq, digest)
     WHERE e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = $3 AND e.seq = kept.seq`,
    namespaceId,
    id,
    branchId,
    arrayLiteral(erased.map(({ seq }) => seq)),
    arrayLiteral(erased.map(({ dataDigest }) => dataDigest)),
  );
}
