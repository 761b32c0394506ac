import type { Event } from '../../core/event/event.ts';
import { isObject, numberAt, stringAt } from '../../core/json.ts';
import { isFirstOfUnit, isMadeByImport, isOfUnit } from '../../core/recording/unit-id.ts';

/** The place of a unit in its source. */
export interface UnitSpot {
  /** The name of its file; the id of the base if a base has it. */
  readonly file: string;
  readonly base: string | undefined;
  readonly at: number;
}

/** The events of one unit, in order. */
export interface UnitGroup extends UnitSpot {
  readonly events: readonly Event[];
}

/** Returns the place of the unit that an event was read from; undefined if it was read from none, or was erased. */
export const placeOf = ({ data }: Event): UnitSpot | undefined => {
  const { foreign } = data;
  const at = numberAt(foreign, 'at');
  const base = stringAt(foreign, 'base');
  return at === undefined ? undefined : { file: base ?? stringAt(foreign, 'file') ?? '', base, at };
};

/** Returns true if an import made the event; its markers count too. */
export const isImported = ({ id, data, type }: Event): boolean =>
  isObject(data['foreign']) || type === 'session.imported' || isMadeByImport(id);

/** Returns true if an event is a change that no import made. */
export const isTouched = (event: Event): boolean =>
  !isImported(event) && event.type !== 'metadata.changed' && event.type !== 'payload.erased';

/** Returns true if an event is the first of a unit. */
export const startsUnit = (event: Event): boolean =>
  hasText(event) || (event.erased === true && isFirstOfUnit(event.id));

/** Returns true if an event was read from the unit at a place. An erased event shows only by its id that it was read from one. */
export function isPartOf(event: Event, { file, at }: UnitSpot): boolean {
  const place = placeOf(event);
  return place === undefined ? event.erased === true && isOfUnit(event.id) : place.file === file && place.at === at;
}

/** Returns true if an event keeps a last line without an end and without a meaning: the tool may have written half of it. */
export const isCutOff = (event: Event | undefined): boolean =>
  event?.type === 'source.kept' && stringAt(event.data['foreign'], 'end') === '';

/** Returns the place of an erased event: only its id tells that it was read from a unit. */
export function erasedPlace({ id, erased }: Event, last: UnitSpot | undefined): UnitSpot | undefined {
  if (erased !== true || !isOfUnit(id)) return undefined;
  // Places begin anew behind a base.
  if (last?.base !== undefined && isFirstOfUnit(id) && Number.parseInt(id.slice(0, 8), 16) <= last.at)
    return { file: '', base: undefined, at: Number.parseInt(id.slice(0, 8), 16) };
  return { file: last?.file ?? '', base: last?.base, at: isFirstOfUnit(id) ? (last?.at ?? -1) + 1 : (last?.at ?? 0) };
}

function hasText({ data: { foreign } }: Event): boolean {
  return isObject(foreign) && (foreign['text'] !== undefined || foreign['bytes'] !== undefined);
}
