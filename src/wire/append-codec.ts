import type { MessageInitShape } from '@bufbuild/protobuf';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import type { Condition } from '../core/store/append-request.ts';
import type { DeleteBranchRequest } from '../core/store/delete-branch-request.ts';
import type {
  AppendOutcome,
  AppendRequest,
  EraseRequest,
  EventInput,
  RestoredEvent,
} from '../core/store/event-store.ts';
import type { RestoreRequest } from '../core/store/restore-request.ts';
import { errorFromWire, errorToWire } from './error-codec.ts';
import type {
  Append,
  AppendOutcomeSchema,
  AppendSchema,
  ConditionSchema,
  DeleteBranchRequestSchema,
  EraseRequestSchema,
  EventInputSchema,
  RestoreRequestSchema,
  AppendOutcome as WireAppendOutcome,
  Condition as WireCondition,
  DeleteBranchRequest as WireDeleteBranchRequest,
  EraseRequest as WireEraseRequest,
  EventInput as WireEventInput,
  RestoreRequest as WireRestoreRequest,
} from './generated/reprise/v1/store_pb.ts';
import {
  eventFromWire,
  eventToWire,
  partFromWire,
  partToWire,
  pointFromWire,
  pointFromWireOr,
  pointToWire,
  pointToWireOr,
  proofOf,
} from './row-codec.ts';
import { branchRefFromWire, branchRefToWire, sessionRefFromWire, sessionRefToWire } from './session-codec.ts';
import {
  digestFrom,
  digestsFrom,
  fromWhole,
  fromWholeOr,
  seqFrom,
  seqFromOr,
  toWhole,
  toWholeOr,
} from './whole-number.ts';

/** Writes an event without its keys, which the server makes itself. */
function inputToWire(event: EventInput): MessageInitShape<typeof EventInputSchema> {
  const { id, time, type, version, agent, run, turn, cause, data } = event;
  return { id, time, type, version: toWhole(version), data, ...given({ agent, run, turn: toWholeOr(turn), cause }) };
}

function inputFromWire(event: WireEventInput): EventInput {
  const { id, time, type, version, agent, run, turn, cause, data } = event;
  return {
    id,
    time,
    type,
    version: fromWhole(version),
    data,
    keys: [],
    ...given({ agent, run, turn: fromWholeOr(turn), cause }),
  };
}

function conditionToWire(condition: Condition): MessageInitShape<typeof ConditionSchema> | undefined {
  switch (condition.kind) {
    case 'any':
      return undefined;
    case 'head':
      return { kind: { case: 'head', value: toWhole(condition.seq) } };
    case 'unchanged': {
      const { since, keys, prefixes } = condition;
      return {
        kind: { case: 'unchanged', value: { since: toWhole(since), keys: [...keys], prefixes: [...prefixes] } },
      };
    }
  }
}

function conditionFromWire(condition: WireCondition | undefined): Condition {
  const kind = condition?.kind;
  switch (kind?.case) {
    case undefined:
      return { kind: 'any' };
    case 'head':
      return { kind: 'head', seq: seqFrom(kind.value) };
    case 'unchanged': {
      const { since, keys, prefixes } = kind.value;
      return { kind: 'unchanged', since: seqFrom(since), keys, prefixes };
    }
  }
}

/** Writes an append. */
export function appendToWire(request: AppendRequest): MessageInitShape<typeof AppendSchema> {
  const { target, events, parts, condition, epoch } = request;
  return {
    session: sessionRefToWire(request),
    branch: target.branch,
    events: events.map(inputToWire),
    parts: parts.map(partToWire),
    ...given({
      forkOf: target.kind === 'fork' ? pointToWire(target.parent) : undefined,
      condition: conditionToWire(condition),
      epoch: toWholeOr(epoch),
    }),
  };
}

/** Reads an append; its events have no keys yet. */
export function appendFromWire(request: Append): AppendRequest {
  const { session, branch, forkOf, events, parts, condition, epoch } = request;
  return {
    ...sessionRefFromWire(session),
    target: forkOf === undefined ? { kind: 'branch', branch } : { kind: 'fork', branch, parent: pointFromWire(forkOf) },
    events: events.map(inputFromWire),
    parts: parts.map(partFromWire),
    condition: conditionFromWire(condition),
    ...given({ epoch: seqFromOr(epoch) }),
  };
}

/** Writes the outcome of an append. */
export function outcomeToWire(outcome: AppendOutcome): MessageInitShape<typeof AppendOutcomeSchema> {
  if (!outcome.ok) return { outcome: { case: 'error', value: errorToWire(outcome.error) } };
  const events = outcome.events.map(({ id, seq, turn, causeSeq, digest }) => ({
    id,
    seq: toWhole(seq),
    turn: toWhole(turn),
    digest,
    ...given({ causeSeq: toWholeOr(causeSeq) }),
  }));
  return { outcome: { case: 'stored', value: { known: outcome.known, branch: outcome.branch, events } } };
}

/** Reads the outcome of an append. */
export function outcomeFromWire(answer: WireAppendOutcome | undefined): AppendOutcome {
  const outcome = answer?.outcome;
  if (outcome?.case !== 'stored') return { ok: false, error: errorFromWire(outcome?.value) };
  const { known, branch } = outcome.value;
  const events = outcome.value.events.map(({ id, seq, turn, causeSeq, digest }) => ({
    id,
    seq: seqFrom(seq),
    turn: fromWhole(turn),
    digest: digestFrom(digest),
    ...given({ causeSeq: seqFromOr(causeSeq) }),
  }));
  return { ok: true, known, branch, events };
}

/** Writes a restore. */
export function restoreToWire(request: RestoreRequest): MessageInitShape<typeof RestoreRequestSchema> {
  const { branch, parent, events, parts } = request;
  return {
    session: sessionRefToWire(request),
    branch,
    events: events.map((event) => eventToWire(event, branch)),
    parts: parts.map(partToWire),
    ...given({ parent: pointToWireOr(parent) }),
  };
}

/** Reads a restore; its events have no keys yet. */
export function restoreFromWire(request: WireRestoreRequest): RestoreRequest {
  const { session, branch, parent, events, parts } = request;
  return {
    ...sessionRefFromWire(session),
    branch,
    events: events.map((event): RestoredEvent => {
      const { branch: _, ...row } = eventFromWire(event, 'full');
      return { ...row, ...proofOf(event), keys: [] };
    }),
    parts: parts.map(partFromWire),
    ...given({ parent: pointFromWireOr(parent) }),
  };
}

/** Writes the deletion of a branch. */
export function deletionToWire(
  request: DeleteBranchRequest,
  requestId: string,
): MessageInitShape<typeof DeleteBranchRequestSchema> {
  const { parts, heads, append } = request;
  return {
    branch: branchRefToWire(request),
    parts: [...parts],
    heads: heads.map(({ branch, digest }) => ({ branch, digest })),
    append: appendToWire(append),
    requestId,
  };
}

/** Reads the deletion of a branch. */
export function deletionFromWire(request: WireDeleteBranchRequest): DeleteBranchRequest {
  const { branch, parts, heads, append } = request;
  if (append === undefined)
    throw new RepriseError('option.invalid', 'Cannot delete a branch: "append" is missing', {
      details: { path: 'append' },
    });
  return {
    ...branchRefFromWire(branch),
    parts: digestsFrom(parts),
    heads: heads.map((head) => ({ branch: head.branch, digest: digestFrom(head.digest) })),
    append: appendFromWire(append),
  };
}

/** Writes an erasure. */
export function eraseToWire(request: EraseRequest, requestId: string): MessageInitShape<typeof EraseRequestSchema> {
  const { events, parts, rewrites, appends, erasures } = request;
  return {
    session: sessionRefToWire(request),
    events: events.map(({ branch, seq, dataDigest }) => ({ branch, seq: toWhole(seq), dataDigest })),
    parts: [...parts],
    rewrites: rewrites.map(partToWire),
    appends: appends.map(appendToWire),
    requestId,
    ...given({ erasures: toWholeOr(erasures) }),
  };
}

/** Reads an erasure. */
export function eraseFromWire(request: WireEraseRequest): EraseRequest {
  const { session, events, parts, rewrites, appends, erasures } = request;
  return {
    ...sessionRefFromWire(session),
    events: events.map(({ branch, seq, dataDigest }) => ({
      branch,
      seq: seqFrom(seq),
      dataDigest: digestFrom(dataDigest),
    })),
    parts: digestsFrom(parts),
    rewrites: rewrites.map(partFromWire),
    appends: appends.map(appendFromWire),
    ...given({ erasures: fromWholeOr(erasures) }),
  };
}
