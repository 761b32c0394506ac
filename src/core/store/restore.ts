import { RepriseError } from '../error.ts';
import { isStructural } from '../event/families/structural.ts';
import { chainDigest, dataDigestOf } from '../parts/digest.ts';
import { checkPart } from '../parts/part-check.ts';
import { type Digest, later, type Seq } from '../point.ts';
import type { Marker } from '../view/marker.ts';
import { advance, type WrittenRow } from './append.ts';
import { type AppendSource, targetState } from './append-judgement.ts';
import type { AppendTarget } from './append-request.ts';
import { checkSize } from './append-size.ts';
import type { BranchState } from './branch-state.ts';
import type { Platform } from './platform.ts';
import type { ChainedEvent, ChainedRestore } from './restore-request.ts';

/** An event as a restore stores it; only an erased one has a data digest. */
export interface RestoredRow extends WrittenRow {
  readonly dataDigest: Digest | null;
}

/** The rows that a restore will write, only those not there yet, and the branch's state after them. */
export interface RestorePlan {
  readonly events: readonly RestoredRow[];
  readonly after: BranchState;
  /** Whether these rows create the branch. */
  readonly isNewBranch: boolean;
}

/**
 * Judges events from a different store, the way every store must. Throws a {@link RepriseError} if they do not follow the
 * head of the branch or do not match their digests, before the store has written anything.
 *
 * @example
 * ```ts
 * const restoreSome = (source: AppendSource, request: RestoreRequest, write: (plan: RestorePlan) => void): Seq => {
 *   const plan = judgeRestore(source, request, createNodePlatform());
 *   write(plan);
 *   return plan.after.history.head;
 * };
 * ```
 */
export function judgeRestore(source: AppendSource, request: ChainedRestore, platform: Platform): RestorePlan {
  checkSize(request);
  // A part with a hole no longer matches its digest; the marker of the erasure names it.
  for (const part of request.parts) if (part.damaged !== true) checkPart(part, platform.sha256);
  const held = source.stateOf(request.branch);
  const state = held ?? targetState(source, { ...request, target: restoreTarget(request) });
  const fresh = eventsAfter(source, state, request);
  if (held === undefined && fresh.length === 0)
    throw new RepriseError(
      'edit.invalid',
      `Cannot restore branch "${request.branch}": its first event must create it, and there is none`,
    );
  checkIds(source, fresh);
  const planned: RestoredRow[] = [];
  const turnAt: AppendSource['turnAt'] = (branch, seq) =>
    planned.find((row) => row.branch === branch && row.seq === seq)?.turn ?? source.turnAt(branch, seq);
  const check = (_: unknown, marker: Marker): void => {
    if ((marker.kind === 'forked') !== (held === undefined && planned.length === 1)) throw damaged(request, marker.seq);
  };
  let after = state;
  for (const event of fresh) {
    const row = rowOf(after, event, request, platform);
    planned.push(row);
    after = advance(after, row, { turnAt, check });
  }
  return { events: planned, after, isNewBranch: held === undefined };
}

/** Returns the branch that a restore writes to, as an append would name it. */
export function restoreTarget({ branch, parent }: ChainedRestore): AppendTarget {
  return parent === undefined ? { kind: 'branch', branch } : { kind: 'fork', branch, parent };
}

/** Returns the events not there yet. A digest covers all before it, so comparing the last known event is enough. */
function eventsAfter(
  source: AppendSource,
  { history: { head }, digest }: BranchState,
  { branch, events }: ChainedRestore,
): readonly ChainedEvent[] {
  const known = events.findLast((event) => event.seq <= head);
  // One that leaves out its digest is proved by the last event, which comes after it.
  if (known !== undefined && (known.digest !== undefined || known === events.at(-1))) {
    const stored = known.seq === head ? digest : source.stateAt({ branch, seq: known.seq })?.digest;
    if (stored !== known.digest) throw conflict(branch, known.seq, 'a different event is there');
  }
  const fresh = events.filter((event) => event.seq > head);
  const [first] = fresh;
  if (first !== undefined && first.seq !== later(head, 1)) throw conflict(branch, first.seq, `head is at ${head}`);
  return fresh;
}

function conflict(branch: string, seq: Seq, why: string): RepriseError {
  return new RepriseError('append.conflict', `Cannot restore "${branch}@${seq}": ${why}`, {
    hint: 'Read the head of the branch, and restore the events after it.',
    details: { branch, seq },
  });
}

/** Refuses ids that occur elsewhere in the session: they are not part of this history. */
function checkIds(source: AppendSource, events: readonly ChainedEvent[]): void {
  const [taken] = source.known(events.map(({ id }) => id)).values();
  if (taken === undefined) return;
  throw new RepriseError(
    'event.id-reused',
    `Cannot restore the event "${taken.id}": its id is taken by the event at "${taken.branch}@${taken.seq}"`,
    { details: { id: taken.id, branch: taken.branch, seq: taken.seq } },
  );
}

function rowOf(state: BranchState, event: ChainedEvent, request: ChainedRestore, platform: Platform): RestoredRow {
  const { branch } = request;
  const { seq, id, time, type, version, agent, run, turn, cause, causeSeq, data, salt, keys } = event;
  const dataDigest = proofOf(event, platform);
  const isNext = seq === later(state.history.head, 1);
  const link = { seq, id, type, version, time, agent, run, turn, cause, dataDigest: dataDigest ?? ('' as Digest) };
  const digest = chainDigest(platform.sha256, state.digest, link);
  const isProved = event.digest === undefined ? event !== request.events.at(-1) : event.digest === digest;
  if (dataDigest === undefined || !isNext || !isProved) throw damaged(request, seq);
  const kept = event.erased ? dataDigest : null;
  return {
    branch,
    seq,
    id,
    time,
    type,
    version,
    agent,
    run,
    turn,
    cause,
    causeSeq,
    digest,
    data,
    salt,
    keys,
    dataDigest: kept,
  };
}

/** Returns the digest of a payload, or the one kept when it was erased; undefined if there is neither. */
function proofOf({ erased, data, salt, dataDigest, type }: ChainedEvent, { sha256 }: Platform): Digest | undefined {
  if (!erased) return data === null || salt === null ? undefined : dataDigestOf(sha256, salt, data);
  const isGone = data === null && salt === null && dataDigest !== null && !isStructural(type);
  return isGone ? dataDigest : undefined;
}

function damaged({ session, branch, events }: ChainedRestore, seq: Seq): RepriseError {
  const isAlone = events.every(({ digest }) => digest !== undefined);
  return new RepriseError(
    'event.damaged',
    isAlone
      ? `Cannot restore "${branch}@${seq}" of session "${session}": it does not match its digest`
      : `Cannot restore "${branch}@${seq}" of session "${session}": the events up to it do not match its digest`,
    {
      hint: 'Verify the history in the store it comes from.',
      details: { session, branch, seq },
    },
  );
}
