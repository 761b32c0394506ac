import { genesisDigest } from '../../core/parts/digest.ts';
import { beginning } from '../../core/point.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { branchNotFound } from '../../core/store/store-state.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { branchRecord, locate, sessionRecord } from '../history/place.ts';
import { checkEnd, checkMarkers, lineageOf, stretchesOf } from './verify.ts';
import { ChainCheck } from './verify-chain.ts';
import { Bad } from './verify-damage.ts';
import { erasuresOf, unsoundErasure } from './verify-erasures.ts';

/**
 * Checks the events that one branch stores itself, from its fork point on. Its parent's check covers the inherited ones,
 * so checking every branch of a session reads each event once. Throws the first {@link Bad}.
 */
export async function verifyBranch(engine: Engine, session: string, name: string): Promise<void> {
  const record = await sessionRecord(engine, session);
  if (genesisDigest(engine.platform.sha256, record.seed) !== record.genesis)
    throw new Bad(beginning, "the session's genesis does not match its seed");
  const summaries = await engine.store.branches(sessionRef(engine, session));
  const branches = new Map(summaries.map((held) => [held.branch, held]));
  const summary = branches.get(name);
  if (summary === undefined) throw branchNotFound({ session, branch: name }, 'verify');
  const lineage = stretchesOf(branches, summary);
  const check = new ChainCheck(engine, session, await erasuresOf(engine, session, summaries), undefined);
  check.begin(record.genesis);
  const { parent, head: through } = summary;
  if (parent !== undefined) await inherit(engine, session, check, parent);
  await check.stretch(
    { branch: name, after: parent?.seq ?? beginning, through, isFork: parent !== undefined },
    lineage,
  );
  checkEnd(check, summary, branches);
  await checkMarkers(engine, { record, branches, summary, through }, check.markers);
  const unsound = await unsoundErasure(engine, record, check.debts, lineage, (branch) => lineageOf(branches, branch));
  if (unsound !== undefined) throw unsound;
}

/** Starts the check at the fork point; the parent's own check finds damage before it. */
async function inherit(
  engine: Engine,
  session: string,
  check: ChainCheck,
  parent: NonNullable<BranchSummary['parent']>,
): Promise<void> {
  const { digest } = await locate(engine, session, parent);
  const { markers } = await branchRecord(engine, session, parent.branch);
  check.digest = digest;
  check.seq = parent.seq;
  check.markers.push(...markers.filter(({ seq }) => seq <= parent.seq));
}
