import { RepriseError } from '../error.ts';
import { isStructural } from '../event/families/structural.ts';
import { chainDigest, dataDigestOf } from '../parts/digest.ts';
import { checkPart } from '../parts/part-check.ts';
import type { PartInput } from '../parts/parts.ts';
import { type Digest, later, type Point, type Seq } from '../point.ts';
import type { Marker } from '../view/marker.ts';
import { advance, type BranchState, type WrittenRow } from './append.ts';
import { type AppendSource, checkSize, targetState } from './append-judgement.ts';
import type { Platform, SessionRef, StoredEvent } from './event-store.ts';

/** An event as another store has it, with all that proves it and what it is indexed under. */
export interface RestoredEvent extends Required<Omit<StoredEvent, 'branch'>> {
  readonly keys: readonly string[];
}

/** Events of one branch as another store has them, in order. */
export interface RestoreRequest extends SessionRef {
  readonly branch: string;
  /** Where the branch was forked; left out for the one the session began with. The first batch makes the branch. */
  readonly parent?: Point;
  readonly events: readonly RestoredEvent[];
  /** Parts the session holds from then on. */
  readonly parts: readonly PartInput[];
}

/** Where the branch ends after its events were restored. */
export interface RestoreOutcome {
  readonly head: Seq;
  readonly digest: Digest;
}

/** An event as it will be stored; only one that was erased has a data digest. */
export interface RestoredRow extends WrittenRow {
  readonly dataDigest: Digest | null;
}

/** What restoring will write: events that are not there yet, and the branch's state after them. */
export interface RestorePlan {
  readonly events: readonly RestoredRow[];
  readonly after: BranchState;
  /** Whether the branch is made with them. */
  readonly isNewBranch: boolean;
}

/**
 * Judges events that come from another store, the way every store must. Throws a {@link RepriseError} if they do not
 * follow on what is there, or are not what their digests say; nothing has been written then.
 */
export function judgeRestore(source: AppendSource, request: RestoreRequest, platform: Platform): RestorePlan {
  checkSize(request);
  // What an erasure left a hole in has another text; the erasure's own marker says which.
  for (const part of request.parts) if (part.damaged !== true) checkPart(part, platform.sha256);
  const held = source.stateOf(request.branch);
  const state = held ?? targetState(source, { ...request, target: targetOf(request) });
  const fresh = eventsAfter(source, state, request);
  if (held === undefined && fresh.length === 0)
    throw new RepriseError(
      'edit.invalid',
      `Cannot restore branch "${request.branch}": it is made with its first event`,
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

function targetOf({ branch, parent }: RestoreRequest): Parameters<typeof targetState>[1]['target'] {
  return parent === undefined ? { kind: 'branch', branch } : { kind: 'fork', branch, parent };
}

/** What of a batch is not there yet. A digest covers all before it, so the last known event speaks for the others. */
function eventsAfter(
  source: AppendSource,
  { history: { head }, digest }: BranchState,
  { branch, events }: RestoreRequest,
): readonly RestoredEvent[] {
  const known = events.findLast((event) => event.seq <= head);
  if (known !== undefined) {
    const stored = known.seq === head ? digest : source.stateAt({ branch, seq: known.seq })?.digest;
    if (stored !== known.digest) throw conflict(branch, known.seq, 'another event is there');
  }
  const fresh = events.filter((event) => event.seq > head);
  const [first] = fresh;
  if (first !== undefined && first.seq !== later(head, 1)) throw conflict(branch, first.seq, `head is at ${head}`);
  return fresh;
}

function conflict(branch: string, seq: Seq, why: string): RepriseError {
  return new RepriseError('append.conflict', `Cannot restore "${branch}@${seq}": ${why}`, {
    hint: 'Read what the branch holds, and restore what follows on it.',
    details: { branch, seq },
  });
}

/** An id that stands elsewhere in the session is no part of this history. */
function checkIds(source: AppendSource, events: readonly RestoredEvent[]): void {
  const [taken] = source.known(events.map(({ id }) => id)).values();
  if (taken === undefined) return;
  throw new RepriseError(
    'event.id-reused',
    `Cannot restore the event "${taken.id}": its id is taken by the event at "${taken.branch}@${taken.seq}"`,
    { details: { id: taken.id, branch: taken.branch, seq: taken.seq } },
  );
}

function rowOf(state: BranchState, event: RestoredEvent, request: RestoreRequest, platform: Platform): RestoredRow {
  const { branch } = request;
  const { seq, id, time, type, version, agent, run, turn, cause, causeSeq, digest, data, salt, keys } = event;
  const dataDigest = proofOf(event, platform);
  const isNext = seq === later(state.history.head, 1);
  const link = { seq, id, type, version, time, agent, run, turn, cause, dataDigest: dataDigest ?? ('' as Digest) };
  if (dataDigest === undefined || !isNext || chainDigest(platform.sha256, state.digest, link) !== digest)
    throw damaged(request, seq);
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

/** The digest of a payload, or the one that was kept when it was erased; undefined if neither can be told. */
function proofOf({ erased, data, salt, dataDigest, type }: RestoredEvent, { sha256 }: Platform): Digest | undefined {
  if (!erased) return data === null || salt === null ? undefined : dataDigestOf(sha256, salt, data);
  const isGone = data === null && salt === null && dataDigest !== null && !isStructural(type);
  return isGone ? dataDigest : undefined;
}

function damaged({ session, branch }: RestoreRequest, seq: Seq): RepriseError {
  return new RepriseError(
    'event.damaged',
    `Cannot restore "${branch}@${seq}" of session "${session}": it is not what was recorded`,
    {
      hint: 'Verify the history where it comes from.',
      details: { session, branch, seq },
    },
  );
}
