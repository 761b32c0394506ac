import { checkEdit } from '../core/append.ts';
import type { Event, EventDraft } from '../core/event.ts';
import { specOf } from '../core/event-types.ts';
import { markerOf } from '../core/marker.ts';
import type { Digest, Seq } from '../core/point.ts';
import { isStructural } from '../core/structural-types.ts';
import type { History } from '../core/view.ts';
import type { Engine } from './engine.ts';
import { clockAt, type Place } from './place.ts';
import { stamp } from './write.ts';

/** What a history would be if events were appended at a place: the history, and those events by seq. Nothing is written. */
export interface Hypothesis {
  readonly history: History;
  readonly at: Seq;
  /** The last seq that is really stored. */
  readonly stored: Seq;
  readonly events: ReadonlyMap<Seq, Event>;
}

/** The hypothesis in which nothing was appended. */
export function asItIs(place: Place): Hypothesis {
  return {
    history: {
      ...place.history,
      markers: place.history.markers.filter((marker) => marker.seq <= place.seq),
      head: place.seq,
    },
    at: place.seq,
    stored: place.seq,
    events: new Map(),
  };
}

/** The history a place would have if these drafts were appended there. */
export async function supposing(engine: Engine, place: Place, drafts: readonly EventDraft[]): Promise<Hypothesis> {
  const events = new Map<Seq, Event>();
  const now = engine.platform.now();
  const clock = await clockAt(engine, place);
  let { history } = asItIs(place);
  let seq: number = place.seq;
  for (const draft of drafts.map((held) => stamp(engine, held, now))) {
    seq += 1;
    const { id, time, type, agent, run, cause, data } = draft;
    events.set(seq as Seq, {
      session: place.session,
      branch: place.record.branch,
      seq: seq as Seq,
      id,
      time,
      type,
      version: draft.version ?? specOf(type)?.version ?? 1,
      ...(agent === undefined ? {} : { agent }),
      ...(run === undefined ? {} : { run }),
      turn: draft.turn ?? clock,
      ...(cause === undefined ? {} : { cause }),
      data,
      digest: '' as Digest,
    });
    const marker = isStructural(type)
      ? markerOf({ branch: place.record.branch, seq: seq as Seq, type, data })
      : undefined;
    if (marker !== undefined) checkEdit(history, marker);
    history = {
      root: history.root,
      markers: marker === undefined ? history.markers : [...history.markers, marker],
      head: seq as Seq,
    };
  }
  return { history, at: seq as Seq, stored: place.seq, events };
}
