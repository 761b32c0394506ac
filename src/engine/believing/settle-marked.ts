import type { EventDraft } from '../../core/event/event.ts';
import { type Belief, idsOf } from '../../core/fleet/belief.ts';
import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import { heldBelief } from '../../core/fleet/settling.ts';
import type { Seq } from '../../core/point.ts';
import { segmentsOf, viewChanges, viewOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import { fleetTable } from '../../projections/fleet.ts';
import type { MarkConsequences } from '../changing/mark.ts';
import type { Engine } from '../context/engine.ts';
import { fold, foldAt } from '../history/fold.ts';
import { hypothesisAt, supposeAppended } from '../history/hypothesis.ts';
import type { Place } from '../history/place.ts';
import { sightOf } from '../history/sight.ts';
import type { StampedDraft } from '../history/stamp.ts';
import { readHeaders } from '../history/stored-events.ts';
import { Judge } from './judge.ts';
import { type SettledPair, settleEach } from './settle.ts';

/** Markers with the events that settle what they bring back, and what was settled. */
export interface SettledMarkers {
  readonly drafts: readonly EventDraft[];
  readonly pairs: readonly SettledPair[];
}

/**
 * Settles what markers bring back: claims that come back into the view, and claims whose supersession leaves it, are
 * compared with what stands. A rewind to a seq brings back a view as it was, and an edit settles nothing.
 */
export async function settleMarked(
  engine: Engine,
  place: Place,
  markers: readonly EventDraft[],
  judge: Judge = new Judge(engine),
): Promise<SettledMarkers> {
  if (!markers.some(({ type }) => type === 'event.reverted')) return { drafts: markers, pairs: [] };
  const { hypothesis, drafts } = await supposeAppended(engine, hypothesisAt(place), markers, 'write');
  if (!(await movesClaims(engine, place, viewAt(hypothesis.history, hypothesis.at)))) return { drafts, pairs: [] };
  const before = await foldAt(engine, place, fleetTable);
  const after = await fold(sightOf(engine, hypothesis), fleetTable);
  const back = broughtBack(before, after);
  if (back.length === 0) return { drafts, pairs: [] };
  const cause = (drafts.at(-1) as StampedDraft).id;
  const settled = await settleEach(after, back, { judge, causeOf: () => cause });
  return { drafts: [...drafts, ...settled.drafts], pairs: settled.pairs };
}

/** Returns true if a claim comes into the view of a place, or leaves it, if the view becomes a different one. */
async function movesClaims(engine: Engine, place: Place, after: View): Promise<boolean> {
  const before = viewAt(place.history, place.seq);
  const { gone, come } = viewChanges(before, after);
  const isStored = (seq: Seq): boolean => seq <= place.seq;
  const moved = [
    ...segmentsOf(viewOf(before, new Set(gone))),
    ...segmentsOf(viewOf(after, new Set(come.filter(isStored)))),
  ];
  // An event that a marker carries has its type inside: it counts as a claim, and the fold tells.
  if (moved.some(({ carried }) => carried)) return true;
  if (moved.length === 0) return false;
  for await (const rows of readHeaders(engine, place.session, moved))
    if (rows.some(({ type }) => type === 'belief.committed')) return true;
  return false;
}

/**
 * Returns the claims that stand where they did not: those that came back, and those whose supersession left with the claim
 * that it was for. A supersession that was reverted by itself was taken back on purpose: its claim stays.
 */
function broughtBack(before: FleetTable, after: FleetTable): Belief[] {
  const isIn = (table: FleetTable, belief: Belief): boolean =>
    heldBelief(table, idsOf(belief)[0] ?? belief.id) !== undefined;
  const back = after.beliefs.filter((belief) => !isIn(before, belief));
  if (before.beliefs.every((belief) => isIn(after, belief))) return back;
  const left = new Set(after.endings.map(({ id }) => id));
  const freed = before.endings
    .filter(({ id }) => !left.has(id))
    .flatMap(({ belief }) => heldBelief(after, belief) ?? []);
  return [...back, ...freed.map(({ belief }) => belief)];
}

/** Returns the consequences of markers on beliefs, for the verbs that mark a history. */
export function beliefConsequences(engine: Engine): MarkConsequences {
  return async (place, markers) => (await settleMarked(engine, place, markers)).drafts;
}
