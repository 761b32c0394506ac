import { RepriseError } from '../../core/error.ts';
import { beginning, minSeq, type Point, type Seq } from '../../core/point.ts';
import type { Ref } from '../../core/ref.ts';
import type { BranchSummary, SessionRecord } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { placeAt, pointOf, sessionRecord } from '../history/place.ts';
import { lineageOf } from '../proving/verify.ts';
import { type Erasures, erasuresOf } from '../proving/verify-erasures.ts';

/** The stretch of a branch that a bundle contains. */
export interface ScopedBranch {
  readonly branch: string;
  readonly parent: Point | undefined;
  readonly after: Seq;
  readonly through: Seq;
}

/** The part of a session that a bundle contains. */
export interface BundleScope {
  readonly record: SessionRecord;
  /** The point whose history it is; null for the whole session. */
  readonly of: Point | null;
  /** Its branches, parents first. */
  readonly branches: readonly ScopedBranch[];
  /** Every branch of the session. */
  readonly all: readonly BranchSummary[];
  readonly erasures: Erasures;
  /** Whether it has the event at a point. */
  readonly holds: (point: Point) => boolean;
}

/** Returns all of a session as it is now, or the raw history of a point of it. */
export async function scopeOf(engine: Engine, ref: Ref, isWhole: boolean): Promise<BundleScope> {
  const record = await sessionRecord(engine, ref.session);
  const all = await engine.store.branches(sessionRef(engine, ref.session));
  const of = isWhole ? null : pointOf(await placeAt(engine, ref.session, ref.branch, ref.at));
  const branches = of === null ? all.map(wholeBranch) : lineageTo(all, of);
  const through = new Map(branches.map((held) => [held.branch, held]));
  const holds = ({ branch, seq }: Point): boolean => {
    const held = through.get(branch);
    return held !== undefined && seq > held.after && seq <= held.through;
  };
  const erasures = await erasuresOf(engine, record, all);
  const scope = { record, of, branches, all, erasures, holds };
  checkErasures(scope);
  return scope;
}

function wholeBranch({ branch, parent, head }: BranchSummary): ScopedBranch {
  return { branch, parent, after: parent?.seq ?? beginning, through: head };
}

/** Returns the branches that lead to a point, each as far as it leads there. */
function lineageTo(all: readonly BranchSummary[], { branch, seq }: Point): ScopedBranch[] {
  const summaries = new Map(all.map((held) => [held.branch, held]));
  return lineageOf(summaries, branch)
    .filter(({ after }, index) => index === 0 || after < seq)
    .map(({ branch: name, after, through }) => ({
      branch: name,
      parent: summaries.get(name)?.parent,
      after,
      through: minSeq(through, seq),
    }));
}

/** Refuses a scope with a payload that only an event outside of it shows to be erased. */
function checkErasures({ record, erasures, holds }: BundleScope): void {
  for (const [name, markers] of erasures.events) {
    const at = name.lastIndexOf('@');
    const point = { branch: name.slice(0, at), seq: Number(name.slice(at + 1)) as Seq };
    if (holds(point) && !markers.some(holds)) throw erasedOutside(record.session, point, markers);
  }
}

/** Returns the error for a payload whose erasure is not part of a bundle: the bundle could not prove it. */
export function erasedOutside(session: string, { branch, seq }: Point, [marker]: readonly Point[]): RepriseError {
  const where = marker === undefined ? '' : ` at "${marker.branch}@${marker.seq}"`;
  return new RepriseError(
    'export.invalid',
    `Cannot export this part of session "${session}" alone: "${branch}@${seq}" was erased later${where}, and that event proves it`,
    {
      hint: `Export the whole session: reprise export ${session} --to …`,
      details: { branch, seq },
    },
  );
}
