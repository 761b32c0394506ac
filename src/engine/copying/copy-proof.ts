import { hasCode, RepriseError } from '../../core/error.ts';
import type { Seq } from '../../core/point.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { fingerprintProjection } from '../../projections/fingerprint.ts';
import type { Engine } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { findPlace } from '../history/place.ts';
import { verifyBranch } from '../proving/verify-branch.ts';
import { Bad } from '../proving/verify-damage.ts';
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
  for (const branch of branches) {
    checkAborted(transfer);
    checkHead(transfer, branch, target);
    await proveChain({ ...transfer.to, onRead }, transfer, branch);
  }
  for (const { branch, head } of branches) {
    checkAborted(transfer);
    const left = await fingerprintOf(transfer.from, session, branch, head);
    const right = await fingerprintOf(transfer.to, transfer.target, branch, head);
    if (left !== right) throw notVerified(transfer, branch, head, `its fingerprint is ${right}, not ${left}`);
  }
}

function checkHead(transfer: Transfer, { branch, head, digest }: BranchSummary, target: Standing | undefined): void {
  const held = target?.branches.find((other) => other.branch === branch);
  if (held?.head === head && held.digest === digest) return;
  throw notVerified(
    transfer,
    branch,
    head,
    `it ends at seq ${held?.head ?? 0}, with a different digest than the source`,
  );
}

async function proveChain(to: Engine, transfer: Transfer, { branch }: BranchSummary): Promise<void> {
  try {
    await verifyBranch(to, transfer.target, branch);
  } catch (error) {
    throw error instanceof Bad ? notVerified(transfer, branch, error.seq, error.message) : error;
  }
}

/** Folds from the start at both ends: uses no snapshot, and leaves none at the source. */
async function fingerprintOf(engine: Engine, session: string, branch: string, seq: Seq): Promise<string> {
  const place = await findPlace(engine, session, { branch, seq });
  try {
    const projection = fingerprintProjection(engine.platform.sha256);
    return await foldAt({ ...engine, onRead: () => undefined }, place, projection, false);
  } catch (error) {
    // Events of a newer release can be copied and verified, but not folded.
    if (hasCode(error, 'event.newer-version')) return error.code;
    throw error;
  }
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
