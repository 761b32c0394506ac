import { RepriseError } from '../core/error.ts';
import type { Event } from '../core/event.ts';
import { plainKey } from '../core/keys.ts';
import type { Seq } from '../core/point.ts';
import { branchOf, clipSegments, segmentsOf } from '../core/segment.ts';
import { entryOf, liveMarker, type View, viewAt } from '../core/view.ts';
import { type Engine, sessionRef } from './engine.ts';
import { readHeaders, readPlaces, unwrap } from './events.ts';
import type { Place } from './place.ts';

/** What goes when an event is taken out of a view. */
export interface TakenOut {
  /** The event, what belongs to it, and with `cascade` everything that depended on them. */
  readonly seqs: readonly Seq[];
  /** What depends on them by `cause` and stays. */
  readonly dependents: readonly Seq[];
}

/** The event of a view that answers to a seq. */
export async function eventInView(engine: Engine, place: Place, view: View, seq: Seq): Promise<Event> {
  const entry = entryOf(view, seq);
  const [event] = entry === undefined ? [] : await readPlaces(engine, place.session, [entry]);
  if (entry !== undefined && event !== undefined) return entry.carried ? unwrap(event) : event;
  const isKnown = seq >= 1 && seq <= place.record.head;
  throw new RepriseError(
    isKnown ? 'event.not-in-view' : 'event.not-found',
    `Cannot find seq ${seq} in the view at "${place.record.branch}@${place.seq}"${isKnown ? ': it was taken out, or it is a marker' : ''}`,
    {
      hint: isKnown ? 'Look at the raw history to see what took it out.' : `Choose a seq from 1 to ${place.seq}.`,
      details: { branch: place.record.branch, at: place.seq, seq },
    },
  );
}

const beliefKin: ReadonlySet<string> = new Set([
  'belief.superseded',
  'contradiction.detected',
  'contradiction.settled',
]);

/** One event of a view, as far as causes go. */
interface Link {
  readonly seq: Seq;
  readonly type: string;
  readonly cause: string | null;
}

/**
 * What goes with the events that answer to these seqs: a call's other half, a belief's consequences, and with `cascade`
 * all that depended on them.
 */
export async function takeOut(
  engine: Engine,
  place: Place,
  view: View,
  targets: readonly Seq[],
  cascade: boolean,
): Promise<TakenOut> {
  const gone = new Map<Seq, Seq>();
  const ids = new Map<string, { readonly isBelief: boolean }>();
  const dependents = new Set<Seq>();
  const add = async (seq: Seq): Promise<void> => {
    const event = await eventInView(engine, place, view, seq);
    if (gone.has(event.seq)) return;
    // An event that replaced another is taken out by the seq it stands for: its own seq names the replacement.
    gone.set(event.seq, entryOf(view, event.seq)?.answers[0] as Seq);
    for (const id of await idsOf(engine, place, view, event))
      ids.set(id, { isBelief: event.type === 'belief.committed' });
    for (const other of await otherHalf(engine, place, view, event)) await add(other);
  };
  for (const seq of targets) await add(seq);
  // What goes may have consequences of its own that stand before it in an edited view: look until nothing more is found.
  for (let before = -1; before !== gone.size; ) {
    before = gone.size;
    for await (const link of linksOf(engine, place, view)) {
      const cause = link.cause === null ? undefined : ids.get(link.cause);
      if (cause === undefined || gone.has(link.seq)) continue;
      if (cascade || (cause.isBelief && beliefKin.has(link.type))) await add(link.seq);
      else dependents.add(link.seq);
    }
  }
  return {
    seqs: [...gone.values()].sort((a, b) => a - b),
    dependents: [...dependents].filter((seq) => !gone.has(seq)),
  };
}

/** Every id an event of a view answers to: its own and those of the events it replaced. */
async function idsOf(engine: Engine, place: Place, view: View, event: Event): Promise<string[]> {
  const answers = entryOf(view, event.seq)?.answers ?? [];
  if (answers.length < 2) return [event.id];
  const places = answers.map((seq) => ({ branch: branchOf(place.history, seq), seq }));
  return (await readPlaces(engine, place.session, places)).map((held) => held.id);
}

/** The start of an ended call, and the end of a started one. */
async function otherHalf(engine: Engine, place: Place, view: View, event: Event): Promise<Seq[]> {
  if (event.type !== 'call.started' && event.type !== 'call.ended') return [];
  const key = plainKey('call', String(event.data['call']));
  const found: Seq[] = [];
  let segments = segmentsOf(view);
  for (;;) {
    const { entries } = await engine.store.latest(
      sessionRef(engine, place.session),
      segments,
      { keys: [key] },
      { limit: 1, select: 'header' },
    );
    const last = entries[0]?.event.seq;
    if (last === undefined) return found;
    if (last !== event.seq) found.push(last);
    segments = clipSegments(segments, { after: 0 as Seq, through: (last - 1) as Seq });
  }
}

/** The causes of a view, a page at a time; those of carried events are inside their markers. */
async function* linksOf(engine: Engine, place: Place, view: View): AsyncGenerator<Link> {
  const carried = view.pieces.filter((piece) => piece.kind === 'carried');
  const markers = carried.length === 0 ? [] : await readPlaces(engine, place.session, carried);
  const inside = new Map(markers.map((marker) => [marker.seq, unwrap(marker)]));
  for await (const rows of readHeaders(engine, place.session, segmentsOf(view))) {
    for (const row of rows) {
      const event = inside.get(row.seq);
      yield event === undefined ? row : { seq: row.seq, type: event.type, cause: event.cause ?? null };
    }
  }
}

/** What a revert of a seq takes out: a marker alone is taken back, an event goes with what belongs to it. */
export async function whatGoes(engine: Engine, place: Place, seq: Seq, cascade: boolean): Promise<TakenOut> {
  const marker = place.history.markers.find((held) => held.seq === seq);
  if (marker === undefined) return takeOut(engine, place, viewAt(place.history, place.seq), [seq], cascade);
  if (marker.kind === 'rewound' || marker.kind === 'rewoundToTurn') {
    throw new RepriseError('event.structural', `Cannot revert the rewind at seq ${seq}`, {
      hint: `Rewind to seq ${seq - 1} to undo it, or use redo.`,
      details: { seq },
    });
  }
  if (marker.kind === 'forked' || marker.kind === 'erased') {
    throw new RepriseError(
      'event.structural',
      `Cannot revert seq ${seq}: it is a "${marker.kind === 'forked' ? 'branch.forked' : 'payload.erased'}", which is final`,
      { details: { seq } },
    );
  }
  if (liveMarker(place.history, place.seq, seq) === undefined) {
    throw new RepriseError(
      'event.not-in-view',
      `Cannot revert the marker at seq ${seq}: it is not in effect any more`,
      { details: { seq } },
    );
  }
  return { seqs: [seq], dependents: [] };
}
