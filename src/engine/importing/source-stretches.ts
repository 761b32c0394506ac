import type { Event, EventDraft } from '../../core/event/event.ts';
import { given, isArray, type JsonObject, type JsonValue, valueAt } from '../../core/json.ts';
import { type Stretches, stretchesHeld, stretchesOf } from '../../core/recording/stretches.ts';
import type { PreparedUnit, SourceName, UnitEvents } from './unit-events.ts';

/** Returns true if an event keeps the pieces that are repeated in a source. */
export const holdsStretches = ({ type, data }: Event): boolean =>
  type === 'session.imported' && isArray(data['stretches']);

/** Returns the pieces that are repeated in a source; none if they were erased, so that no hole is filled from one. */
export const stretchesIn = (events: readonly Event[]): Stretches =>
  stretchesHeld(events.find(holdsStretches)?.data['stretches']);

/** Returns the event that keeps the pieces that are repeated in a source. */
export function repeated(
  events: UnitEvents,
  { format, source }: SourceName,
  stretches: Stretches,
  time: string | undefined,
): EventDraft {
  const data: JsonObject = { format, source, stretches };
  return {
    ...events.about({ type: 'session.imported', data }, `stretches\n${JSON.stringify(stretches)}`),
    ...given({ time }),
  };
}

/** Returns the pieces that are repeated in the first units of a source. */
export function stretchesOfUnits(units: readonly PreparedUnit[]): Stretches {
  return stretchesOf(units.flatMap(({ isJson, drafts }) => (isJson ? keptTextOf(drafts[0]) : [])));
}

/** Returns the kept text of a unit, by its first event. */
function keptTextOf(draft: EventDraft | undefined): JsonValue[] {
  const text = valueAt(draft?.data as JsonObject | undefined, ['foreign', 'text']);
  return text === undefined ? [] : [text];
}
