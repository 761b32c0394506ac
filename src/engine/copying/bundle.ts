import { limits } from '../../core/limits.ts';
import { beginning, type Digest, type Seq } from '../../core/point.ts';
import type { Ref } from '../../core/ref.ts';
import type { BranchSummary, RestoreRequest, SessionRecord } from '../../core/store/event-store.ts';
import { rawPieces } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { type LeaveOut, type LeftOut, leaveOut } from '../erasing/leave-out.ts';
import { placeAt, sessionRecord } from '../history/place.ts';
import { copyErasures } from './copy-erasures.ts';
import { copyStretch } from './copy-stretch.ts';
import type { Transfer } from './transfer.ts';

/** Events and parts of one branch, as a store takes them to restore the branch. */
export type BundleBatch = Omit<RestoreRequest, 'namespace' | 'session'>;

/** A session, or a part of it, as plain data: a store that restores it has the same history, with the same digests. */
export interface Bundle {
  readonly session: string;
  readonly record: Pick<SessionRecord, 'root' | 'seed' | 'createdAt' | 'erasures'>;
  /** Where its branches end at the source. */
  readonly heads: readonly { readonly branch: string; readonly seq: Seq; readonly digest: Digest }[];
  /** In the order in which they have to be restored. */
  readonly batches: readonly BundleBatch[];
  readonly leftOut: readonly LeftOut[];
}

/** How to bundle a session. */
export interface BundleOptions {
  /** Makes an engine on an empty store; the history goes through one or two of them. */
  readonly scratch: () => Engine;
  readonly leavesOut?: LeaveOut;
}

/** A part of a branch. */
interface Stretch {
  readonly branch: BranchSummary;
  readonly after: Seq;
  readonly through: Seq;
}

/**
 * Bundles what a ref names: all branches for the head of the first branch, else the history that leads to the point. A
 * session with erasures goes whole, because a marker of an erasure may stand on any of its branches.
 */
export async function bundleSession(from: Engine, ref: Ref, { scratch, leavesOut }: BundleOptions): Promise<Bundle> {
  const { session } = ref;
  const record = await sessionRecord(from, session);
  const branches = await from.store.branches(sessionRef(from, session));
  const stretches = await stretchesOf(from, ref, record, branches);
  const first = scratch();
  const batches = await transferred(from, first, session, stretches);
  const held = await first.store.branches(sessionRef(first, session));
  const heads = held.map(({ branch, head, digest }) => ({ branch, seq: head, digest }));
  const leftOut = leavesOut === undefined ? [] : await leaveOut(first, session, leavesOut);
  if (leftOut.length === 0) return { session, record: bare(record), heads, batches, leftOut };
  const rest = (await first.store.branches(sessionRef(first, session))).map(whole);
  const left = await transferred(first, scratch(), session, rest);
  return { session, record: bare(await sessionRecord(first, session)), heads, batches: left, leftOut };
}

const bare = ({ root, seed, createdAt, erasures }: SessionRecord): Bundle['record'] => ({
  root,
  seed,
  createdAt,
  erasures,
});

const whole = (branch: BranchSummary): Stretch => ({
  branch,
  after: branch.parent?.seq ?? beginning,
  through: branch.head,
});

async function stretchesOf(
  from: Engine,
  { session, branch, at }: Ref,
  { root, erasures }: SessionRecord,
  branches: readonly BranchSummary[],
): Promise<readonly Stretch[]> {
  if ((branch === root && at.kind === 'head') || erasures > 0) return branches.map(whole);
  const place = await placeAt(from, session, branch, at);
  const named = new Map(branches.map((held) => [held.branch, held]));
  return rawPieces(place.history, place.seq).flatMap(({ branch: name, after, through }) => {
    const held = named.get(name);
    return held === undefined ? [] : [{ branch: held, after, through }];
  });
}

/** Copies stretches of a session to an empty store, and returns what the store was sent. */
async function transferred(
  from: Engine,
  to: Engine,
  session: string,
  stretches: readonly Stretch[],
): Promise<readonly BundleBatch[]> {
  const { root, seed, createdAt, erasures } = await sessionRecord(from, session);
  await to.store.createSession(sessionRef(to, session), { root, seed, createdAt, erasures });
  const batches: BundleBatch[] = [];
  const transfer: Transfer = {
    from,
    to,
    session,
    target: session,
    erasures: await copyErasures(from, session, await from.store.branches(sessionRef(from, session))),
    batchEvents: limits.pageEventsMax,
    signal: undefined,
    onWritten: () => undefined,
    onBatch: ({ namespace: _namespace, session: _session, ...batch }) => void batches.push(batch),
  };
  for (const { branch, after, through } of stretches)
    if (after < through) await copyStretch(transfer, branch, after, through);
  return batches;
}
