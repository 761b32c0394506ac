import type { Event } from '../../core/event/event.ts';
import { always } from '../../core/fleet/active.ts';
import { type FleetTable, indexOf } from '../../core/fleet/fleet-table.ts';
import type { Moment } from '../../core/fleet/registration.ts';
import { later, type Seq } from '../../core/point.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { restOf, segmentsOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import { fleetTable } from '../../projections/fleet.ts';
import type { Engine } from '../context/engine.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { foldAt } from '../history/fold.ts';
import { type Following, followedFold, followedName, followTo, learn } from '../history/follow.ts';
import { findPlace, type Place, placeAtHead, sessionRecord } from '../history/place.ts';
import { readHeaders } from '../history/stored-events.ts';

/** The fleet of a view: a place, and a table that knows it. The table may know later events too. */
export interface FleetLook {
  readonly place: Place;
  readonly table: FleetTable;
  /** The session as it was then. */
  readonly of: SessionRecord;
}

const following = (engine: Engine): Following<FleetTable> => followedFold(engine.fleets, fleetTable);

/** Looks at the fleet at the head of a branch. The process keeps it, and reads only what came since. */
export async function fleetAtHead(engine: Engine, on: OnBranch): Promise<FleetLook> {
  return engine.fleets.lanes.inTurn(followedName(engine, on), async () => {
    for (let tries = 1; ; tries++) {
      const [place, of] = await Promise.all([
        placeAtHead(engine, on.session, on.branch),
        sessionRecord(engine, on.session),
      ]);
      const followed = await followTo(engine, following(engine), place, of);
      if (followed !== 'ahead') return { place, table: followed.value, of };
      // An append of this process was answered after the head was read.
      if (tries >= followTriesMax) return { place, table: await foldAt(engine, place, fleetTable), of };
    }
  });
}

/** How often a look begins anew because of what this process appends meanwhile, before it folds the whole history. */
const followTriesMax = 8;

/** Tells the fleet of a branch what this process has just appended to it. */
export function learnAppended(engine: Engine, on: OnBranch, events: readonly Event[]): void {
  learn(following(engine), followedName(engine, on), events);
}

/**
 * Returns a look after the events that this process has just appended to the head of it; undefined if the branch has to be
 * read, because the memory of it did not learn them.
 */
export function lookAfter(
  engine: Engine,
  on: OnBranch,
  { place, table, of }: FleetLook,
  events: readonly Event[],
): FleetLook | undefined {
  const [held, first, last] = [engine.fleets.get(followedName(engine, on)), events[0], events.at(-1)];
  if (first === undefined || last === undefined || first.seq !== later(place.seq, 1)) return undefined;
  if (held?.value !== table || held.seq !== last.seq) return undefined;
  const { seq, digest, turn } = last;
  const record = { ...place.record, head: seq, digest, turn };
  return { place: { ...place, record, history: { ...place.history, head: seq }, seq }, table, of };
}

/** Looks at the fleet at a place: through the memory of its branch if the view there is the beginning of that now. */
export async function fleetAtPlace(engine: Engine, place: Place): Promise<FleetLook> {
  const { session, record, seq } = place;
  const now = await fleetAtHead(engine, { session, branch: record.branch });
  const { of } = now;
  if (now.place.seq === seq || isBeginning(now.place, seq)) return { place, table: now.table, of };
  return { place, table: await foldAt(engine, place, fleetTable), of };
}

/** Returns true if the view of a seq is the part of the view at a place that was appended up to that seq. */
function isBeginning({ history, seq: head }: Place, seq: Seq): boolean {
  const rest: View | undefined = restOf(viewAt(history, head), viewAt(history, seq));
  return rest?.pieces.every((piece) => (piece.kind === 'range' ? piece.after >= seq : piece.seq > seq)) === true;
}

/** Returns the moment of a look. The turn of the clock is looked up only if an agent joins in a turn to come. */
export async function momentOf(engine: Engine, { place, table }: FleetLook, turn: number | undefined): Promise<Moment> {
  const { seq } = place;
  if (turn !== undefined) return { seq, turn, now: turn };
  const now = indexOf(table).joinsLater ? await highestTurn(engine, place) : Number.POSITIVE_INFINITY;
  return { seq, turn: Number.POSITIVE_INFINITY, now };
}

/** Returns the moment of the head of a branch: the highest turn there is. */
export async function momentNow(engine: Engine, { place, table }: FleetLook): Promise<Moment> {
  return indexOf(table).joinsLater ? { ...always, now: await highestTurn(engine, place) } : always;
}

/**
 * Returns the highest turn in the view at a place. It asks for the first event of a later turn until there is none, so it
 * reads a few events, however long the history is.
 */
async function highestTurn(engine: Engine, place: Place): Promise<number> {
  const view = viewAt(place.history, place.seq);
  const carried = new Map(
    view.pieces.flatMap((piece) => (piece.kind === 'carried' ? [[piece.seq, piece.turn] as const] : [])),
  );
  const segments = segmentsOf(view).filter((segment) => !segment.carried);
  let highest = Math.max(0, ...carried.values(), place.seq === place.record.head ? place.record.turn : 0);
  for (let found = true; found; ) {
    found = false;
    for await (const rows of readHeaders(engine, place.session, segments, {
      filter: { turnAfter: highest },
      limit: 64,
    })) {
      for (const row of rows) if (row.turn > highest) [highest, found] = [row.turn, true];
      if (found) break;
    }
  }
  return highest;
}

/** Returns the fork turn of a branch: later events belong to a later turn. Undefined for the branch a session began with. */
export async function forkTurnOf(engine: Engine, { session, record }: Place): Promise<number | undefined> {
  const { parent, markers, branch } = record;
  if (parent === undefined) return undefined;
  const forked = markers.find((marker) => marker.kind === 'forked' && marker.branch === branch);
  if (forked?.kind === 'forked' && forked.turn !== undefined) return forked.turn;
  const from = await findPlace(engine, session, { branch: parent.branch, seq: parent.seq });
  return highestTurn(engine, from);
}

/** Returns the turn of what happens now: that of the last event in the view, but on a fork not before the fork turn + 1. */
export async function turnNow(engine: Engine, place: Place): Promise<number> {
  const forked = await forkTurnOf(engine, place);
  return forked === undefined ? place.record.turn : Math.max(forked + 1, place.record.turn);
}
