import { type PartPlan, planParts } from '../../../core/parts/part-plan.ts';
import type { Platform } from '../../../core/store/event-store.ts';
import { judgeRestore, type RestoredRow } from '../../../core/store/restore.ts';
import { type RestoreOutcome, type RestoreRequest } from '../../../core/store/restore-request.ts';
import type { BranchRow, Catalogue, SessionRow } from '../catalogue.ts';
import type { Database } from '../database.ts';
import { addFork, heldBranch, sessionOf, sourceOf, writeRows } from './append.ts';
import { bytesOfParts, erasedBytesSql, holdParts, partLookupOf } from './parts.ts';

/** Judges events of a different store and writes them as they are, inside the caller's transaction. */
export function restore(
  database: Database,
  catalogue: Catalogue,
  platform: Platform,
  request: RestoreRequest,
): RestoreOutcome {
  const session = sessionOf(catalogue, request);
  const { events, after, isNewBranch } = judgeRestore(sourceOf(database, catalogue, session), request, platform);
  const parts = planParts(partLookupOf(database, session, request.parts), request.parts, platform.sha256);
  const branch = branchOf(database, catalogue, session, request, isNewBranch);
  if (events.length > 0) {
    writeRows(database, catalogue, session, branch, { events, after }, bytesOfParts(parts));
    keepDigests(database, branch, events);
    catalogue.touch(session);
  } else countParts(database, branch, parts);
  holdParts(database, session, branch, parts);
  catalogue.setState(branch, after);
  return { head: after.history.head, digest: after.digest };
}

function branchOf(
  database: Database,
  catalogue: Catalogue,
  session: SessionRow,
  { branch, parent }: RestoreRequest,
  isNew: boolean,
): BranchRow {
  return isNew && parent !== undefined
    ? addFork(database, catalogue, session, { branch, parent })
    : heldBranch(catalogue, session, branch);
}

/** Keeps the digests of erased payloads. */
function keepDigests(database: Database, branch: BranchRow, events: readonly RestoredRow[]): void {
  for (const { seq, dataDigest } of events) {
    if (dataDigest === null) continue;
    database.run('UPDATE events SET data_digest = ? WHERE branch_id = ? AND seq = ?', dataDigest, branch.id, seq);
  }
}

/** Counts parts that come ahead of their events. */
function countParts(database: Database, branch: BranchRow, parts: readonly PartPlan[]): void {
  const bytes = bytesOfParts(parts);
  if (bytes > 0) database.run(erasedBytesSql, -bytes, branch.id);
}
