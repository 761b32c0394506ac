import { RepriseError } from '../../../core/error.ts';
import { isStructural } from '../../../core/event/families/structural.ts';
import type { JsonObject } from '../../../core/json.ts';
import { DataDecoder } from '../../../core/parts/decode.ts';
import { keysOf } from '../../../core/parts/encode.ts';
import type { Digest, Seq } from '../../../core/point.ts';
import { checkErasures } from '../../../core/store/append-judgement.ts';
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

/** Forgets payloads and appends their markers; whatever is refused leaves everything as it was. */
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
  // The appends are what can be refused; they come first, and all of them are undone if one is.
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
    const isDamaged = part.damaged || held.damaged === true;
    session.parts.set(digest, { digest, kind, salt, text, refs: [...refs], ...(isDamaged ? { damaged: true } : {}) });
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
  const place = { branch: branch.name, seq };
  if (event === undefined)
    throw new RepriseError('event.not-found', `Cannot erase "${branch.name}@${seq}": there is no such event`, {
      details: place,
    });
  if (isStructural(event.type)) {
    throw new RepriseError(
      'event.structural',
      `Cannot erase "${branch.name}@${seq}": it is a structural event ("${event.type}")`,
      {
        hint: 'Erase the event it carries, or revert it.',
        details: place,
      },
    );
  }
  return { branch, event, dataDigest };
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

/** What an event is indexed under, told from its payload; nothing if that is gone. */
export function eventKeys(session: HeldSession, { type, agent, data }: HeldEvent): readonly string[] {
  if (data === null) return [];
  const decoder = new DataDecoder({ get: (digest) => session.parts.get(digest), isErased: () => true });
  return keysOf({ type, agent: agent ?? undefined, data: decoder.decode(data) });
}

/** The keys that a `payload.erased` event keeps for what was erased, by seq. */
export function erasedKeys(data: string): ReadonlyMap<Seq, readonly string[]> {
  const { keys } = JSON.parse(data) as JsonObject;
  return new Map(
    Object.entries((keys ?? {}) as Record<string, readonly string[]>).map(([seq, held]) => [Number(seq) as Seq, held]),
  );
}
