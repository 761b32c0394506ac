import { canonicalJson } from '../../core/canonical-json.ts';
import type { Event } from '../../core/event/event.ts';
import { applyEvent, finishValue, initialValue, type Projection } from '../../core/event/projection.ts';
import { given, type JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { Seq } from '../../core/point.ts';
import type { Session } from '../../engine/session.ts';
import { cutValue, valueAtPointer } from './cut-value.ts';
import { type EventLine, eventLine } from './shown-events.ts';

/** A point at which a value changed. */
export interface ValueChange extends EventLine {
  /** The value before; missing if there was none. Long values are cut. */
  readonly before?: JsonValue;
  /** The value after; missing if it was removed. */
  readonly after?: JsonValue;
}

/** A page of the changes of a value. */
export interface ValueChanges {
  /** Oldest first. */
  readonly changes: readonly ValueChange[];
  /** Where the next page begins; undefined if this is the last. */
  readonly next: Seq | undefined;
}

/** Which value to follow. */
export interface ChangesReading {
  readonly branch: string;
  readonly seq: Seq;
  /** A JSON pointer into the value of the projection. */
  readonly path: string;
  /** Only changes by events after this one, in view order. */
  readonly after?: number;
  /** Ends the page early; it has looked at one more event at least. */
  readonly isTimeUp?: () => boolean;
}

/** The characters of a value that a change shows. */
const shownMax = 4_096;

/** Finds every event of a view at which one value of a projection changed, a page at a time. */
export async function readChanges(
  session: Session,
  projection: Projection<unknown, unknown>,
  { branch, seq, path, after = 0, isTimeUp = () => false }: ChangesReading,
): Promise<ValueChanges> {
  let value = initialValue(projection);
  let held = readAt(projection, value, path);
  let isPast = after === 0;
  const changes: ValueChange[] = [];
  const { history, types } = projection;
  const events = session
    .at({ branch, seq })
    .replay({ history, ...given({ filter: types === undefined ? undefined : { types } }) });
  for await (const event of events) {
    value = applyEvent(projection, value, event);
    if (!isPast) {
      isPast = event.seq === after;
      if (isPast) held = readAt(projection, value, path);
      continue;
    }
    const now = readAt(projection, value, path);
    if (now.text !== held.text) changes.push(changeOf(event, held.value, now.value));
    held = now;
    if (changes.length >= limits.shownRowsMax || isTimeUp()) return { changes, next: event.seq };
  }
  return { changes, next: undefined };
}

function readAt(
  projection: Projection<unknown, unknown>,
  value: unknown,
  path: string,
): { readonly value: JsonValue | undefined; readonly text: string } {
  const found = valueAtPointer(finishValue(projection, value) as JsonValue, path);
  // A fold may change its value in place, so the text is what is compared later.
  const text = found === undefined ? '' : canonicalJson(found);
  return { value: found === undefined ? undefined : (JSON.parse(text) as JsonValue), text };
}

function changeOf(event: Event, before: JsonValue | undefined, after: JsonValue | undefined): ValueChange {
  const cut = (value: JsonValue | undefined): JsonValue | undefined =>
    value === undefined ? undefined : cutValue(value, { text: shownMax, whole: shownMax }).value;
  return { ...eventLine(event), ...given({ before: cut(before), after: cut(after) }) };
}
