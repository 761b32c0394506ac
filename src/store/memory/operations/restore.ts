import { given } from '../../../core/json.ts';
import type { PartInput } from '../../../core/parts/parts.ts';
import type { Platform } from '../../../core/store/event-store.ts';
import { judgeRestore } from '../../../core/store/restore.ts';
import { type RestoreOutcome, type RestoreRequest } from '../../../core/store/restore-request.ts';
import { addEvent, type HeldBranch, heldBranch, heldSession, indexEvent, type Shelf } from '../shelf.ts';
import { addFork, sourceOf } from './append.ts';

/** Judges events of a different store and keeps them as they are. Throws why they are refused, before it changes anything. */
export function restore(shelf: Shelf, platform: Platform, request: RestoreRequest): RestoreOutcome {
  const session = heldSession(shelf, request);
  const { events, after, isNewBranch } = judgeRestore(sourceOf(session), request, platform);
  const { parent } = request;
  const branch: HeldBranch =
    isNewBranch && parent !== undefined
      ? addFork(session, { branch: request.branch, parent }, after, events[0]?.time ?? platform.now())
      : heldBranch(session, request.branch);
  for (const { keys, ...event } of events) {
    addEvent(branch, { ...event, erased: event.dataDigest !== null });
    session.places.set(event.id, { branch, seq: event.seq });
    for (const key of keys) indexEvent(branch, key, event.seq);
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

function keptPart({ digest, kind, salt, text, refs, damaged }: PartInput): PartInput {
  return { digest, kind, salt, text, refs: [...refs], ...given({ damaged: damaged === true ? damaged : undefined }) };
}
