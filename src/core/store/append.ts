import { RepriseError } from '../error.ts';
import { isStructural } from '../event/families/structural.ts';
import type { JsonObject } from '../json.ts';
import { checkLimit } from '../limits.ts';
import { chainDigest, dataDigestOf } from '../parts/digest.ts';
import { type Digest, later, previous, type Seq } from '../point.ts';
import { beginsEpoch, isEdit, type Marker, markerOf } from '../view/marker.ts';
import { inRange, rawPieces } from '../view/segment.ts';
import { entryOf, type History, lastOf, liveMarker, viewAt } from '../view/view.ts';
import type { Appended, AppendRequest, EventInput } from './append-request.ts';
import type { BranchState } from './branch-state.ts';
import type { Platform } from './platform.ts';
import type { StoredEvent } from './stored-event.ts';

/** Where a stored event is, and its turn. */
export interface EventPlace {
  readonly branch: string;
  readonly seq: Seq;
  readonly turn: number;
}

/** The facts that a store looks up before it plans an append. */
export interface AppendFacts {
  /** Events of this session by id: those of the request's ids and causes that are stored. */
  readonly stored: ReadonlyMap<string, EventPlace>;
  /** For an `unchanged` condition: the first event after `since` that changed a named key, if any. */
  readonly changed?: { readonly key: string; readonly seq: Seq } | undefined;
  /** Returns the turn of a stored event, needed when a structural event makes it the last of the view. */
  readonly turnAt: (branch: string, seq: Seq) => number;
}

/** An event as a store writes it; one that was erased in a different store comes without its payload. */
export interface WrittenRow extends Omit<StoredEvent, 'salt' | 'dataDigest' | 'erased'> {
  readonly salt: string | null;
  /** Kept only for an erased payload. */
  readonly dataDigest?: Digest | null;
  readonly keys: readonly string[];
}

/** An event as it will be stored. */
export interface PlannedEvent extends WrittenRow {
  readonly data: string;
  readonly salt: string;
}

/** The rows that an append will write, and the branch's state after it. */
export interface AppendPlan {
  readonly events: readonly PlannedEvent[];
  readonly after: BranchState;
}

/** Judges an append and decides every row it writes. Throws a {@link RepriseError} to refuse it. */
export function planAppend(
  state: BranchState,
  request: AppendRequest,
  facts: AppendFacts,
  platform: Platform,
): AppendPlan {
  if (request.events.length === 0)
    throw new RepriseError('append.empty', 'Cannot append: there are no events in the batch');
  checkEpoch(state, request);
  checkCondition(state, request, facts);
  const planned: PlannedEvent[] = [];
  const own = new Map<string, EventPlace>();
  const find = (id: string): EventPlace | undefined => own.get(id) ?? facts.stored.get(id);
  const turnAt: AppendFacts['turnAt'] = (branch, seq) =>
    planned.find((held) => held.branch === branch && held.seq === seq)?.turn ?? facts.turnAt(branch, seq);
  let after = state;
  for (const input of request.events) {
    const event = planEvent(after, input, find, platform);
    own.set(event.id, event);
    planned.push(event);
    after = advance(after, event, { turnAt, check: (history, marker) => checkMarker(history, marker, request) });
  }
  return { events: planned, after };
}

function planEvent(
  state: BranchState,
  input: EventInput,
  find: (id: string) => EventPlace | undefined,
  platform: Platform,
): PlannedEvent {
  const { branch, history } = state;
  const seq = later(history.head, 1);
  if (!Number.isSafeInteger(seq)) throw seqsUsedUp(state);
  const cause = input.cause === undefined ? undefined : find(input.cause);
  if (input.cause !== undefined && cause === undefined) {
    throw new RepriseError(
      'event.not-found',
      `Cannot append "${input.type}": its cause "${input.cause}" is not an event of this session`,
      {
        hint: 'Append the cause first, or leave it out.',
        details: { cause: input.cause },
      },
    );
  }
  const salt = platform.newSalt();
  const link = {
    seq,
    id: input.id,
    type: input.type,
    version: input.version,
    time: input.time,
    agent: input.agent ?? null,
    run: input.run ?? null,
    turn: input.turn ?? (cause === undefined ? undefined : shownTurn(history, cause)) ?? state.turn,
    cause: input.cause ?? null,
    dataDigest: dataDigestOf(platform.sha256, salt, input.data),
  };
  const digest = chainDigest(platform.sha256, state.digest, link);
  const causeSeq = cause !== undefined && isInHistory(history, branch, cause) ? cause.seq : null;
  return {
    branch,
    seq,
    id: link.id,
    time: link.time,
    type: link.type,
    version: link.version,
    agent: link.agent,
    run: link.run,
    turn: link.turn,
    cause: link.cause,
    causeSeq,
    digest,
    data: input.data,
    salt,
    keys: input.keys,
  };
}

/** Returns the turn of an event as views show it: an edit shows the turn of the event that it carries. */
export function shownTurn({ markers }: History, { branch, seq, turn }: EventPlace): number {
  const marker = markers.find((held) => held.seq === seq && held.branch === branch);
  return marker?.kind === 'replaced' || marker?.kind === 'inserted' ? marker.turn : turn;
}

/** Returns true if an event leads to the head of this branch, rather than being on a different one. */
function isInHistory(history: History, branch: string, place: { readonly branch: string; readonly seq: Seq }): boolean {
  if (place.branch === branch) return true;
  return rawPieces(history, history.head).some((piece) => piece.branch === place.branch && inRange(piece, place.seq));
}

/** Returns the state of a branch after one more event; `check` refuses a structural one that does not fit. */
export function advance(
  state: BranchState,
  event: Pick<StoredEvent, 'seq' | 'type' | 'turn' | 'digest' | 'data'>,
  { turnAt, check }: Pick<AppendFacts, 'turnAt'> & { readonly check: (history: History, marker: Marker) => void },
): BranchState {
  const { branch, history } = state;
  if (!isStructural(event.type)) {
    return {
      branch,
      history: { root: history.root, markers: history.markers, head: event.seq },
      digest: event.digest,
      epoch: state.epoch,
      turn: event.turn,
    };
  }
  const data = JSON.parse(event.data ?? '') as JsonObject;
  const marker = markerOf({ branch, seq: event.seq, type: event.type, data });
  check(history, marker);
  const edited: History = { root: history.root, markers: [...history.markers, marker], head: event.seq };
  checkLimit('markersMax', edited.markers.length, `edit "${branch}"`);
  const epoch = beginsEpoch(marker) ? event.seq : state.epoch;
  if (!isEdit(marker)) return { branch, history: edited, digest: event.digest, epoch, turn: state.turn };
  const last = lastOf(viewAt(edited, event.seq));
  const turn = last === undefined ? 0 : (last.carriedTurn ?? turnAt(last.branch, last.seq));
  return { branch, history: edited, digest: event.digest, epoch, turn };
}

/** Checks a structural event against the view it changes: the last line of defense below the verbs. */
function checkMarker(history: History, marker: Marker, request: AppendRequest): void {
  if (marker.kind === 'forked') {
    if (request.target.kind !== 'fork' || marker.seq !== later(request.target.parent.seq, 1))
      refuseMarker(marker, 'a branch is only forked once, as its first event', 'edit.invalid');
    return;
  }
  if (request.condition.kind !== 'head' && marker.kind !== 'erased' && request.target.kind !== 'fork') {
    refuseMarker(marker, 'structural events are appended under the "head" condition', 'event.reserved');
  }
  checkMarkerFits(history, marker);
}

/** Refuses an edit that does not fit the view it changes. */
export function checkMarkerFits(history: History, marker: Marker): void {
  const at = history.head;
  if (marker.kind === 'rewound' && !(Number.isSafeInteger(marker.to) && marker.to >= 0 && marker.to <= at)) {
    refuseMarker(marker, `there is no seq ${marker.to}`, 'point.out-of-range');
  }
  const target =
    marker.kind === 'replaced'
      ? marker.target
      : marker.kind === 'inserted' && marker.after !== 0
        ? marker.after
        : undefined;
  if (target !== undefined && entryOf(viewAt(history, at), target) === undefined)
    refuseMarker(marker, `seq ${target} is not in the view`, 'event.not-in-view');
  if (marker.kind === 'reverted') checkReverted(history, at, marker);
}

function checkReverted(history: History, at: Seq, marker: Extract<Marker, { kind: 'reverted' }>): void {
  const view = viewAt(history, at);
  const isMarkerSeq = new Set(history.markers.map((held) => held.seq));
  for (const seq of marker.seqs) {
    const live = isMarkerSeq.has(seq) ? liveMarker(history, at, seq) : undefined;
    if (live?.kind === 'rewound' || (live?.kind === 'rewoundToTurn' && !marker.redo))
      refuseMarker(marker, `seq ${seq} is a rewind; rewind to seq ${previous(seq)} to undo it`, 'event.structural');
    if (live === undefined && (isMarkerSeq.has(seq) || entryOf(view, seq) === undefined))
      refuseMarker(marker, `seq ${seq} is not in the view`, 'event.not-in-view');
  }
}

function refuseMarker(
  marker: Marker,
  why: string,
  code: 'edit.invalid' | 'event.reserved' | 'event.not-in-view' | 'point.out-of-range' | 'event.structural',
): never {
  throw new RepriseError(code, `Cannot write the marker at seq ${marker.seq} of "${marker.branch}": ${why}`, {
    details: { branch: marker.branch, seq: marker.seq },
  });
}

function checkEpoch(state: BranchState, request: AppendRequest): void {
  if (request.epoch === undefined || request.epoch === state.epoch) return;
  throw new RepriseError(
    'branch.rewound',
    `Cannot append to "${state.branch}": it was rewound at seq ${state.epoch}, after this writer started`,
    {
      hint: 'Continue on a branch forked at the last seq you wrote.',
      details: { branch: state.branch, epoch: state.epoch, expected: request.epoch },
    },
  );
}

function checkCondition(state: BranchState, request: AppendRequest, facts: AppendFacts): void {
  const { condition } = request;
  const head = state.history.head;
  if (condition.kind === 'head' && condition.seq !== head) {
    throw new RepriseError(
      'append.conflict',
      `Cannot append to "${state.branch}" at seq ${condition.seq}: head is at ${head}`,
      {
        hint: 'Read what was appended since, decide again, and append at the new head.',
        details: { branch: state.branch, expected: condition.seq, actual: head },
      },
    );
  }
  if (condition.kind !== 'unchanged') return;
  if (condition.since > head) {
    throw new RepriseError(
      'point.out-of-range',
      `Cannot append to "${state.branch}" if nothing changed since seq ${condition.since}: head is at ${head}`,
      {
        hint: 'Give the seq of the point at which you read.',
        details: { branch: state.branch, since: condition.since, head },
      },
    );
  }
  // A fork changes nothing that was read; an erasure does.
  const marker = state.history.markers.findLast((held) => held.seq > condition.since && held.kind !== 'forked');
  if (marker === undefined && facts.changed === undefined) return;
  const what =
    facts.changed === undefined
      ? `the history was edited at seq ${marker?.seq}`
      : `seq ${facts.changed.seq} changed what was read`;
  throw new RepriseError(
    'state.conflict',
    `Cannot append to "${state.branch}": since seq ${condition.since}, ${what}`,
    {
      hint: 'Read again, decide again, and append again.',
      details: {
        branch: state.branch,
        since: condition.since,
        seq: facts.changed?.seq ?? marker?.seq ?? 0,
        key: facts.changed?.key ?? '',
      },
    },
  );
}

/** Returns the error for a branch that no writer of ours could have made this long. */
function seqsUsedUp({ branch, history: { head } }: BranchState): RepriseError {
  return new RepriseError('store.damaged', `Cannot append to "${branch}": its head is at ${head}, the last seq`, {
    hint: 'Run verify: the store was damaged or changed.',
    details: { branch, seq: head },
  });
}

/** Returns a planned event as the writer gets it. */
export function appendedOf(event: Pick<PlannedEvent, 'id' | 'seq' | 'turn' | 'causeSeq' | 'digest'>): Appended {
  const { id, seq, turn, causeSeq, digest } = event;
  return causeSeq === null ? { id, seq, turn, digest } : { id, seq, turn, causeSeq, digest };
}

/**
 * Judges a batch of which some ids are stored already. Returns the stored events if all of the batch is stored with the
 * same content, undefined if none of it is, and throws otherwise.
 */
export function knownBatch(
  inputs: readonly EventInput[],
  stored: ReadonlyMap<string, StoredEvent>,
  isSameData: (input: EventInput, held: StoredEvent) => boolean,
): readonly StoredEvent[] | undefined {
  const held = inputs.flatMap((input) => stored.get(input.id) ?? []);
  if (held.length === 0) return undefined;
  for (const input of inputs) {
    const event = stored.get(input.id);
    if (event !== undefined && !isSameEvent(input, event, isSameData)) {
      throw new RepriseError(
        'event.id-reused',
        `Cannot append: the id "${input.id}" is taken by the event at "${event.branch}@${event.seq}" with different content`,
        {
          hint: 'Mint a new id for a new event; repeat an id only to repeat the same append.',
          details: { id: input.id, branch: event.branch, seq: event.seq },
        },
      );
    }
  }
  const branches = new Set(held.map((event) => event.branch));
  if (held.length !== inputs.length || branches.size > 1) {
    throw new RepriseError(
      'append.partly-known',
      `Cannot append: ${held.length} of ${inputs.length} events of the batch are stored already${branches.size > 1 ? ', on several branches' : ''}`,
      {
        hint: 'Repeat a batch as it was, or not at all.',
      },
    );
  }
  return held;
}

/** Compares only the fields that the writer gave, and not the time: a retry may have a new one. */
function isSameEvent(
  input: EventInput,
  held: StoredEvent,
  isSameData: (input: EventInput, held: StoredEvent) => boolean,
): boolean {
  return (
    input.type === held.type &&
    input.version === held.version &&
    (input.agent ?? null) === held.agent &&
    (input.run ?? null) === held.run &&
    (input.cause ?? null) === held.cause &&
    (input.turn === undefined || input.turn === held.turn) &&
    isSameData(input, held)
  );
}
