import { prefixEnd } from '../../../core/event/keys.ts';
import { checkLimit } from '../../../core/limits.ts';
import type { PartInput } from '../../../core/parts/parts.ts';
import type { Point, Seq, SeqRange } from '../../../core/point.ts';
import { type AppendSource, judgeAppend } from '../../../core/store/append-judgement.ts';
import type { AppendOutcome, AppendRequest, Platform, StoredEvent } from '../../../core/store/event-store.ts';
import { compareUtf8 } from '../../../core/utf8.ts';
import { rawPieces } from '../../../core/view/segment.ts';
import {
  addEvent,
  eventAt,
  type HeldBranch,
  type HeldSession,
  heldBranch,
  heldEvent,
  heldSession,
  indexEvent,
  type Shelf,
  sortedKeysOf,
  stateAt,
  turnAt,
} from '../shelf.ts';

/** Judges one append and keeps it. Throws why it is refused, before it changes anything. */
export function append(shelf: Shelf, platform: Platform, request: AppendRequest): AppendOutcome {
  const session = heldSession(shelf, request);
  const judgement = judgeAppend(sourceOf(session), request, platform);
  if (judgement.kind === 'known') return judgement.outcome;
  const { plan } = judgement;
  const branch =
    request.target.kind === 'fork'
      ? addFork(session, request.target, plan.after, plan.events[0]?.time ?? platform.now())
      : heldBranch(session, request.target.branch);
  for (const event of plan.events) {
    addEvent(branch, heldEvent(event));
    session.places.set(event.id, { branch, seq: event.seq });
    for (const key of event.keys) indexEvent(branch, key, event.seq);
    session.updatedAt = event.time;
  }
  for (const part of request.parts) {
    if (session.parts.has(part.digest)) continue;
    session.parts.set(part.digest, keptPart(part));
    branch.parts.add(part.digest);
  }
  branch.state = plan.after;
  session.touched = ++shelf.touches;
  return judgement.outcome;
}

/** Returns a part without any extra fields of the caller. */
function keptPart({ digest, kind, salt, text, refs }: PartInput): PartInput {
  return { digest, kind, salt, text, refs: [...refs] };
}

/** Adds a branch. */
export function addFork(
  session: HeldSession,
  target: { readonly branch: string; readonly parent: Point },
  state: HeldBranch['state'],
  createdAt: string,
): HeldBranch {
  let depth = 1;
  for (
    let branch = session.branches.get(target.parent.branch);
    branch?.parent !== undefined;
    branch = session.branches.get(branch.parent.branch)
  )
    depth++;
  checkLimit('lineageDepthMax', depth, `fork "${target.parent.branch}"`);
  const parent = { branch: target.parent.branch, seq: target.parent.seq };
  const branch: HeldBranch = {
    name: target.branch,
    parent,
    createdAt,
    events: [],
    clocks: [],
    parts: new Set(),
    keys: new Map(),
    sortedKeys: [],
    state,
  };
  session.branches.set(target.branch, branch);
  return branch;
}

/** Returns the lookups that judging an append needs. */
export function sourceOf(session: HeldSession): AppendSource {
  const eventOf = (id: string): StoredEvent | undefined => {
    const place = session.places.get(id);
    return place === undefined ? undefined : eventAt(place.branch, place.seq);
  };
  const found = (ids: readonly string[]): Map<string, StoredEvent> =>
    new Map(
      ids.flatMap((id) => {
        const event = eventOf(id);
        return event === undefined ? [] : [[id, event]];
      }),
    );
  return {
    stateOf: (name) => session.branches.get(name)?.state,
    stateAt: (point) => stateAt(session, point),
    known: found,
    causes: found,
    turnAt: (branch, seq) => turnAt(session, branch, seq),
    firstChange: (history, { since, keys, prefixes }) => {
      for (const piece of rawPieces(history, history.head)) {
        const branch = heldBranch(session, piece.branch);
        const range = { after: Math.max(piece.after, since) as Seq, through: piece.through };
        for (const key of [...keys, ...prefixes.flatMap((prefix) => keysUnder(branch, prefix))]) {
          const seq = firstIn(branch.keys.get(key) ?? [], range);
          if (seq !== undefined) return { key, seq };
        }
      }
      return undefined;
    },
    part: (digest) => session.parts.get(digest),
    notHeld: (digests) => digests.filter((digest) => isHole(session.parts.get(digest))),
  };
}

/** Returns the first of rising seqs within a range. Searches from the end, since conditions ask about recent events. */
function firstIn(seqs: readonly Seq[], { after, through }: SeqRange): Seq | undefined {
  let first: Seq | undefined;
  for (let index = seqs.length - 1; index >= 0 && (seqs[index] as Seq) > after; index--)
    if ((seqs[index] as Seq) <= through) first = seqs[index];
  return first;
}

/** Returns true if a part is missing or no longer matches its digest, so that new data must not refer to it. */
function isHole(part: PartInput | undefined): boolean {
  return part === undefined || part.damaged === true;
}

/** Returns keys of a branch with a prefix, in byte order. */
export function keysUnder(branch: HeldBranch, prefix: string): readonly string[] {
  const keys = sortedKeysOf(branch);
  const end = prefixEnd(prefix);
  return keys.slice(indexFrom(keys, prefix), end === undefined ? keys.length : indexFrom(keys, end));
}

/** Returns the index of the first key that is not less than the text. */
function indexFrom(keys: readonly string[], text: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareUtf8(keys[middle] as string, text) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
