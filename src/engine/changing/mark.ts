import { RepriseError } from '../../core/error.ts';
import type { Event, EventDraft } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { checkId } from '../../core/id.ts';
import { given } from '../../core/json.ts';
import type { Seq } from '../../core/point.ts';
import { checkTurn, type PointInput, parsePoint } from '../../core/ref.ts';
import { viewChanges } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { branchRecord, historyOf, type Place } from '../history/place.ts';
import { write } from './write.ts';

/** Who changes how a history is read, why, and in which turn of the story. */
export interface MarkOptions {
  readonly reason?: string;
  readonly agent?: string;
  readonly turn?: number;
}

/** The names of those. */
export const markOptionNames: Readonly<Record<keyof MarkOptions, true>> = { reason: true, agent: true, turn: true };

/** What a change of the view did. */
export interface Marked {
  /** The structural event that was appended; the last one if there were several. */
  readonly marker: Event;
  /** The seqs that left the view. */
  readonly undone: readonly Seq[];
  /** The seqs that came (back) into the view. */
  readonly restored: readonly Seq[];
}

/** Decides what to append from what the branch is now. */
export type MarkPlan<More> = (place: Place) => Promise<{ readonly drafts: readonly EventDraft[]; readonly more: More }>;

// A recorder may append at any moment; the plan is made anew on the new head a few times before giving up.
const triesMax = 5;

/** Appends structural events at the head of a branch and tells what they changed. */
export async function mark<More extends object>(
  engine: Engine,
  session: string,
  branch: string,
  options: MarkOptions,
  plan: MarkPlan<More>,
): Promise<Marked & More> {
  for (let tries = 1; ; tries++) {
    const record = await branchRecord(engine, session, branch);
    const place: Place = { session, record, history: historyOf(record), seq: record.head };
    const { drafts, more } = await plan(place);
    try {
      const events = await write(engine, {
        session,
        target: { kind: 'branch', branch },
        drafts: drafts.map((draft) => signed(draft, options)),
        condition: { kind: 'head', seq: record.head },
      });
      return { ...(await changes(engine, place, events)), ...more };
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'append.conflict' || tries >= triesMax) throw error;
    }
  }
}

/** The branch of a point that names no place in its past, for verbs that append at the head. */
export function branchAtHead(point: PointInput, verb: string): string {
  const { branch, at } = parsePoint(point);
  if (at.kind === 'head') return branch;
  throw new RepriseError(
    'edit.invalid',
    `Cannot ${verb} "${branch}" at a point in its past: what changes a history is appended at its head`,
    { hint: 'Name only the branch. To change the past apart, fork.', details: { branch } },
  );
}

/**
 * A draft with who, why and when on it. Who and why belong to markers: an ordinary event that an edit appends is the
 * story's own, and with the editor's name on it would be another agent's.
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

async function changes(engine: Engine, before: Place, events: readonly Event[]): Promise<Marked> {
  const last = events.at(-1) as Event;
  const history = historyOf(await branchRecord(engine, before.session, before.record.branch));
  const { gone, come } = viewChanges(viewAt(before.history, before.seq), viewAt(history, last.seq));
  return {
    marker: events.findLast((event) => isStructural(event.type)) ?? last,
    undone: gone,
    restored: come,
  };
}
