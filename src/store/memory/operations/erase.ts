import { given } from '../../../core/json.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import { checkErasable, checkErasures } from '../../../core/store/erase-request.ts';
import { erasedKeys, storedKeys } from '../../../core/store/event-keys.ts';
import type { AppendOutcome, EraseRequest, Platform } from '../../../core/store/event-store.ts';
import {
  eventAt,
  firstSeq,
  type HeldBranch,
  type HeldEvent,
  type HeldSession,
  heldBranch,
  heldSession,
  indexEvent,
  type Shelf,
  unindexEvent,
} from '../shelf.ts';
import { append } from './append.ts';

/** Erases payloads and appends their markers; a refusal leaves everything as it was. */
export function erase(shelf: Shelf, platform: Platform, request: EraseRequest): AppendOutcome[] {
  const session = heldSession(shelf, request);
  checkErasures(request, session.erasures);
  const erased = request.events.map(({ branch, seq, dataDigest }) =>
    erasable(heldBranch(session, branch), seq, dataDigest),
  );
  const kept = request.appends.flatMap(({ target, events }) =>
    events.flatMap((event) =>
      event.type === 'payload.erased'
        ? [...erasedKeys(event.data)].map(([seq, keys]) => ({ name: target.branch, seq, keys }))
        : [],
    ),
  );
  const before = [
    ...erased.map(({ branch, event }) => ({ branch, seq: event.seq, keys: eventKeys(session, event) })),
    ...kept.map(({ name, seq }) => {
      const branch = heldBranch(session, name);
      const event = eventAt(branch, seq);
      return { branch, seq, keys: event === undefined ? [] : eventKeys(session, event) };
    }),
  ];
  // Only the appends can be refused, so they come first; if one is, all of them are undone.
  const outcomes = appendAll(shelf, session, platform, request);
  for (const { branch, seq, keys } of before) unindexEvent(branch, keys, seq);
  for (const { branch, event, dataDigest } of erased) {
    if (!event.erased)
      branch.events[event.seq - firstSeq(branch)] = { ...event, data: null, salt: null, dataDigest, erased: true };
  }
  for (const { name, seq, keys } of kept) for (const key of keys) indexEvent(heldBranch(session, name), key, seq);
  for (const part of request.rewrites) {
    const held = session.parts.get(part.digest);
    if (held === undefined) continue;
    const { digest, kind, salt, text, refs } = part;
    const damaged = part.damaged === true || held.damaged === true ? true : undefined;
    session.parts.set(digest, { digest, kind, salt, text, refs: [...refs], ...given({ damaged }) });
  }
  for (const digest of request.parts) {
    session.parts.delete(digest);
    for (const branch of session.branches.values()) branch.parts.delete(digest);
  }
  session.snapshots.clear();
  session.erasures++;
  return outcomes;
}

function erasable(
  branch: HeldBranch,
  seq: Seq,
  dataDigest: Digest,
): { readonly branch: HeldBranch; readonly event: HeldEvent; readonly dataDigest: Digest } {
  const event = eventAt(branch, seq);
  const type = event?.type;
  checkErasable({ branch: branch.name, seq }, type);
  return { branch, event: event as HeldEvent, dataDigest };
}

function appendAll(shelf: Shelf, session: HeldSession, platform: Platform, { appends }: EraseRequest): AppendOutcome[] {
  const branches = [...session.branches.values()].map((branch) => ({
    branch,
    state: branch.state,
    count: branch.events.length,
    partCount: branch.parts.size,
  }));
  const { updatedAt } = session;
  try {
    return appends.map((request) => append(shelf, platform, request));
  } catch (error) {
    session.updatedAt = updatedAt;
    for (const { branch, state, count, partCount } of branches) {
      for (const event of branch.events.splice(count)) session.places.delete(event.id);
      branch.clocks.splice(count);
      for (const digest of [...branch.parts].slice(partCount)) {
        branch.parts.delete(digest);
        session.parts.delete(digest);
      }
      branch.state = state;
    }
    throw error;
  }
}

/** Returns the keys of an event, read from its payload; none if the payload is gone. */
export function eventKeys(session: HeldSession, event: HeldEvent): readonly string[] {
  return storedKeys(event, (digest) => session.parts.get(digest));
}
