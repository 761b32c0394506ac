import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { previous, type Seq } from '../../core/point.ts';
import type { EditMarker } from '../../core/view/marker.ts';
import { viewChanges } from '../../core/view/segment.ts';
import { liveMarkers, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { hypothesisAt } from '../history/hypothesis.ts';
import { eventsAt, lookAt } from '../history/look.ts';
import type { Place } from '../history/place.ts';
import { unwrap } from '../history/stored-events.ts';

/** A marker that is in effect, and the events that it took out of the view. */
export interface TakenOut {
  readonly marker: Event;
  readonly events: readonly Event[];
}

/**
 * Returns what drops, replacements, reverts and rewinds to a turn took out of the view of a place, from a seq on. The rewind that a fork
 * at a turn begins with is not among them: it says where the branch begins.
 */
export async function takenOut(engine: Engine, place: Place, since: Seq | 0 = 0): Promise<readonly TakenOut[]> {
  const { history, seq } = place;
  const forks = new Set(history.markers.filter(({ kind }) => kind === 'forked').map((marker) => marker.seq));
  const isChange = ({ kind, seq: at }: EditMarker): boolean =>
    kind === 'reverted' || kind === 'replaced' || (kind === 'rewoundToTurn' && !forks.has(previous(at)));
  const look = lookAt(engine, hypothesisAt(place));
  const found: TakenOut[] = [];
  for (const { seq: at } of liveMarkers(history, seq).filter((marker) => marker.seq > since && isChange(marker))) {
    const { gone } = viewChanges(viewAt(history, previous(at)), viewAt(history, at));
    const [marker] = await eventsAt(look, [at]);
    if (marker === undefined || gone.length === 0) continue;
    const events = await eventsAt(look, gone);
    found.push({ marker, events: events.map((event) => (isStructural(event.type) ? unwrap(event) : event)) });
  }
  return found;
}
