import { genesisDigest } from '../../core/parts/digest.ts';
import { beginning } from '../../core/point.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { branchRecord, locate, sessionRecord } from '../history/place.ts';
import { checkEnd, checkMarkers, stretchesOf } from './verify.ts';
import { ChainCheck } from './verify-chain.ts';
import { Bad } from './verify-damage.ts';
import { erasuresOf, unsoundErasure } from './verify-erasures.ts';

/**
 * Checks what one branch stores itself, from where it was forked: what it inherits is checked with its parent, so that
 * checking every branch of a session reads each event once. Throws the first {@link Bad} thing.
 */
export async function verifyBranch(engine: Engine, session: string, name: string): Promise<void> {
  const record = await sessionRecord(engine, session);
  if (genesisDigest(engine.platform.sha256, record.seed) !== record.genesis)
    throw new Bad(beginning, "the session's genesis is not made of its seed");
  const summaries = await engine.store.branches(sessionRef(engine, session));
  const branches = new Map(summaries.map((held) => [held.branch, held]));
  const summary = branches.get(name) as BranchSummary;
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
  const lineageOf = (branch: string) => stretchesOf(branches, branches.get(branch) as BranchSummary);
  const unsound = await unsoundErasure(engine, record, check.debts, lineage, lineageOf);
  if (unsound !== undefined) throw unsound;
}

/** Begins where the parent was left; a parent that is not sound is found when it is checked itself. */
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
