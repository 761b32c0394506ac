import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { dataDigestOf } from '../../core/parts/digest.ts';
import { beginning, type Digest, type Point, type Seq } from '../../core/point.ts';
import type { BranchSummary, Cursor, SessionRecord, StoredEvent } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { Bad } from './verify-damage.ts';
import { linkDigest, proofPages, type Stretch } from './verify-stretch.ts';

/** What `payload.erased` events account for, on every branch: a child's ancestors may have been erased after the fork. */
export interface Erasures {
  /** The markers that name an event, by `branch@seq`. */
  readonly events: ReadonlyMap<string, readonly Point[]>;
  /** The markers that name a part. */
  readonly parts: ReadonlyMap<string, readonly Point[]>;
  /** For a part with a hole: the digests its text may have since. */
  readonly holes: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Something that is gone: the seq it belonged to, and the markers that would account for it. */
export interface Debt {
  readonly seq: Seq;
  readonly markers: readonly Point[];
}

/** Reads every marker of an erasure in a session. Whether they are sound is seen when one is needed. */
export async function erasuresOf(
  engine: Engine,
  session: string,
  branches: Iterable<BranchSummary>,
): Promise<Erasures> {
  const events = new Map<string, Point[]>();
  const parts = new Map<string, Point[]>();
  const holes = new Map<string, Set<string>>();
  for (const { branch, parent, head } of branches) {
    const segment = { branch, after: parent?.seq ?? beginning, through: head, except: [], carried: false };
    let cursor: Cursor | undefined;
    do {
      const page = await engine.store.read(sessionRef(engine, session), [segment], {
        limit: limits.pageEventsMax,
        select: 'full',
        direction: 'forward',
        filter: { types: ['payload.erased'] },
        ...given({ cursor }),
      });
      for (const row of page.events) {
        const named = namedBy(row);
        for (const seq of named.seqs) add(events, `${branch}@${seq}`, { branch, seq: row.seq });
        for (const digest of named.parts) add(parts, digest, { branch, seq: row.seq });
        for (const [digest, held] of named.holes) holes.set(digest, (holes.get(digest) ?? new Set()).add(held));
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return { events, parts, holes };
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

/** A marker that cannot be read accounts for nothing; its own place in the chain shows that it was changed. */
function namedBy({ data }: StoredEvent): Named {
  try {
    const read = JSON.parse(data ?? '{}') as {
      readonly seqs?: readonly number[];
      readonly parts?: readonly string[];
      readonly holes?: Readonly<Record<string, string>>;
    };
    return { seqs: read.seqs ?? [], parts: read.parts ?? [], holes: Object.entries(read.holes ?? {}) };
  } catch {
    return { seqs: [], parts: [], holes: [] };
  }
}

/**
 * The first thing that is gone and that only a forged marker accounts for. Markers on the way that is being verified
 * prove themselves; those of other branches, or beyond a fork point, are followed from the beginning.
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
    if (!isPaid) return new Bad(seq, `something of seq ${seq} is gone, and the erasure that names it was forged`);
  }
  return undefined;
}

/** Up to which seq the chain of a branch holds, by digests alone. */
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
