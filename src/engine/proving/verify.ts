import { hasCode } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import { genesisDigest } from '../../core/parts/digest.ts';
import { beginning, type Digest, later, previous, type Seq } from '../../core/point.ts';
import type { At, Ref } from '../../core/ref.ts';
import type { BranchSummary, SessionRecord } from '../../core/store/event-store.ts';
import { branchNotFound } from '../../core/store/store-state.ts';
import type { Marker } from '../../core/view/marker.ts';
import { inRange } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { branchHead, branchRecord, checkReach, placeAt, sessionRecord } from '../history/place.ts';
import { ChainCheck, type Leads } from './verify-chain.ts';
import { Bad } from './verify-damage.ts';
import { type DeepVerification, verifyDeep } from './verify-deep.ts';
import { erasuresOf, unsoundErasure } from './verify-erasures.ts';
import type { AnyProjection } from './verify-snapshots.ts';
import type { Stretch } from './verify-stretch.ts';

/** How far to verify, and against which digest. */
export interface VerifyOptions {
  /** A digest that you kept: of that point, or of an earlier one that must still be part of the chain. */
  readonly head?: string;
  /**
   * Checks every other branch of the session, too, and compares with the log what is derived from it: the key index,
   * the clocks and the snapshots. Asks the store to check itself, too.
   */
  readonly deep?: boolean;
  /** With `deep`: your own projections, whose snapshots are then compared as well. */
  readonly projections?: readonly AnyProjection[];
}

const verifyKeys: KnownKeys = optionKeys<VerifyOptions>(
  'verify',
  { head: 'text', deep: 'flag', projections: 'list' },
  'a verification',
);

/** The result of a verification. */
export interface Verification {
  readonly ok: boolean;
  /** The number of events that are good, up to the first damage. */
  readonly events: number;
  /** The digest at the end of the chain; null if it is damaged. */
  readonly digest: Digest | null;
  /** The first damaged seq. */
  readonly firstBad: Seq | null;
  readonly reason: string | null;
  /**
   * Damage that this verification could not see: `cut tail` and `rewritten chain` without a digest to compare,
   * `after seq N` for a point in the past, and everything that is not in the chain: `names`, and without `deep`
   * `key index`, `clocks` and `snapshots`.
   */
  readonly notCovered: readonly string[];
  /** The result of a deep verification; null without `deep`, and if the branch itself is damaged. */
  readonly deep: DeepVerification | null;
}

/** Names of sessions, branches and namespaces are in no digest. */
const names = 'names';
const derived = ['key index', 'clocks', 'snapshots'];

/** Recomputes the chain from the beginning to a point, and checks every payload, part and marker against it. */
export async function verify(
  engine: Engine,
  { session, branch, at }: Ref,
  options: VerifyOptions = {},
): Promise<Verification> {
  checkKeys(options, verifyKeys);
  const record = await sessionRecord(engine, session);
  const branches = new Map(
    (await engine.store.branches(sessionRef(engine, session))).map((held) => [held.branch, held]),
  );
  const summary = branches.get(branch);
  if (summary === undefined) return verifyMissing(engine, session, branch);
  const through = await seqOf(engine, session, summary, at);
  const chain = [
    ...(options.head === undefined ? ['cut tail', 'rewritten chain'] : []),
    ...(through < summary.head ? [`after seq ${through}`] : []),
    names,
  ];
  const check = new ChainCheck(engine, session, await erasuresOf(engine, record, branches.values()), {
    held: options.head,
  });
  try {
    await checkBranch(engine, check, { record, branches, summary, through });
    if (options.head !== undefined && !check.hasHeld)
      throw new Bad(
        check.seq,
        `no point of the branch${through < summary.head ? ` up to seq ${through}` : ''} has the digest ${options.head.slice(0, 12)}…: the tail was cut or the chain was rewritten`,
      );
  } catch (error) {
    if (!(error instanceof Bad)) throw error;
    const { seq, message } = error;
    const bad = { digest: null, firstBad: seq, reason: message, notCovered: [...chain, ...derived], deep: null };
    return { ok: false, events: Math.max(0, seq - 1), ...bad };
  }
  const good = { events: check.seq, digest: check.digest, firstBad: null };
  if (options.deep !== true) return { ok: true, ...good, reason: null, notCovered: [...chain, ...derived], deep: null };
  const { unknown, ...deep } = await verifyDeep(engine, record, options.projections ?? []);
  return {
    ok: deep.count === 0,
    ...good,
    reason: reasonOf(deep),
    notCovered: [...chain, ...unknown.map((name) => `snapshots of "${name}"`)],
    deep,
  };
}

function reasonOf({ count, faults: [first] }: DeepVerification): string | null {
  if (first === undefined) return null;
  return count === 1 ? first.message : `${first.message}; and ${count - 1} more`;
}

/** Throws for a branch that the listing does not have, with the error of a lookup. */
async function verifyMissing(engine: Engine, session: string, branch: string): Promise<never> {
  await branchHead(engine, session, branch);
  throw branchNotFound({ session, branch });
}

/** A branch to check, and its session. */
interface Subject {
  readonly record: SessionRecord;
  readonly branches: ReadonlyMap<string, BranchSummary>;
  readonly summary: BranchSummary;
  /** The seq to check up to. */
  readonly through: Seq;
}

/** Returns the seq of a point. Reads nothing for a plain number, since reading may meet the damage. */
async function seqOf(engine: Engine, session: string, summary: BranchSummary, at: At): Promise<Seq> {
  if (at.kind === 'head') return summary.head;
  if (at.kind !== 'seq' && at.kind !== 'before') return (await placeAt(engine, session, summary.branch, at)).seq;
  const through = at.kind === 'seq' ? at.seq : previous(at.seq);
  checkReach(session, summary, through);
  return through;
}

/** Throws the earliest damage. */
async function checkBranch(engine: Engine, check: ChainCheck, subject: Subject): Promise<void> {
  const { record, branches, summary, through } = subject;
  if (genesisDigest(engine.platform.sha256, record.seed) !== record.genesis)
    throw new Bad(beginning, "the session's genesis does not match its seed");
  const stretches = clipped(stretchesOf(branches, summary), through);
  const found: Bad[] = [];
  try {
    check.begin(record.genesis);
    const leads = leadingTo(stretches);
    for (const stretch of stretches) await check.stretch(stretch, leads);
    if (through === summary.head) checkEnd(check, summary, branches);
    const root = stretches[0]?.branch;
    if (root !== record.root) throw new Bad(beginning, `the session began with "${root}", not with "${record.root}"`);
    await checkMarkers(engine, subject, check.markers);
  } catch (error) {
    if (!(error instanceof Bad)) throw error;
    found.push(error);
  }
  const unsound = await unsoundErasure(engine, record, check.debts, stretches, (branch) => lineageOf(branches, branch));
  if (unsound !== undefined) found.push(unsound);
  const [first] = found.sort((a, b) => a.seq - b.seq);
  if (first !== undefined) throw first;
}

/** Throws if a branch does not end where its record says, or was forked beyond its end. */
function checkEnd(check: ChainCheck, summary: BranchSummary, branches: ReadonlyMap<string, BranchSummary>): void {
  const next = later(check.seq, 1);
  if (check.seq !== summary.head) throw new Bad(next, `the branch should reach seq ${summary.head}, but ends before`);
  if (check.digest !== summary.digest)
    throw new Bad(check.seq, "the branch's head digest is not that of its last event");
  for (const { branch, parent } of branches.values()) {
    if (parent?.branch === summary.branch && parent.seq > summary.head)
      throw new Bad(next, `"${branch}" was forked at seq ${parent.seq}, which is missing`);
  }
}

/** Checks that the markers the store keeps for quick views are exactly those of the chain. */
async function checkMarkers(
  engine: Engine,
  { record, summary: { branch, head }, through }: Subject,
  markers: readonly Marker[],
): Promise<void> {
  const stored = await storedMarkers(engine, record, branch, later(head, 1));
  const held = stored.filter((marker) => marker.seq <= through);
  for (const [index, marker] of markers.entries()) {
    const other = held[index];
    if (other !== undefined && JSON.stringify(marker) === JSON.stringify(other)) continue;
    const seq = other !== undefined && other.seq < marker.seq ? other.seq : marker.seq;
    throw new Bad(seq, `the markers that decide the view are not those of the chain from seq ${seq} on`);
  }
  const extra = held[markers.length];
  if (extra !== undefined) throw new Bad(extra.seq, `there is a marker at seq ${extra.seq} that is not in the chain`);
}

async function storedMarkers(
  engine: Engine,
  record: SessionRecord,
  branch: string,
  otherwise: Seq,
): Promise<readonly Marker[]> {
  try {
    return (await branchRecord(engine, record.session, branch)).markers;
  } catch (error) {
    if (!hasCode(error, 'store.damaged')) throw error;
    const { seq } = error.details;
    throw new Bad(typeof seq === 'number' ? (seq as Seq) : otherwise, error.message);
  }
}

/** Tells for each point whether it leads to the end of a lineage. */
function leadingTo(stretches: readonly Stretch[]): Leads {
  const byBranch = new Map(stretches.map((stretch) => [stretch.branch, stretch]));
  return ({ branch, seq }) => {
    const stretch = byBranch.get(branch);
    return stretch !== undefined && inRange(stretch, seq);
  };
}

/** Returns the lineage of a branch by name; see {@link stretchesOf}. */
export function lineageOf(branches: ReadonlyMap<string, BranchSummary>, branch: string): Stretch[] {
  const summary = branches.get(branch);
  return summary === undefined ? [] : stretchesOf(branches, summary);
}

/** Returns the lineage of a branch by its parent pointers alone, which the chain then proves or refutes. */
export function stretchesOf(branches: ReadonlyMap<string, BranchSummary>, last: BranchSummary): Stretch[] {
  const stretches: Stretch[] = [];
  let held: BranchSummary | undefined = last;
  let through = last.head;
  while (held !== undefined) {
    const { parent, branch }: BranchSummary = held;
    stretches.push({ branch, after: parent?.seq ?? beginning, through, isFork: parent !== undefined });
    // A fork point names the branch that stores it, so it lies after that branch's own fork point.
    if (stretches.length > limits.lineageDepthMax + 1 || (parent !== undefined && parent.seq >= through))
      throw new Bad(through, `the lineage of "${last.branch}" does not lead to a beginning`);
    through = parent?.seq ?? beginning;
    held = parent === undefined ? undefined : branches.get(parent.branch);
    if (parent !== undefined && held === undefined)
      throw new Bad(later(parent.seq, 1), `"${branch}" was forked from "${parent.branch}", which is missing`);
  }
  return stretches.reverse();
}

/** Returns the part of a lineage that leads to a seq; at least its first stretch. */
function clipped(stretches: readonly Stretch[], through: Seq): Stretch[] {
  return stretches
    .filter(({ after }, index) => index === 0 || after < through)
    .map((stretch) => (stretch.through <= through ? stretch : { ...stretch, through }));
}
