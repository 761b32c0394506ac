import type { Event } from '../core/event/event.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import type { Seq } from '../core/point.ts';

/** How busy a history was over time, for a small picture. */
export interface Activity {
  /** When it began, in milliseconds since 1970; null if there are no events. */
  readonly startedAt: number | null;
  /** The length of one stretch, in milliseconds. */
  readonly stretchMs: number;
  /** The events in each stretch, of which there are 32 at most. */
  readonly events: readonly number[];
  /** The errors in each stretch. */
  readonly errors: readonly number[];
  /** The first event that ended with an error. */
  readonly firstError: Seq | null;
}

type ActivityState = {
  -readonly [Key in keyof Activity]: Activity[Key] extends readonly number[] ? number[] : Activity[Key];
};

/** Stretches that an activity is divided into; when it grows longer, two become one. */
const stretchesMax = 32;

/** The number of events and errors over time, and the first error. */
export const activity: Projection<ActivityState, Activity> = shippedProjection({
  name: 'activity',
  version: '1',
  history: 'view',
  without: [
    'request',
    'response',
    'input',
    'output',
    'message',
    'operations',
    'result',
    'messages',
    'content',
    'items',
  ],
  initial: () => ({ startedAt: null, stretchMs: 1_000, events: [], errors: [], firstError: null }),
  apply: (state, event) => {
    const time = Date.parse(event.time);
    state.startedAt ??= time;
    let at = stretchAt(state, time);
    while (at >= stretchesMax) {
      halve(state);
      at = stretchAt(state, time);
    }
    while (state.events.length <= at) {
      state.events.push(0);
      state.errors.push(0);
    }
    state.events[at] = (state.events[at] ?? 0) + 1;
    if (hasFailed(event)) {
      state.errors[at] = (state.errors[at] ?? 0) + 1;
      state.firstError ??= event.seq;
    }
    return state;
  },
});

/** A clock that went back counts in the first stretch. */
const stretchAt = ({ startedAt, stretchMs }: ActivityState, time: number): number =>
  Math.max(0, Math.floor((time - (startedAt ?? time)) / stretchMs));

function halve(state: ActivityState): void {
  state.stretchMs *= 2;
  state.events = paired(state.events);
  state.errors = paired(state.errors);
}

const paired = (counts: readonly number[]): number[] =>
  Array.from(
    { length: Math.ceil(counts.length / 2) },
    (_, index) => (counts[index * 2] ?? 0) + (counts[index * 2 + 1] ?? 0),
  );

const hasFailed = ({ type, data }: Event): boolean =>
  (data['outcome'] === 'error' && type.endsWith('.ended')) || type === 'verification.failed';
