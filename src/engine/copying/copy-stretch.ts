import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { refsIn } from '../../core/parts/decode.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import { later, type Seq } from '../../core/point.ts';
import { carriesEvent, storedKeys } from '../../core/store/event-keys.ts';
import type { BranchSummary, RestoredEvent, StoredEvent } from '../../core/store/event-store.ts';
import { sessionRef } from '../context/engine.ts';
import { readParts } from '../history/stored-events.ts';
import { Bad } from '../proving/verify-damage.ts';
import { proofPages } from '../proving/verify-stretch.ts';
import { pointKey } from './copy-erasures.ts';
import { missingParts, partBatches } from './copy-parts.ts';
import { checkAborted, damagedSource, type Transfer } from './transfer.ts';

/** Copies events of one branch, a batch at a time. Each batch arrives whole or not at all. */
export async function copyStretch(transfer: Transfer, branch: BranchSummary, after: Seq, through: Seq): Promise<void> {
  const { from, session } = transfer;
  const stretch = { branch: branch.branch, after, through, isFork: branch.parent !== undefined };
  let last = after;
  try {
    for await (const rows of proofPages(from, session, stretch)) {
      for (const { seq } of rows) {
        if (seq !== later(last, 1)) throw new Bad(later(last, 1), `seq ${last + 1} is missing`);
        last = seq;
      }
      await copyRows(transfer, branch, rows as readonly Required<StoredEvent>[]);
    }
    if (last !== through) throw new Bad(later(last, 1), `seq ${last + 1} is missing`);
  } catch (error) {
    throw error instanceof Bad ? damagedSource(transfer, branch.branch, error.seq, error.message, error) : error;
  }
}

/** Cuts rows into batches that fit together with their parts; the next batch starts with the size that fitted last. */
async function copyRows(
  transfer: Transfer,
  branch: BranchSummary,
  rows: readonly Required<StoredEvent>[],
): Promise<void> {
  let from = 0;
  while (from < rows.length) {
    checkAborted(transfer);
    const some = rows.slice(from, from + transfer.batchEvents);
    const parts = await missingParts(transfer, branch.branch, some);
    if (parts === undefined && some.length > 1) {
      transfer.batchEvents = Math.ceil(some.length / 2);
      continue;
    }
    // One event may need more parts than fit into a batch: then they go first, deepest parts ahead.
    if (parts === undefined) await copyPartsAhead(transfer, branch, some);
    await restore(transfer, branch, some, parts ?? []);
    from += some.length;
    transfer.batchEvents = Math.min(limits.pageEventsMax, transfer.batchEvents * 2);
  }
}

async function copyPartsAhead(
  transfer: Transfer,
  branch: BranchSummary,
  rows: readonly Required<StoredEvent>[],
): Promise<void> {
  const { to, target } = transfer;
  const isThere = (await to.store.branchHead({ ...sessionRef(to, target), branch: branch.branch })) !== undefined;
  const holder = isThere ? branch.branch : (branch.parent?.branch ?? branch.branch);
  for await (const parts of partBatches(transfer, branch.branch, rows)) {
    checkAborted(transfer);
    const batch = { ...sessionRef(to, target), branch: holder, events: [], parts };
    await to.store.restore(batch);
    transfer.onBatch?.(batch);
  }
}

async function restore(
  transfer: Transfer,
  branch: BranchSummary,
  rows: readonly Required<StoredEvent>[],
  parts: readonly PartInput[],
): Promise<void> {
  const { to, target, onWritten } = transfer;
  const events = await withKeys(transfer, branch.branch, rows);
  const { parent } = branch;
  const place = { ...sessionRef(to, target), branch: branch.branch, ...given({ parent }) };
  const batch = { ...place, events, parts };
  await to.store.restore(batch);
  transfer.onBatch?.(batch);
  onWritten(events.length);
}

/** Adds to events their keys: those that an erasure kept, or those of the payload. */
async function withKeys(
  { from, session, erasures }: Transfer,
  branch: string,
  rows: readonly Required<StoredEvent>[],
): Promise<RestoredEvent[]> {
  // Only markers that carry an event have keys in parts.
  const sealed = rows.filter(({ type }) => carriesEvent(type)).flatMap(({ data }) => refsIn(data ?? ''));
  const parts = await readParts(from, session, sealed, { depth: 'asked' });
  return rows.map(({ branch: _branch, ...row }) => {
    const left = erasures.keys.get(pointKey(branch, row.seq));
    return { ...row, keys: left ?? storedKeys(row, (digest) => parts.get(digest)) };
  });
}
