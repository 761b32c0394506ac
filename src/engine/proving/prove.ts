import { RepriseError } from '../../core/error.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { refsIn } from '../../core/parts/decode.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import { MerkleTree } from '../../core/parts/merkle.ts';
import { type Digest, type Point, type Seq, seq as seqOf } from '../../core/point.ts';
import { type Ref, refText } from '../../core/ref.ts';
import type { BranchSummary, StoredEvent } from '../../core/store/event-store.ts';
import { segmentAt, segmentOver } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { digestAt, placeAt, pointOf } from '../history/place.ts';
import { readHeaders, readParts } from '../history/stored-events.ts';
import { BranchRoots, branchLeaf, hashBytesOf } from './branch-roots.ts';
import type { ConsistencyProof, InclusionProof, ProvenPayload } from './event-proof.ts';
import { lineageOf } from './verify.ts';

/** Which fact to prove, and how much of the event to show. */
export interface ProveOptions {
  /** Proves that the history extends its first so many events, instead of proving one event. */
  readonly since?: number;
  /** `false` leaves the payload out: the proof shows that the event is there, and not what it says. */
  readonly payload?: boolean;
}

const proveKeys: KnownKeys = optionKeys<ProveOptions>('prove', { since: 'number', payload: 'flag' }, 'a proof');

/**
 * Proves that the event at a ref is part of the history of its branch, up to the head, or that the history up to the ref
 * extends an earlier one. The tree is that of RFC 6962 over the digests of the raw history: a fork has the leaves of its
 * parent before its own, and an erasure changes no leaf.
 */
export async function prove(
  engine: Engine,
  ref: Ref,
  options: ProveOptions,
): Promise<InclusionProof | ConsistencyProof> {
  checkKeys(options, proveKeys);
  const { session, branch } = ref;
  const place = await placeAt(engine, session, branch, ref.at);
  const summaries = await engine.store.branches(sessionRef(engine, session));
  if (options.since !== undefined) return consistency(engine, ref, summaries, place.seq, options.since);
  if (place.seq === 0)
    throw new RepriseError('event.not-found', `Cannot prove "${branch}@0": there is no event`, {
      hint: 'Choose a seq from 1.',
    });
  const { head } = summaries.find((held) => held.branch === branch) ?? { head: place.seq };
  const tree = await treeOf(engine, session, summaries, branch, head);
  const row = await rowAt(engine, session, pointOf(place));
  const previous = await digestAt(engine, { ...place, seq: seqOf(place.seq - 1) });
  const { id, type, version, time, agent, run, turn, cause, digest } = row;
  const { salt, data } = row;
  const isHeld = salt !== null && salt !== undefined && data !== null;
  const dataDigest = isHeld ? dataDigestOf(engine.platform.sha256, salt, data) : (row.dataDigest as Digest);
  return {
    proof: 'reprise-inclusion',
    version: 1,
    ref: refText({ session, branch, at: { kind: 'seq', seq: place.seq } }),
    event: { seq: place.seq, id, type, version, time, agent, run, turn, cause, dataDigest },
    previous,
    digest,
    payload: isHeld && options.payload !== false ? await payloadOf(engine, session, { salt, data }) : null,
    tree: { size: head, root: tree.root() },
    path: tree.inclusion(place.seq - 1),
    session: await sessionPlace(engine, session, summaries, branch),
  };
}

async function consistency(
  engine: Engine,
  ref: Ref,
  summaries: readonly BranchSummary[],
  size: Seq,
  since: number,
): Promise<ConsistencyProof> {
  if (!Number.isSafeInteger(since) || since < 0 || since > size)
    throw new RepriseError(
      'point.out-of-range',
      `Cannot prove that ${refText(ref)} extends its first ${since} events: it has ${size}`,
      { hint: `Choose a number from 0 to ${size}.` },
    );
  const { session, branch } = ref;
  const tree = await treeOf(engine, session, summaries, branch, size);
  return {
    proof: 'reprise-consistency',
    version: 1,
    ref: refText({ session, branch, at: { kind: 'seq', seq: size } }),
    first: { size: since, root: tree.root(since) },
    second: { size, root: tree.root() },
    path: tree.consistency(since),
  };
}

/** Returns the tree over the raw history that leads to a seq of a branch. */
async function treeOf(
  engine: Engine,
  session: string,
  summaries: readonly BranchSummary[],
  branch: string,
  through: Seq,
): Promise<MerkleTree> {
  const tree = new MerkleTree(hashBytesOf(engine.platform));
  const lineage = lineageOf(new Map(summaries.map((held) => [held.branch, held])), branch);
  for (const { branch: name, after, through: last } of lineage) {
    const end = seqOf(Math.min(last, through));
    if (after >= end) continue;
    for await (const rows of readHeaders(engine, session, [segmentOver({ branch: name, after, through: end })]))
      for (const { digest } of rows) tree.add(digest);
  }
  return tree;
}

/** Returns the place of a branch's tree in the tree over all branches, in the order of their creation. */
async function sessionPlace(
  engine: Engine,
  session: string,
  summaries: readonly BranchSummary[],
  branch: string,
): Promise<InclusionProof['session']> {
  const roots = await branchRoots(engine, session, summaries);
  const tree = new MerkleTree(hashBytesOf(engine.platform));
  for (const { branch: name, head } of summaries) tree.addBytes(branchLeaf({ head, root: roots.root(name) }));
  const index = summaries.findIndex((held) => held.branch === branch);
  return { size: summaries.length, root: tree.root(), index, path: tree.inclusion(index) };
}

async function branchRoots(engine: Engine, session: string, summaries: readonly BranchSummary[]): Promise<BranchRoots> {
  const rooted = summaries.map(({ branch, parent }) => ({ branch, parent }));
  const roots = new BranchRoots(engine.platform, rooted);
  for (const { branch, parent, head } of summaries) {
    roots.enter({ branch, parent });
    const segment = segmentOver({ branch, after: parent?.seq ?? seqOf(0), through: head });
    for await (const rows of readHeaders(engine, session, [segment]))
      for (const { seq, digest } of rows) roots.add(seq, digest);
    roots.leave();
  }
  return roots;
}

async function rowAt(engine: Engine, session: string, point: Point): Promise<StoredEvent> {
  const page = { limit: 1, select: 'proof', direction: 'forward' } as const;
  const { events } = await engine.store.read(sessionRef(engine, session), [segmentAt(point)], page);
  const [row] = events;
  if (row !== undefined) return row;
  throw new RepriseError('event.not-found', `Cannot prove "${point.branch}@${point.seq}": there is no such event`);
}

async function payloadOf(
  engine: Engine,
  session: string,
  { salt, data }: { readonly salt: string; readonly data: string },
): Promise<ProvenPayload> {
  const parts = await readParts(engine, session, [...new Set(refsIn(data))]);
  return { salt, data, parts: [...parts.values()] };
}
