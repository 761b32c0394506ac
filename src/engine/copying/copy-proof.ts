import { hasCode, RepriseError } from '../../core/error.ts';
import { applyEvent, finishValue, initialValue } from '../../core/event/projection.ts';
import type { Seq } from '../../core/point.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { ownSegment } from '../../core/view/segment.ts';
import { fingerprintProjection } from '../../projections/fingerprint.ts';
import type { Engine } from '../context/engine.ts';
import { branchRecord } from '../history/place.ts';
import { readEvents } from '../history/stored-events.ts';
import { verifySession } from '../proving/verify-session.ts';
import type { CopyOptions } from './copy-options.ts';
import { type Standing, standingOf } from './copy-standing.ts';
import { checkAborted, type Transfer } from './transfer.ts';

/** Reads the copy again: its chain must verify, end where the source ends, and have the same fingerprint. */
export async function proveCopy(
  transfer: Transfer,
  source: Standing,
  names: ReadonlySet<string>,
  { onProgress }: CopyOptions,
): Promise<void> {
  const { session } = transfer;
  const target = await standingOf(transfer.to, transfer.target);
  const branches = source.branches.filter(({ branch }) => names.has(branch));
  const total = branches.reduce((sum, { head, parent }) => sum + head - (parent?.seq ?? 0), 0);
  let events = 0;
  const onRead = (count: number): void => {
    transfer.to.onRead(count);
    events = Math.min(total, events + count);
    onProgress?.({ session, stage: 'verifying', events, total });
  };
  const held = new Map(target?.branches.map((branch) => [branch.branch, branch]));
  for (const branch of branches) checkHead(transfer, branch, held.get(branch.branch));
  const [bad] = await verifySession({ ...transfer.to, onRead }, transfer.target, {
    names,
    onBranch: () => checkAborted(transfer),
  });
  if (bad !== undefined) throw notVerified(transfer, bad.branch, bad.seq, bad.reason);
  for (const branch of branches) {
    checkAborted(transfer);
    const left = await fingerprintOf(transfer.from, session, branch);
    const right = await fingerprintOf(transfer.to, transfer.target, branch);
    if (left !== right)
      throw notVerified(transfer, branch.branch, branch.head, `its fingerprint is ${right}, not ${left}`);
    if ((await markersOf(transfer.from, session, branch)) !== (await markersOf(transfer.to, transfer.target, branch)))
      throw notVerified(transfer, branch.branch, branch.head, 'different events change its view');
  }
}

function checkHead(transfer: Transfer, { branch, head, digest }: BranchSummary, held: BranchSummary | undefined): void {
  if (held?.head === head && held.digest === digest) return;
  throw notVerified(
    transfer,
    branch,
    head,
    `it ends at seq ${held?.head ?? 0}, with a different digest than the source`,
  );
}

/**
 * Folds the events that a branch stores itself, at either end, without snapshots. The parent's fold covers the inherited
 * ones, so that the proof of a session reads each event once.
 */
async function fingerprintOf(engine: Engine, session: string, branch: BranchSummary): Promise<string> {
  const projection = fingerprintProjection(engine.platform.sha256);
  let value = initialValue(projection);
  try {
    const quiet = { ...engine, onRead: () => undefined };
    for await (const { events } of readEvents(quiet, session, [ownSegment(branch)]))
      for (const event of events) value = applyEvent(projection, value, event);
    return finishValue(projection, value);
  } catch (error) {
    // Events of a newer release can be copied and verified, but not folded.
    if (hasCode(error, 'event.newer-version')) return error.code;
    throw error;
  }
}

/** Returns the markers that a branch stores, as its store applies them. */
async function markersOf(engine: Engine, session: string, { branch }: BranchSummary): Promise<string> {
  const { markers } = await branchRecord(engine, session, branch);
  return JSON.stringify(markers.filter((marker) => marker.branch === branch));
}

function notVerified({ session }: Transfer, branch: string, seq: Seq, why: string): RepriseError {
  return new RepriseError(
    'copy.not-verified',
    `Cannot copy session "${session}": "${branch}" at the target does not match the source: ${why}`,
    {
      hint: 'Check the target with "reprise doctor", and copy again.',
      details: { session, branch, seq },
    },
  );
}
