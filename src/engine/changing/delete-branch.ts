import { hasCode, RepriseError } from '../../core/error.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import { refsIn } from '../../core/parts/decode.ts';
import { createPartMemory } from '../../core/parts/encode.ts';
import { beginning, type Digest, type Seq } from '../../core/point.ts';
import { refuseInUse } from '../../core/store/delete-branch-request.ts';
import type { BranchSummary } from '../../core/store/event-store.ts';
import { branchNotFound } from '../../core/store/store-state.ts';
import type { Segment } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { branchHead, sessionRecord } from '../history/place.ts';
import { stamp } from '../history/stamp.ts';
import { pages } from '../history/stored-events.ts';
import { encodeRequest } from './write.ts';

/** The metadata key on the first branch that says which branch was deleted last. */
const deletedKey = 'reprise.deleted';

/** How to delete a branch. */
export interface DeleteBranchOptions {
  /** The name of the branch once more: this cannot be undone. */
  readonly confirm: string;
  /** Why, for the log. */
  readonly reason?: string;
}

const deleteKeys: KnownKeys = optionKeys<DeleteBranchOptions>(
  'delete the branch',
  { confirm: true, reason: true },
  'deleting a branch',
);

/** A branch that was deleted. */
export interface DeletedBranch {
  readonly branch: string;
  /** The events that it stored itself. */
  readonly events: number;
  /** The parts that only it needed. */
  readonly parts: number;
}

/** How often the plan is made again because others wrote to the session. */
const triesMax = 10;

/**
 * Deletes a branch that nothing grows from, with the parts that only it needs, for good. A `metadata.changed` on the
 * session's first branch records it, in the same transaction.
 */
export async function deleteBranch(
  engine: Engine,
  session: string,
  branch: string,
  options: DeleteBranchOptions,
): Promise<DeletedBranch> {
  checkId('branch', branch);
  checkKeys(options, deleteKeys);
  if (options.confirm !== branch)
    throw new RepriseError('session.not-confirmed', `Cannot delete branch "${branch}": it was not confirmed`, {
      hint: `Pass { confirm: ${JSON.stringify(branch)} }. This cannot be undone.`,
    });
  for (let tries = 1; ; tries++) {
    try {
      return await tryDelete(engine, session, branch, options);
    } catch (error) {
      if (!hasCode(error, 'append.conflict') || tries >= triesMax) throw error;
    }
  }
}

async function tryDelete(
  engine: Engine,
  session: string,
  branch: string,
  { reason }: DeleteBranchOptions,
): Promise<DeletedBranch> {
  const { root } = await sessionRecord(engine, session);
  await branchHead(engine, session, branch);
  const branches = await engine.store.branches(sessionRef(engine, session));
  const found = branches.find((held) => held.branch === branch);
  if (found === undefined) throw branchNotFound({ session, branch }, 'delete');
  refuseInUse(session, found, branches);
  const parts = await partsOnlyOf(engine, session, branches, branch);
  const { head, digest, parent } = found;
  const deleted = { branch, at: engine.platform.now(), head, digest, ...given({ reason }) };
  const draft = { type: 'metadata.changed', data: { set: { [deletedKey]: deleted } } };
  const target = { kind: 'branch', branch: root } as const;
  const stamped = { session, target, drafts: [stamp(engine, draft, deleted.at)], condition: { kind: 'any' } as const };
  // The parts that this process remembers may be those that go.
  const { append } = encodeRequest(engine, stamped, createPartMemory());
  const heads = branches.map((held) => ({ branch: held.branch, digest: held.digest }));
  const outcome = await engine.store.deleteBranch({ ...sessionRef(engine, session), branch, parts, heads, append });
  engine.memories.delete(session);
  if (!outcome.ok) throw outcome.error;
  return { branch, events: head - (parent?.seq ?? beginning), parts: parts.length };
}

/** Finds the parts that the events of one branch lead to, and the events of no other branch. */
async function partsOnlyOf(
  engine: Engine,
  session: string,
  branches: readonly BranchSummary[],
  branch: string,
): Promise<readonly Digest[]> {
  const own = await partsOf(
    engine,
    session,
    branches.filter((held) => held.branch === branch),
    new Set(),
  );
  if (own.size === 0) return [];
  const others = await partsOf(
    engine,
    session,
    branches.filter((held) => held.branch !== branch),
    new Set(),
  );
  return [...own].filter((digest) => !others.has(digest));
}

/** Adds every part that the stored events of branches lead to, from part to part. */
async function partsOf(
  engine: Engine,
  session: string,
  branches: readonly BranchSummary[],
  found: Set<Digest>,
): Promise<ReadonlySet<Digest>> {
  const open: Digest[] = [];
  const need = (digest: Digest): void => {
    if (found.has(digest)) return;
    found.add(digest);
    open.push(digest);
  };
  for (const held of branches)
    for await (const rows of pages(engine, session, [ownEvents(held)], { select: 'full' }))
      for (const { data } of rows) if (data !== null) for (const digest of refsIn(data)) need(digest);
  while (open.length > 0) {
    for (let rest: readonly Digest[] = open.splice(0, limits.partsAskedMax); rest.length > 0; ) {
      const page = await engine.store.parts(sessionRef(engine, session), rest, { depth: 'asked' });
      for (const { refs } of page.parts.values()) for (const ref of refs) need(ref);
      ({ rest } = page);
    }
  }
  return found;
}

function ownEvents({ branch, parent, head }: BranchSummary): Segment {
  return { branch, after: parent?.seq ?? (beginning as Seq), through: head, except: [], carried: false };
}
