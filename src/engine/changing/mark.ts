import { hasCode } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import type { OptionKind } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import { checkTurn } from '../../core/ref.ts';
import { markerOf } from '../../core/view/marker.ts';
import { viewChanges } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { hypothesisAt, supposeAppended } from '../history/hypothesis.ts';
import { type Place, placeAtHead } from '../history/place.ts';
import { write } from './write.ts';

/** Who marks a history, why, and in which turn of the story. */
export interface MarkOptions {
  readonly reason?: string;
  readonly agent?: string;
  readonly turn?: number;
  /** Appends nothing: only returns what would change. */
  readonly dryRun?: boolean;
}

/** The names of the options that every marking verb takes. */
export const markOptionNames: Readonly<Record<keyof MarkOptions, OptionKind>> = {
  reason: 'text',
  agent: 'text',
  turn: 'number',
  dryRun: 'flag',
};

/** The marker of a change and the seqs that it moved out of and into the view. */
export interface Marked {
  /** The structural event that was appended; the last one if there were several. With `dryRun` it has no digest. */
  readonly marker: Event;
  /** The seqs that left the view. */
  readonly undone: readonly Seq[];
  /** The seqs that came (back) into the view. */
  readonly restored: readonly Seq[];
}

/** Decides what to append, from the branch as it is now. */
export type MarkPlan<More> = (place: Place) => Promise<{ readonly drafts: readonly EventDraft[]; readonly more: More }>;

// A recorder may append at any moment. Then the plan is made again on the new head, a few times.
const triesMax = 5;

/** Returns the events to append for some markers: the markers, and what follows from them. */
export type MarkConsequences = (place: Place, markers: readonly EventDraft[]) => Promise<readonly EventDraft[]>;

/** The head of a branch to mark, and who marks it. */
export interface MarkRequest {
  readonly head: Place;
  readonly options: MarkOptions;
  /** Adds what follows from the markers to the append; nothing if left out. */
  readonly follow?: MarkConsequences;
}

/** Appends structural events at the head of a branch, and returns what they changed. */
export async function mark<More extends object>(
  engine: Engine,
  { head, options, follow = async (_, markers) => markers }: MarkRequest,
  plan: MarkPlan<More>,
): Promise<Marked & More> {
  const { session, record } = head;
  const { branch } = record;
  let place = head;
  for (let tries = 1; ; tries++) {
    const { drafts: planned, more } = await plan(place);
    const drafts = await follow(
      place,
      planned.map((draft) => signed(draft, options)),
    );
    if (options.dryRun === true) {
      const { hypothesis } = await supposeAppended(engine, hypothesisAt(place), drafts);
      return { ...changes(place, [...hypothesis.events.values()]), ...more };
    }
    try {
      const events = await write(engine, {
        session,
        target: { kind: 'branch', branch },
        drafts,
        condition: { kind: 'head', seq: place.seq },
      });
      return { ...changes(place, events), ...more };
    } catch (error) {
      if (!hasCode(error, 'append.conflict') || tries >= triesMax) throw error;
    }
    place = await placeAtHead(engine, session, branch);
  }
}

/**
 * Adds who, why and when to a draft. Who and why are for markers only: an ordinary event that an edit appends is part of
 * the story, and the editor is not an agent of the story.
 */
export function signed(draft: EventDraft, { reason, agent, turn }: MarkOptions): EventDraft {
  if (turn !== undefined) checkTurn(turn);
  if (agent !== undefined) checkId('agent', agent);
  const isMarker = isStructural(draft.type);
  return {
    ...draft,
    ...(isMarker && agent !== undefined ? { agent } : {}),
    ...given({ turn }),
    ...(isMarker && reason !== undefined ? { data: { ...draft.data, reason } } : {}),
  };
}

/** Compares the views before and after the events that were appended to a head. */
function changes(head: Place, events: readonly Event[]): Marked {
  const last = events.at(-1) as Event;
  const added = events.filter((event) => isStructural(event.type));
  const markers = [...head.history.markers, ...added.map(markerOf)];
  const { gone, come } = viewChanges(
    viewAt(head.history, head.seq),
    viewAt({ ...head.history, markers, head: last.seq }, last.seq),
  );
  // The events that follow from a marker come into the view, but were not out of it before.
  const follows = new Set(added.length === 0 ? [] : ordinaryAfter(events, added).map(({ seq }) => seq));
  return { marker: added.at(-1) ?? last, undone: gone, restored: come.filter((seq) => !follows.has(seq)) };
}

const ordinaryAfter = (events: readonly Event[], markers: readonly Event[]): readonly Event[] =>
  events.filter(({ seq, type }) => !isStructural(type) && seq > (markers.at(-1)?.seq ?? 0));
