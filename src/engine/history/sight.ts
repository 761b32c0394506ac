import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { type JsonValue, valueAt, withValueAt } from '../../core/json.ts';
import { editAt, type ListEdits } from '../../core/parts/decode.ts';
import { indexKeysOf } from '../../core/parts/encode.ts';
import { maxSeq, minSeq, type Seq } from '../../core/point.ts';
import type { FoundSnapshot, SessionRecord, SnapshotsRequest, StoredEvent } from '../../core/store/event-store.ts';
import type { Piece } from '../../core/view/piece.ts';
import { branchOf, segmentsBefore, segmentsOf } from '../../core/view/segment.ts';
import { entryOf, seqsOf, type View, viewAt } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { type Hypothesis, hypothesisAt } from './hypothesis.ts';
import { checkKeyed } from './keyed.ts';
import { listPathOf, supposedNode } from './list-reader.ts';
import { type Place, sessionRecord } from './place.ts';
import {
  dataOf,
  decoderFor,
  type EventsBatch,
  type EventsRequest,
  readEvents,
  readHeaders,
  readPoints,
  toEvent,
  unwrap,
} from './stored-events.ts';

/**
 * A view to read: stored events, and supposed ones after them. A verb makes one for its place, so that what is found out
 * about the view is found out once; it does not outlive the verb, since content may be erased later.
 */
export interface Sight {
  readonly engine: Engine;
  readonly hypothesis: Hypothesis;
  readonly view: View;
  readonly shared: SharedFacts;
}

/** The facts about a session that the sights of one verb have in common. */
interface SharedFacts {
  session: Promise<SessionRecord> | undefined;
  /** The snapshots of a key that were looked up, and the branches in which they were. */
  readonly snapshots: Map<string, { readonly within: SnapshotsRequest['within']; readonly found: FoundSnapshot[] }>;
}

/** Returns the sight of the view that a hypothesis leads to. */
export function sightOf(engine: Engine, hypothesis: Hypothesis): Sight {
  return sightWith(engine, hypothesis, { session: undefined, snapshots: new Map() });
}

function sightWith(engine: Engine, hypothesis: Hypothesis, shared: SharedFacts): Sight {
  return { engine, hypothesis, view: viewAt(hypothesis.history, hypothesis.at), shared };
}

/** Returns the sight of a different view of the same session, for the same verb: it asks for no fact about it again. */
export function sightBeside({ engine, shared }: Sight, beside: Hypothesis | Place): Sight {
  return sightWith(engine, 'place' in beside ? beside : hypothesisAt(beside), shared);
}

/** Returns the session of a sight as it was when the sight first asked for it. */
export async function sessionOf({ engine, hypothesis, shared }: Sight): Promise<SessionRecord> {
  shared.session ??= sessionRecord(engine, hypothesis.place.session);
  return shared.session;
}

/** Returns what was found out about a sight, or finds it out now. */
export function onceFor<Found>(
  known: WeakMap<Sight, Promise<Found>>,
  sight: Sight,
  find: () => Promise<Found>,
): Promise<Found> {
  const held = known.get(sight) ?? find();
  known.set(sight, held);
  return held;
}

/** Returns the sight of the view at a place; the session, if it was just looked up, is not asked for again. */
export function sightAt(engine: Engine, place: Place, session?: SessionRecord): Sight {
  const sight = sightOf(engine, hypothesisAt(place));
  if (session !== undefined) sight.shared.session = Promise.resolve(session);
  return sight;
}

/** Adjacent pieces of a view that are all stored or all supposed. */
interface PieceGroup {
  readonly isSupposed: boolean;
  readonly pieces: readonly Piece[];
}

/** Groups the pieces of a view; a piece that is partly supposed is cut in two. */
function groupsOf(pieces: readonly Piece[], stored: Seq): PieceGroup[] {
  const result: { isSupposed: boolean; pieces: Piece[] }[] = [];
  const add = (piece: Piece, isSupposed: boolean): void => {
    const last = result.at(-1);
    if (last?.isSupposed === isSupposed) last.pieces.push(piece);
    else result.push({ isSupposed, pieces: [piece] });
  };
  for (const piece of pieces) {
    if (piece.kind === 'carried') add(piece, piece.seq > stored);
    else {
      if (piece.after < stored) add({ ...piece, through: minSeq(piece.through, stored) }, false);
      if (piece.through > stored) add({ ...piece, after: maxSeq(piece.after, stored) }, true);
    }
  }
  return result;
}

/** Returns the events of a supposed group, with their lists read through edits as those of stored events are. */
function supposedEvents(
  { pieces }: PieceGroup,
  { events }: Hypothesis,
  { listEdits, replacedIds }: Pick<EventsRequest, 'listEdits' | 'replacedIds'> = {},
): Event[] {
  return pieces.flatMap((piece) => {
    const held = [...seqsOf({ pieces: [piece] })].flatMap((seq) => events.get(seq) ?? []);
    return held.map((event) => withListEdits(piece.kind === 'carried' ? unwrap(event, replacedIds) : event, listEdits));
  });
}

function withListEdits(event: Event, listEdits: ListEdits | undefined): Event {
  const path = listPathOf(event.type);
  const list = path === undefined ? undefined : valueAt(event.data, path);
  if (listEdits === undefined || path === undefined || !Array.isArray(list)) return event;
  const messages = list.flatMap((item: JsonValue, index): JsonValue[] => {
    const edit = editAt(listEdits, { node: supposedNode(event.seq), index }, event.seq);
    if (edit === undefined) return [item];
    return edit.kind === 'replace' ? [edit.value] : [];
  });
  return { ...event, data: withValueAt(event.data, path, messages) };
}

/** Yields the events of some pieces in order: stored ones by the batch, supposed ones from memory. */
export async function* eventsOf(
  { engine, hypothesis }: Pick<Sight, 'engine' | 'hypothesis'>,
  { pieces }: View,
  request: EventsRequest = {},
): AsyncGenerator<EventsBatch> {
  const { session, seq: stored } = hypothesis.place;
  for (const group of groupsOf(pieces, stored)) {
    if (group.isSupposed) yield { events: supposedEvents(group, hypothesis, request), bytes: 0 };
    else yield* readEvents(engine, session, segmentsOf(group), request);
  }
}

/** Reads the event of a view that a seq names. */
export async function eventInView(sight: Sight, seq: Seq, listEdits?: ListEdits): Promise<Event> {
  const { engine, hypothesis, view } = sight;
  const { place } = hypothesis;
  const entry = entryOf(view, seq);
  const supposed = entry === undefined ? undefined : hypothesis.events.get(entry.seq);
  const [event] =
    entry === undefined || supposed !== undefined
      ? [supposed]
      : await readPoints(engine, place.session, [entry], listEdits);
  if (entry !== undefined && event !== undefined) {
    const shown = entry.carried ? unwrap(event) : event;
    return supposed === undefined ? shown : withListEdits(shown, listEdits);
  }
  // The message names the place that was asked for: supposed events after it are unknown to the reader.
  const { branch } = place.record;
  const at = place.seq;
  const isKnown = seq >= 1 && seq <= Math.max(hypothesis.at, place.record.head);
  throw new RepriseError(
    isKnown ? 'event.not-in-view' : 'event.not-found',
    `Cannot find seq ${seq} in the view at "${branch}@${at}"${isKnown ? ': it was taken out, or it is a marker' : ''}`,
    {
      hint: isKnown ? 'Look at the raw history to see what took it out.' : `Choose a seq from 1 to ${at}.`,
      details: { branch, at, seq },
    },
  );
}

/** Reads the events at these seqs of the raw history: stored ones first, then supposed ones. */
export async function eventsAt({ engine, hypothesis }: Sight, seqs: readonly Seq[]): Promise<Event[]> {
  const { place, history, events } = hypothesis;
  const stored = seqs.filter((seq) => !events.has(seq)).map((seq) => ({ branch: branchOf(history, seq), seq }));
  const supposed = seqs.flatMap((seq) => events.get(seq) ?? []);
  return [...(stored.length === 0 ? [] : await readPoints(engine, place.session, stored)), ...supposed];
}

/** Yields the events of a view that are indexed under a key, last first. */
export async function* eventsOfKey({ engine, hypothesis, view }: Sight, key: string): AsyncGenerator<Event> {
  const { session, seq: stored } = hypothesis.place;
  for (const group of groupsOf(view.pieces, stored).reverse()) {
    if (group.isSupposed) {
      for (const event of supposedEvents(group, hypothesis).reverse())
        if (indexKeysOf(event).includes(key)) yield event;
      continue;
    }
    let segments = segmentsOf(group);
    for (;;) {
      const page = await engine.store.latest(
        sessionRef(engine, session),
        segments,
        { keys: [key] },
        { limit: 1, select: 'full' },
      );
      const row = page.entries[0]?.event;
      if (row === undefined) break;
      const data = dataOf(row, await decoderFor(engine, session, [row]));
      checkKeyed(row, data, key);
      yield shownEvent(session, row, data);
      segments = segmentsBefore(segments, row);
    }
  }
}

function shownEvent(session: string, row: StoredEvent, data: Event['data']): Event {
  const event = toEvent(session, row, data);
  return isStructural(event.type) ? unwrap(event) : event;
}

/** One event of a view, with its cause. */
export interface Link {
  readonly seq: Seq;
  readonly id: string;
  readonly type: string;
  readonly cause: string | null;
}

/** Yields the events of a view in order, with their causes; those of carried events are inside their markers. */
export async function* linksOf({ engine, hypothesis, view }: Sight): AsyncGenerator<Link> {
  const { session, seq: stored } = hypothesis.place;
  for (const group of groupsOf(view.pieces, stored)) {
    if (group.isSupposed) {
      for (const event of supposedEvents(group, hypothesis)) yield linkOf(event);
      continue;
    }
    const carried = group.pieces.filter((piece) => piece.kind === 'carried');
    const markers = carried.length === 0 ? [] : await readPoints(engine, session, carried);
    const inside = new Map(markers.map((marker) => [marker.seq, unwrap(marker)]));
    for await (const rows of readHeaders(engine, session, segmentsOf(group))) {
      for (const row of rows) {
        const event = inside.get(row.seq);
        yield event === undefined ? row : linkOf(event);
      }
    }
  }
}

const linkOf = ({ seq, id, type, cause }: Event): Link => ({ seq, id, type, cause: cause ?? null });
