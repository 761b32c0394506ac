import { RepriseError } from '../../core/error.ts';
import { specOf } from '../../core/event/catalogue.ts';
import type { Event } from '../../core/event/event.ts';
import type { Seq } from '../../core/point.ts';
import { entryOf, liveMarker } from '../../core/view/view.ts';
import { callOf } from '../history/call-events.ts';
import { eventInView, eventsAt, linksOf, type Sight } from '../history/sight.ts';

/** The events that leave a view together. */
export interface TakenOut {
  /** The event, the events that go with it, and with `cascade` everything that depends on them. */
  readonly seqs: readonly Seq[];
  /** The events that depend on them by `cause` and stay. */
  readonly dependents: readonly Seq[];
}

/**
 * Finds the events that go with those of some seqs: the other half of a call, the events that the catalogue says go with
 * their cause, and with `cascade` every event that depends on them.
 */
export async function takeOut(sight: Sight, targets: readonly Seq[], cascade: boolean): Promise<TakenOut> {
  const gone = new Map<Seq, Seq>();
  const typeOfId = new Map<string, string>();
  const dependents = new Set<Seq>();
  const add = async (seq: Seq): Promise<void> => {
    const event = await eventInView(sight, seq);
    if (gone.has(event.seq)) return;
    // An event that replaced another is taken out by the seq that it replaces: its own seq names the replacement.
    gone.set(event.seq, entryOf(sight.view, event.seq)?.answers[0] as Seq);
    for (const id of await idsOf(sight, event)) typeOfId.set(id, event.type);
    for (const other of await otherHalf(sight, event)) await add(other);
  };
  for (const seq of targets) await add(seq);
  // In an edited view, an event may come before the event that led to it: look until a pass finds nothing more.
  for (let before = -1; before !== gone.size; ) {
    before = gone.size;
    for await (const link of linksOf(sight)) {
      const cause = link.cause === null ? undefined : typeOfId.get(link.cause);
      if (cause === undefined || gone.has(link.seq)) continue;
      if (cascade || specOf(link.type)?.goesWith?.includes(cause) === true) await add(link.seq);
      else dependents.add(link.seq);
    }
  }
  return {
    seqs: [...gone.values()].sort((a, b) => a - b),
    dependents: [...dependents].filter((seq) => !gone.has(seq)),
  };
}

/** Returns every id an event of a view answers to: its own and those of the events it replaced. */
async function idsOf(sight: Sight, event: Event): Promise<string[]> {
  const answers = entryOf(sight.view, event.seq)?.answers ?? [];
  return answers.length < 2 ? [event.id] : (await eventsAt(sight, answers)).map((held) => held.id);
}

/** Returns the other half of a call. */
async function otherHalf(sight: Sight, event: Event): Promise<Seq[]> {
  const { started, ended } = (await callOf(sight, event)) ?? {};
  return [started, ended].flatMap((half) => (half === undefined || half.seq === event.seq ? [] : [half.seq]));
}

/** Finds the events that a revert of a seq takes out: a marker alone, or an event and those that go with it. */
export async function revertTargets(sight: Sight, seq: Seq, cascade: boolean): Promise<TakenOut> {
  const { history, at } = sight.hypothesis;
  const marker = history.markers.find((held) => held.seq === seq);
  if (marker === undefined) return takeOut(sight, [seq], cascade);
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
  if (liveMarker(history, at, seq) === undefined) {
    throw new RepriseError(
      'event.not-in-view',
      `Cannot revert the marker at seq ${seq}: it is not in effect any more`,
      { details: { seq } },
    );
  }
  return { seqs: [seq], dependents: [] };
}
