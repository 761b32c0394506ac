import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { previous, type Seq } from '../../core/point.ts';
import type { EditMarker } from '../../core/view/marker.ts';
import { viewChanges } from '../../core/view/segment.ts';
import { type History, liveMarkers, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import type { Place } from '../history/place.ts';
import { eventsAt, sightAt } from '../history/sight.ts';
import { unwrap } from '../history/stored-events.ts';

/** A marker that is in effect, and the events that it took out of the view. */
export interface TakenOut {
  readonly marker: Event;
  readonly events: readonly Event[];
}

/**
 * Returns what drops, replacements, reverts and rewinds took out of the view of a place, from a seq on. The rewind that a fork at a turn
 * begins with is not among them: it says where the branch begins.
 */
export async function takenOut(engine: Engine, place: Place, since: Seq | 0 = 0): Promise<readonly TakenOut[]> {
  const { history, seq } = place;
  const sight = sightAt(engine, place);
  const found: TakenOut[] = [];
  for (const at of [...seqsOfChanges(history, seq), ...seqsOfRewinds(history, seq)]) {
    if (at <= since) continue;
    const { gone } = viewChanges(viewAt(history, previous(at)), viewAt(history, at));
    const [marker] = await eventsAt(sight, [at]);
    if (marker === undefined || gone.length === 0) continue;
    const events = await eventsAt(sight, gone);
    found.push({ marker, events: events.map((event) => (isStructural(event.type) ? unwrap(event) : event)) });
  }
  return found;
}

/** Returns the markers in effect that take out single events. */
function seqsOfChanges(history: History, at: Seq): Seq[] {
  const forks = new Set(history.markers.filter(({ kind }) => kind === 'forked').map((marker) => marker.seq));
  const isChange = ({ kind, seq }: EditMarker): boolean =>
    kind === 'reverted' || kind === 'replaced' || (kind === 'rewoundToTurn' && !forks.has(previous(seq)));
  return liveMarkers(history, at)
    .filter(isChange)
    .map(({ seq }) => seq);
}

/** Returns the rewinds to a seq in effect, the last first: a rewind to a point before a different one takes that one back. */
function seqsOfRewinds({ markers }: History, at: Seq): Seq[] {
  const found: Seq[] = [];
  const last = (until: Seq) => markers.findLast(({ kind, seq }) => kind === 'rewound' && seq <= until);
  for (let marker = last(at); marker?.kind === 'rewound'; marker = last(marker.to)) found.push(marker.seq);
  return found;
}
