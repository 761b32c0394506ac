import { arrayAt, objectAt } from '../../core/json.ts';
import { storedJson } from '../../core/parts/decode.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import { beginning, type Digest, type Point, type Seq } from '../../core/point.ts';
import type { BranchSummary, SessionRecord, StoredEvent } from '../../core/store/event-store.ts';
import { ownSegment } from '../../core/view/segment.ts';
import type { Engine } from '../context/engine.ts';
import { linkDigest } from '../history/anchor.ts';
import { pages } from '../history/stored-events.ts';
import { Bad } from './verify-damage.ts';
import { proofPages, type Stretch } from './verify-stretch.ts';

/** The losses that `payload.erased` events of every branch account for: an erasure may come after a fork. */
export interface Erasures {
  /** The markers that name an event, by `branch@seq`. */
  readonly events: ReadonlyMap<string, readonly Point[]>;
  /** The markers that name a part. */
  readonly parts: ReadonlyMap<string, readonly Point[]>;
  /** For a part with a hole: the digests its text may have since. */
  readonly holes: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A payload or part that is missing: its seq, and the markers that would account for it. */
export interface Debt {
  readonly seq: Seq;
  readonly markers: readonly Point[];
}

/** Reads every marker of an erasure in a session. {@link unsoundErasure} checks the ones that are needed. */
export async function erasuresOf(
  engine: Engine,
  record: SessionRecord,
  branches: Iterable<BranchSummary>,
): Promise<Erasures> {
  const events = new Map<string, Point[]>();
  const parts = new Map<string, Point[]>();
  const holes = new Map<string, Set<string>>();
  const found = { events, parts, holes };
  // Without an erasure, no branch has to be asked. A count that was set back hides markers, and then the loss shows.
  if (record.erasures === 0) return found;
  const request = { select: 'full', filter: { types: ['payload.erased'] } } as const;
  for await (const rows of pages(engine, record.session, [...branches].map(ownSegment), request))
    for (const row of rows) {
      const { branch } = row;
      const named = namedBy(row);
      for (const seq of named.seqs) add(events, `${branch}@${seq}`, { branch, seq: row.seq });
      for (const digest of named.parts) add(parts, digest, { branch, seq: row.seq });
      for (const [digest, hole] of named.holes) holes.set(digest, (holes.get(digest) ?? new Set()).add(hole));
    }
  return found;
}

function add(markers: Map<string, Point[]>, name: string, marker: Point): void {
  const held = markers.get(name);
  if (held === undefined) markers.set(name, [marker]);
  else held.push(marker);
}

interface Named {
  readonly seqs: readonly number[];
  readonly parts: readonly string[];
  readonly holes: readonly (readonly [string, string])[];
}

/** Returns nothing for a marker that cannot be read; the check of its own event shows that it was changed. */
function namedBy({ data }: StoredEvent): Named {
  try {
    const marker = storedJson(data ?? '{}');
    return {
      seqs: (arrayAt(marker, 'seqs') ?? []).filter((seq) => typeof seq === 'number'),
      parts: (arrayAt(marker, 'parts') ?? []).filter((part) => typeof part === 'string'),
      holes: Object.entries(objectAt(marker, 'holes') ?? {}).map(([digest, hole]) => [digest, String(hole)]),
    };
  } catch {
    return { seqs: [], parts: [], holes: [] };
  }
}

/**
 * Returns the first loss that only a forged marker accounts for. The chain that is being verified proves its own markers;
 * this follows the chain of every other branch that has one.
 */
export async function unsoundErasure(
  engine: Engine,
  record: SessionRecord,
  debts: readonly Debt[],
  stretches: readonly Stretch[],
  lineageOf: (branch: string) => Stretch[],
): Promise<Bad | undefined> {
  const reach = new Map<string, Promise<Seq>>();
  const isSound = async ({ branch, seq }: Point): Promise<boolean> => {
    if (stretches.some((stretch) => stretch.branch === branch && seq <= stretch.through)) return true;
    const known = reach.get(branch) ?? soundThrough(engine, record, () => lineageOf(branch));
    reach.set(branch, known);
    return seq <= (await known);
  };
  for (const { seq, markers } of debts.toSorted((a, b) => a.seq - b.seq)) {
    let isPaid = false;
    for (const marker of markers) isPaid ||= await isSound(marker);
    if (!isPaid) return forgedErasure(seq);
  }
  return undefined;
}

/** Returns the damage of a loss that only a forged marker accounts for. */
export function forgedErasure(seq: Seq): Bad {
  return new Bad(seq, `something of seq ${seq} is gone, and the erasure that names it was forged`);
}

/** Returns the seq up to which the chain of a branch is intact, by digests alone. */
async function soundThrough(engine: Engine, record: SessionRecord, lineage: () => Stretch[]): Promise<Seq> {
  let reached = beginning;
  let digest: Digest = record.genesis;
  try {
    for (const stretch of lineage()) {
      for await (const rows of proofPages(engine, record.session, stretch)) {
        for (const row of rows) {
          if (row.seq !== reached + 1 || linkDigest(engine, digest, row, dataDigest(engine, row)) !== row.digest)
            return reached;
          reached = row.seq;
          digest = row.digest;
        }
      }
    }
  } catch (error) {
    if (!(error instanceof Bad)) throw error;
  }
  return reached;
}

function dataDigest({ platform }: Engine, { data, salt, dataDigest: kept }: StoredEvent): Digest {
  return data === null || salt === null || salt === undefined
    ? (kept as Digest)
    : dataDigestOf(platform.sha256, salt, data);
}
