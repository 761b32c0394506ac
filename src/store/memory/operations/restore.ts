import { given } from '../../../core/json.ts';
import type { PartInput } from '../../../core/parts/parts.ts';
import type { Platform } from '../../../core/store/event-store.ts';
import { judgeRestore, type RestoredRow } from '../../../core/store/restore.ts';
import type { ChainedRestore, RestoreOutcome } from '../../../core/store/restore-request.ts';
import {
  addEvent,
  type HeldBranch,
  type HeldEvent,
  heldBranch,
  heldSession,
  indexEvent,
  type Shelf,
} from '../shelf.ts';
import { addFork, sourceOf } from './append.ts';

/** Judges events of a different store and keeps them as they are. Throws why they are refused, before it changes anything. */
export function restore(shelf: Shelf, platform: Platform, request: ChainedRestore): RestoreOutcome {
  const session = heldSession(shelf, request);
  const { events, after, isNewBranch } = judgeRestore(sourceOf(session), request, platform);
  const { parent } = request;
  const branch: HeldBranch =
    isNewBranch && parent !== undefined
      ? addFork(session, { branch: request.branch, parent }, after, events[0]?.time ?? platform.now())
      : heldBranch(session, request.branch);
  for (const event of events) {
    addEvent(branch, keptEvent(event));
    session.places.set(event.id, { branch, seq: event.seq });
    for (const key of event.keys) indexEvent(branch, key, event.seq);
    session.updatedAt = event.time;
  }
  for (const part of request.parts) {
    if (session.parts.has(part.digest)) continue;
    session.parts.set(part.digest, keptPart(part));
    branch.parts.add(part.digest);
  }
  branch.state = after;
  if (events.length > 0) session.touched = ++shelf.touches;
  return { head: after.history.head, digest: after.digest };
}

/** Returns a row as the store keeps it. Names each field: a page keeps every event before it shows one. */
function keptEvent(row: RestoredRow): HeldEvent {
  return {
    branch: row.branch,
    seq: row.seq,
    id: row.id,
    time: row.time,
    type: row.type,
    version: row.version,
    agent: row.agent,
    run: row.run,
    turn: row.turn,
    cause: row.cause,
    causeSeq: row.causeSeq,
    digest: row.digest,
    data: row.data,
    salt: row.salt,
    dataDigest: row.dataDigest,
    erased: row.dataDigest !== null,
  };
}

function keptPart({ digest, kind, salt, text, refs, damaged }: PartInput): PartInput {
  return { digest, kind, salt, text, refs: [...refs], ...given({ damaged: damaged === true ? damaged : undefined }) };
}
