import { isStructural } from '../core/event/families/structural.ts';
import { plainKey } from '../core/event/keys.ts';
import { given, objectAt, valueAt } from '../core/json.ts';
import type { BranchNode } from '../core/session/session-log.ts';
import { ownSegment } from '../core/view/segment.ts';
import { archivedKey } from '../engine/changing/archive-branch.ts';
import { sessionRef } from '../engine/context/engine.ts';
import { dataOf, decoderFor } from '../engine/history/stored-events.ts';
import { engineOf, type Session } from '../engine/session.ts';

/** A branch as it was listed. */
type Listed = Pick<BranchNode, 'branch' | 'parent' | 'head'>;

/** Branches that are asked about at once. */
const atOnce = 64;

/** Returns the names of the archived branches of a session. */
export async function archivedBranches(session: Session, branches: readonly Listed[]): Promise<ReadonlySet<string>> {
  const archived = new Set<string>();
  for (let from = 0; from < branches.length; from += atOnce) {
    const some = branches.slice(from, from + atOnce);
    const found = await Promise.all(some.map((node) => isArchived(session, node)));
    for (const [index, { branch }] of some.entries()) if (found[index] === true) archived.add(branch);
  }
  return archived;
}

/**
 * Returns whether a branch is archived; the first one of a session never is. A fork does not inherit it, so the last
 * change on the branch itself says so.
 */
export async function isArchived(session: Session, { branch, parent, head }: Listed): Promise<boolean> {
  if (parent === null) return false;
  const engine = engineOf(session);
  const own = ownSegment({ branch, head, ...given({ parent }) });
  const { entries } = await engine.store.latest(
    sessionRef(engine, session.id),
    [own],
    { keys: [plainKey('metadata', archivedKey)] },
    { limit: 1, select: 'full' },
  );
  const row = entries[0]?.event;
  if (row === undefined) return false;
  // An erased change has lost its values: the fold of the metadata shows what it covered.
  if (row.erased || isStructural(row.type)) return (await session.branch(branch).metadata())[archivedKey] !== undefined;
  const data = dataOf(row, await decoderFor(engine, session.id, [row]));
  return (valueAt(objectAt(data, 'set'), [archivedKey]) ?? null) !== null;
}
