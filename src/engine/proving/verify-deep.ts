import { beginning } from '../../core/point.ts';
import type { BranchSummary, SessionRecord } from '../../core/store/event-store.ts';
import { FaultList, type ReindexOutcome } from '../../core/store/reindex-request.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { isDamage } from './verify-damage.ts';
import { verifySession } from './verify-session.ts';
import { type AnyProjection, SnapshotCheck } from './verify-snapshots.ts';

/** The faults of a whole session: all are counted, and the first ones are named. */
export interface DeepVerification extends ReindexOutcome {
  /** How many branches were checked. */
  readonly branches: number;
}

/** The same, and the projections of snapshots that could not be compared because their fold is not known. */
export interface DeepResult extends DeepVerification {
  readonly unknown: readonly string[];
}

/**
 * Checks every branch of a session, compares what is derived with the log, and asks the store to check itself. Writes
 * nothing.
 */
export async function verifyDeep(
  engine: Engine,
  record: SessionRecord,
  own: readonly AnyProjection[],
): Promise<DeepResult> {
  const { problems } = await engine.store.health({ deep: true });
  const faults = new FaultList();
  for (const { message } of problems)
    faults.add({ kind: 'event', branch: record.root, seq: beginning, message: `the store says: ${message}` });
  return checkDeep(engine, record, own, faults);
}

/** Does the same for one session of many, after the store has checked itself once. */
export async function checkDeep(
  engine: Engine,
  record: SessionRecord,
  own: readonly AnyProjection[],
  faults: FaultList = new FaultList(),
): Promise<DeepResult> {
  const ref = sessionRef(engine, record.session);
  const summaries = await engine.store.branches(ref);
  const damaged = await verifySession(engine, record.session);
  for (const { branch, seq, reason } of damaged) faults.add({ kind: 'event', branch, seq, message: reason });
  const snapshots = new SnapshotCheck(engine, record, own, faults);
  // Nothing can be held against a log that is damaged.
  if (damaged.length === 0) await compare(engine, record, { summaries, snapshots, faults });
  return { branches: summaries.length, ...faults.outcome, unknown: [...snapshots.unknown] };
}

async function compare(
  engine: Engine,
  { session, root }: SessionRecord,
  {
    summaries,
    snapshots,
    faults,
  }: { readonly summaries: readonly BranchSummary[]; readonly snapshots: SnapshotCheck; readonly faults: FaultList },
): Promise<void> {
  try {
    faults.addAll(await engine.store.reindex(sessionRef(engine, session), { dryRun: true }));
    for (const summary of summaries) await snapshots.branch(summary);
  } catch (error) {
    if (!isDamage(error)) throw error;
    faults.add({ kind: 'event', branch: root, seq: beginning, message: error.message });
  }
}
