import { canonicalJson } from '../../core/canonical-json.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { storedJson } from '../../core/parts/decode.ts';
import { createPartMemory, encodeData } from '../../core/parts/encode.ts';
import { beginning, type Digest, later, type Seq } from '../../core/point.ts';
import { checkMarkerFits, shownTurn } from '../../core/store/append.ts';
import { isEdit, markerOf } from '../../core/view/marker.ts';
import { branchOf } from '../../core/view/segment.ts';
import { type History, lastOf, viewAt } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { type Place, turnAt } from './place.ts';
import { type StampedDraft, stamp } from './stamp.ts';

/** A history as it would be if events were appended at a place: the history, and those events by seq. Nothing is written. */
export interface Hypothesis {
  /** The place it begins at; everything up to there is stored. */
  readonly place: Place;
  /** The branch that would store the supposed events. */
  readonly branch: string;
  readonly history: History;
  readonly at: Seq;
  /** The supposed events; those after the place. */
  readonly events: ReadonlyMap<Seq, Event>;
  /** The story clock where it was last looked up: the last event of that view, and its turn. */
  readonly clock?: { readonly seq: Seq; readonly turn: number };
}

/** Returns the hypothesis that supposes nothing yet; events supposed later would be stored on `branch`. */
export function hypothesisAt(place: Place, branch: string = place.record.branch): Hypothesis {
  const markers = place.history.markers.filter((marker) => marker.seq <= place.seq);
  return {
    place,
    branch,
    history: { root: place.history.root, markers, head: place.seq },
    at: place.seq,
    events: new Map(),
  };
}

/** A hypothesis, and the drafts that lead to it, with the ids and times they would be appended with. */
export interface Supposed {
  readonly hypothesis: Hypothesis;
  readonly drafts: readonly StampedDraft[];
}

/** How drafts are checked: `encode` refuses all that an append refuses; `write` leaves that to the write that follows. */
export type DraftCheck = 'encode' | 'write';

/** Supposes that drafts are appended as well. Refuses a draft that an append would refuse. */
export async function supposeAppended(
  engine: Engine,
  base: Hypothesis,
  drafts: readonly EventDraft[],
  check: DraftCheck = 'encode',
): Promise<Supposed> {
  const now = engine.platform.now();
  const stamped = drafts.map((draft) => stamp(engine, draft, now));
  let hypothesis = base;
  for (const draft of stamped) hypothesis = await supposeOne(engine, hypothesis, draft, check);
  return { hypothesis, drafts: stamped };
}

async function supposeOne(
  engine: Engine,
  before: Hypothesis,
  draft: StampedDraft,
  check: DraftCheck,
): Promise<Hypothesis> {
  const base = draft.turn === undefined && draft.cause === undefined ? await withClock(engine, before) : before;
  const { branch, history } = base;
  const seq = later(base.at, 1);
  const event = await eventFor(engine, base, draft, seq);
  if (check === 'encode') encodeData(event, engine.platform, createPartMemory());
  const { type, data } = event;
  const marker = isStructural(type) ? markerOf({ branch, seq, type, data }) : undefined;
  if (marker !== undefined && isEdit(marker)) checkMarkerFits(history, marker);
  const markers = marker === undefined ? history.markers : [...history.markers, marker];
  return {
    ...base,
    history: { root: history.root, markers, head: seq },
    at: seq,
    events: new Map([...base.events, [seq, event]]),
  };
}

async function eventFor(engine: Engine, base: Hypothesis, draft: StampedDraft, seq: Seq): Promise<Event> {
  const { id, time, type, agent, run, cause } = draft;
  const led = cause === undefined ? undefined : await causeOf(engine, base, draft.type, cause);
  return {
    session: base.place.session,
    branch: base.branch,
    seq,
    id,
    time,
    type,
    version: draft.version,
    ...given({ agent, run }),
    turn: draft.turn ?? led?.turn ?? base.clock?.turn ?? 0,
    ...given({ cause, causeSeq: led?.seq }),
    // A copy, in the form the store would return.
    data: storedJson(canonicalJson(draft.data)) as JsonObject,
    digest: '' as Digest,
  };
}

/** Returns the turn of a cause, and its seq if it leads here; `event.not-found` if the session has no such event. */
export async function causeOf(
  engine: Engine,
  { place, history, at, events }: Hypothesis,
  type: string,
  cause: string,
): Promise<{ readonly turn: number; readonly seq?: Seq }> {
  for (const event of events.values())
    if (event.id === cause) return { turn: shownTurn(history, event), seq: event.seq };
  const held = (await engine.store.locate(sessionRef(engine, place.session), [cause])).get(cause);
  if (held === undefined) {
    throw new RepriseError(
      'event.not-found',
      `Cannot append "${type}": its cause "${cause}" is not an event of this session`,
      { hint: 'Append the cause first, or leave it out.', details: { cause } },
    );
  }
  const turn = shownTurn(history, { ...held, turn: await turnAt(engine, place.session, held) });
  return held.seq <= at && branchOf(history, held.seq) === held.branch ? { turn, seq: held.seq } : { turn };
}

/** Looks up the story clock: the turn of the last event in the view, 0 if the view is empty. A marker does not move it. */
async function withClock(engine: Engine, hypothesis: Hypothesis): Promise<Hypothesis> {
  const { place, history, at, events } = hypothesis;
  const last = lastOf(viewAt(history, at));
  const seq = last?.seq ?? beginning;
  if (hypothesis.clock?.seq === seq) return hypothesis;
  if (events.size === 0 && at === place.record.head) return { ...hypothesis, clock: { seq, turn: place.record.turn } };
  if (last === undefined || last.carriedTurn !== undefined)
    return { ...hypothesis, clock: { seq, turn: last?.carriedTurn ?? 0 } };
  const turn = events.get(seq)?.turn ?? (await turnAt(engine, place.session, last));
  return { ...hypothesis, clock: { seq, turn } };
}
