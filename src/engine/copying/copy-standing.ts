import { RepriseError } from '../../core/error.ts';
import { limits } from '../../core/limits.ts';
import { beginning, type Digest, later, previous, type Seq } from '../../core/point.ts';
import type { BranchSummary, SessionRecord } from '../../core/store/event-store.ts';
import { utf8Length } from '../../core/utf8.ts';
import { segmentAt } from '../../core/view/segment.ts';
import { type Engine, sessionRef } from '../context/engine.ts';

/** The state of a session: its record, and where each of its branches ends, in the order of creation. */
export interface Standing {
  readonly record: SessionRecord;
  readonly branches: readonly BranchSummary[];
}

/** Returns the state of a session; undefined if there is none. */
export async function standingOf(engine: Engine, session: string): Promise<Standing | undefined> {
  const ref = sessionRef(engine, session);
  // Reads the count of erasures first, so that a later check notices an erasure in between.
  const record = await engine.store.session(ref);
  return record === undefined ? undefined : { record, branches: await engine.store.branches(ref) };
}

/** Returns the number of events that a session stores. */
export function eventsIn({ branches }: Standing): number {
  return branches.reduce((sum, { head, parent }) => sum + head - (parent?.seq ?? beginning), 0);
}

const stagedBytesMax = limits.idBytesMax - '~copying-'.length - 12;

/** Returns the id of an unfinished copy at the target. It depends on the session alone, so the next copy finds it. */
export function stagedId({ session, genesis }: Pick<SessionRecord, 'session' | 'genesis'>): string {
  let start = '';
  for (const letter of session) {
    if (utf8Length(start + letter) > stagedBytesMax) break;
    start += letter;
  }
  return `${start}~copying-${genesis.slice(0, 12)}`;
}

/** Returns true if a session is an unfinished copy. */
export function isStaged({ session, genesis }: Pick<SessionRecord, 'session' | 'genesis'>): boolean {
  return session.endsWith(`~copying-${genesis.slice(0, 12)}`);
}

/**
 * Refuses a target that is not an earlier state of the source, and names the first point where the two differ. A digest
 * covers all before it, so equal digests at a branch's head are equal branches.
 */
export async function checkEarlier(from: Engine, source: Standing, to: Engine, target: Standing): Promise<void> {
  const { session } = source.record;
  if (source.record.genesis !== target.record.genesis || source.record.root !== target.record.root) {
    throw new RepriseError(
      'copy.diverged',
      `Cannot copy session "${session}": the target has a different session of that id`,
      {
        hint: 'Copy into a different namespace (--into), or delete the one at the target.',
        details: { session },
      },
    );
  }
  const branches = new Map(source.branches.map((held) => [held.branch, held]));
  for (const held of target.branches) {
    const own = branches.get(held.branch);
    if (own === undefined || !isSameParent(own, held)) throw diverged(source, target, held, firstSeq(held));
    const common = await lastCommon({ from, source, own }, { to, target, held });
    if (common !== held.head) throw diverged(source, target, held, later(common, 1), common === own.head);
  }
}

const firstSeq = ({ parent }: BranchSummary): Seq => later(parent?.seq ?? beginning, 1);

function isSameParent(left: BranchSummary, right: BranchSummary): boolean {
  return left.parent?.branch === right.parent?.branch && left.parent?.seq === right.parent?.seq;
}

function diverged(
  { record: { session } }: Standing,
  { record: target }: Standing,
  { branch }: BranchSummary,
  seq: Seq,
  isAhead = false,
): RepriseError {
  const where = target.session === session ? `"${branch}"` : `"${branch}" of "${target.session}"`;
  const ahead = 'It is ahead of the source: copy the other way round, or into a different namespace.';
  const both =
    'Copy into a different namespace (--into) to have both, or delete the session at the target to have the one of the source.';
  const staged = `Delete "${target.session}" at the target, and copy again.`;
  return new RepriseError(
    'copy.diverged',
    `Cannot copy session "${session}": ${where} at the target has other events from seq ${seq} on`,
    {
      hint: target.session !== session ? staged : isAhead ? ahead : both,
      details: { session, branch, seq },
    },
  );
}

/** Returns the last seq up to which a branch is the same at both ends; the target's head if that is an earlier state. */
async function lastCommon(
  { from, source, own }: { readonly from: Engine; readonly source: Standing; readonly own: BranchSummary },
  { to, target, held }: { readonly to: Engine; readonly target: Standing; readonly held: BranchSummary },
): Promise<Seq> {
  const isEqual = async (seq: Seq): Promise<boolean> =>
    (await digestOf(from, source.record.session, own, seq)) === (await digestOf(to, target.record.session, held, seq));
  let high = Math.min(own.head, held.head) as Seq;
  // Nearly always the target is an earlier state.
  if (high < firstSeq(held) || (await isEqual(high))) return high;
  let low = previous(firstSeq(held));
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2) as Seq;
    if (await isEqual(middle)) low = middle;
    else high = middle;
  }
  return low;
}

async function digestOf(
  engine: Engine,
  session: string,
  { branch, head, digest }: BranchSummary,
  seq: Seq,
): Promise<Digest | undefined> {
  if (seq === head) return digest;
  const ref = sessionRef(engine, session);
  const segments = [segmentAt({ branch, seq })];
  const page = await engine.store.read(ref, segments, { limit: 1, select: 'header', direction: 'forward' });
  return page.events[0]?.digest;
}
