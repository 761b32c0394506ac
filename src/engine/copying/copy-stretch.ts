import { RepriseError } from '../../core/error.ts';
import { specOf } from '../../core/event/catalogue.ts';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { DataDecoder, refsIn } from '../../core/parts/decode.ts';
import { keysOf } from '../../core/parts/encode.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import { later, type Seq } from '../../core/point.ts';
import type { BranchSummary, StoredEvent } from '../../core/store/event-store.ts';
import type { RestoredEvent } from '../../core/store/restore.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { partsOf } from '../history/stored-events.ts';
import { Bad } from '../proving/verify-damage.ts';
import { proofPages } from '../proving/verify-stretch.ts';
import { type CopyErasures, placeOf } from './copy-erasures.ts';
import { missingParts, partBatches } from './copy-parts.ts';

/** What the copy of one session works with. */
export interface Transfer {
  readonly from: Engine;
  readonly to: Engine;
  /** The session at the source. */
  readonly session: string;
  /** The session at the target that is written to. */
  readonly target: string;
  readonly erasures: CopyErasures;
  /** Events that were last found to fit into one batch with their parts. */
  batchEvents: number;
  readonly signal: AbortSignal | undefined;
  readonly onWritten: (events: number) => void;
}

/** Copies events of one branch, a batch at a time. Each batch is whole at the target or not there at all. */
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

/** The error for a source that is not what was recorded. */
export function damagedSource(
  { session }: Pick<Transfer, 'session'>,
  branch: string,
  seq: Seq,
  why: string,
  cause?: unknown,
): RepriseError {
  return new RepriseError('event.damaged', `Cannot copy session "${session}": "${branch}" at the source: ${why}`, {
    hint: 'Verify the session at the source: it was damaged or changed there.',
    details: { session, branch, seq },
    cause,
  });
}

/** Cuts rows into batches that fit with the parts they bring; how many events that are is remembered for the next ones. */
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
    // One event may need more than fits into a batch: what its parts refer to goes ahead of them.
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
  const isThere = (await to.store.branch({ ...sessionRef(to, target), branch: branch.branch })) !== undefined;
  const holder = isThere ? branch.branch : (branch.parent?.branch ?? branch.branch);
  for await (const parts of partBatches(transfer, branch.branch, rows)) {
    checkAborted(transfer);
    await to.store.restore({ ...sessionRef(to, target), branch: holder, events: [], parts });
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
  await to.store.restore({ ...place, events, parts });
  onWritten(events.length);
}

/** Events with what they are indexed under: what their erasure has left, or what their payload says. */
async function withKeys(
  { from, session, erasures }: Transfer,
  branch: string,
  rows: readonly Required<StoredEvent>[],
): Promise<RestoredEvent[]> {
  // Of all parts, keys are only made of what markers carry.
  const sealed = rows.filter(({ type }) => isCarrier(type)).flatMap(({ data }) => refsIn(data ?? ''));
  const parts = await partsOf(from, session, sealed, { depth: 'asked' });
  const decoder = new DataDecoder({ get: (digest) => parts.get(digest), isErased: () => true });
  return rows.map(({ branch: _branch, ...row }) => {
    const { type, agent, data, seq } = row;
    const hasKeys = data !== null && (isCarrier(type) || specOf(type)?.keys !== undefined);
    const own = hasKeys ? keysOf({ type, agent: agent ?? undefined, data: decoder.decode(data) }) : [];
    return { ...row, keys: erasures.keys.get(placeOf(branch, seq)) ?? own };
  });
}

const isCarrier = (type: string): boolean => type === 'event.replaced' || type === 'event.inserted';

/** Stops where the caller says so: everything before is at the target, and the next copy goes on there. */
export function checkAborted({ signal, session }: Pick<Transfer, 'signal' | 'session'>): void {
  if (signal?.aborted !== true) return;
  const why = signal.reason instanceof Error ? signal.reason.message : 'the caller stopped it';
  throw new RepriseError('copy.aborted', `Cannot finish the copy of session "${session}": ${why}`, {
    hint: 'Copy again: it goes on where it stopped.',
    details: { session },
    cause: signal.reason,
  });
}
