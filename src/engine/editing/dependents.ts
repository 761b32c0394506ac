import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { plainKey } from '../../core/event/keys.ts';
import type { Seq } from '../../core/point.ts';
import { entryOf, liveMarker } from '../../core/view/view.ts';
import { eventInView, eventsAt, eventsOfKey, type Look, linksOf } from '../history/look.ts';

/** What goes when an event is taken out of a view. */
export interface TakenOut {
  /** The event, what belongs to it, and with `cascade` everything that depended on them. */
  readonly seqs: readonly Seq[];
  /** What depends on them by `cause` and stays. */
  readonly dependents: readonly Seq[];
}

const beliefKin: ReadonlySet<string> = new Set([
  'belief.superseded',
  'contradiction.detected',
  'contradiction.settled',
]);

/**
 * What goes with the events that answer to these seqs: a call's other half, a belief's consequences, and with `cascade`
 * all that depended on them.
 */
export async function takeOut(look: Look, targets: readonly Seq[], cascade: boolean): Promise<TakenOut> {
  const gone = new Map<Seq, Seq>();
  const ids = new Map<string, { readonly isBelief: boolean }>();
  const dependents = new Set<Seq>();
  const add = async (seq: Seq): Promise<void> => {
    const event = await eventInView(look, seq);
    if (gone.has(event.seq)) return;
    // An event that replaced another is taken out by the seq it stands for: its own seq names the replacement.
    gone.set(event.seq, entryOf(look.view, event.seq)?.answers[0] as Seq);
    for (const id of await idsOf(look, event)) ids.set(id, { isBelief: event.type === 'belief.committed' });
    for (const other of await otherHalf(look, event)) await add(other);
  };
  for (const seq of targets) await add(seq);
  // What goes may have consequences of its own that stand before it in an edited view: look until nothing more is found.
  for (let before = -1; before !== gone.size; ) {
    before = gone.size;
    for await (const link of linksOf(look)) {
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
async function idsOf(look: Look, event: Event): Promise<string[]> {
  const answers = entryOf(look.view, event.seq)?.answers ?? [];
  return answers.length < 2 ? [event.id] : (await eventsAt(look, answers)).map((held) => held.id);
}

/** The start of an ended call, and the end of a started one. */
async function otherHalf(look: Look, event: Event): Promise<Seq[]> {
  if (event.type !== 'call.started' && event.type !== 'call.ended') return [];
  if (event.erased === true) return halfByCause(look, event);
  const found: Seq[] = [];
  for await (const { seq } of eventsOfKey(look, plainKey('call', String(event.data['call']))))
    if (seq !== event.seq) found.push(seq);
  return found;
}

/** An erased half has lost the id of its call; what is left is that its start led to its end. */
async function halfByCause(look: Look, { type, id, cause }: Event): Promise<Seq[]> {
  const found: Seq[] = [];
  for await (const link of linksOf(look)) {
    const isOther = type === 'call.started' ? link.cause === id : link.id === cause;
    if (isOther && link.type === (type === 'call.started' ? 'call.ended' : 'call.started')) found.push(link.seq);
  }
  return found;
}

/** What a revert of a seq takes out: a marker alone is taken back, an event goes with what belongs to it. */
export async function whatGoes(look: Look, seq: Seq, cascade: boolean): Promise<TakenOut> {
  const { history, at } = look.hypothesis;
  const marker = history.markers.find((held) => held.seq === seq);
  if (marker === undefined) return takeOut(look, [seq], cascade);
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
