import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { applyEvent } from '../../core/event/projection.ts';
import { always } from '../../core/fleet/active.ts';
import { type FleetTable, fleetTypes, indexOf } from '../../core/fleet/fleet-table.ts';
import type { Moment } from '../../core/fleet/registration.ts';
import { later, type Seq } from '../../core/point.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { restOf, segmentsOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import { fleetTable } from '../../projections/fleet.ts';
import type { Engine } from '../context/engine.ts';
import type { FleetMemory } from '../context/fleet-memory.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { foldAt } from '../history/fold.ts';
import { digestAt, findPlace, type Place, placeAtHead, sessionRecord } from '../history/place.ts';
import { replacedIdsOf } from '../history/replaced-ids.ts';
import { eventsOf, sightAt } from '../history/sight.ts';
import { readHeaders } from '../history/stored-events.ts';

/** The fleet of a view: a place, and a table that knows it. The table may know later events too. */
export interface FleetLook {
  readonly place: Place;
  readonly table: FleetTable;
}

// Ids hold no control characters, so a line break cannot be part of one.
const nameOf = (engine: Engine, { session, branch }: OnBranch): string => `${engine.namespace}\n${session}\n${branch}`;

/** Looks at the fleet at the head of a branch. The process keeps it, and reads only what came since. */
export async function fleetAtHead(engine: Engine, on: OnBranch): Promise<FleetLook> {
  const name = nameOf(engine, on);
  // One at a time: two that catch up side by side would add the same events twice.
  return engine.fleets.lanes.inTurn(name, async () => {
    for (let tries = 1; ; tries++) {
      const [place, record] = await Promise.all([
        placeAtHead(engine, on.session, on.branch),
        sessionRecord(engine, on.session),
      ]);
      const known = engine.fleets.get(name);
      const caught = known === undefined ? 'other' : await catchUp(engine, place, record, known);
      if (known !== undefined && caught === 'up') return { place, table: known.table };
      if (caught === 'overtaken' && tries < catchUpTriesMax) continue;
      const table = await foldAt(engine, place, fleetTable);
      const { genesis, erasures } = record;
      engine.fleets.set(name, { table, seq: place.seq, digest: place.record.digest, genesis, erasures });
      return { place, table };
    }
  });
}

/** How often a look begins anew because of what this process appends meanwhile, before it folds the whole history. */
const catchUpTriesMax = 8;

/**
 * Adds to a memory what came since. Answers `other` if the view it is of is not the beginning of the view now, and
 * `overtaken` if the memory learned meanwhile what this process had just appended: that must not be added twice.
 */
async function catchUp(
  engine: Engine,
  place: Place,
  { genesis, erasures }: SessionRecord,
  memory: FleetMemory,
): Promise<'up' | 'other' | 'overtaken'> {
  const { seq: from, digest } = memory;
  if (memory.genesis !== genesis || memory.erasures !== erasures) return 'other';
  // An append of this process was answered after the head was read.
  if (from > place.seq) return 'overtaken';
  if (from === place.seq) return digest === place.record.digest ? 'up' : 'other';
  const rest = restOf(viewAt(place.history, place.seq), viewAt(place.history, from));
  if (rest === undefined || digest !== (await digestAt(engine, { ...place, seq: from }))) return 'other';
  const sight = sightAt(engine, place);
  const request = { filter: { types: fleetTypes }, replacedIds: await replacedIdsOf(sight) };
  const added: Event[] = [];
  for await (const { events } of eventsOf(sight, rest, request)) added.push(...events);
  if (memory.seq !== from) return 'overtaken';
  for (const event of added) applyEvent(fleetTable, memory.table, event);
  memory.seq = place.seq;
  memory.digest = place.record.digest;
  return 'up';
}

/** Tells the memory of a branch what this process has just appended to it. */
export function learnAppended(engine: Engine, on: OnBranch, events: readonly Event[]): void {
  const name = nameOf(engine, on);
  const memory = engine.fleets.get(name);
  const [first, last] = [events[0], events.at(-1)];
  if (memory === undefined || first === undefined || last === undefined) return;
  if (first.seq !== later(memory.seq, 1) || events.some(({ type }) => isStructural(type))) return;
  for (const event of events) applyEvent(fleetTable, memory.table, event);
  memory.seq = last.seq;
  memory.digest = last.digest;
}

/**
 * Returns a look after the events that this process has just appended to the head of it; undefined if the branch has to be
 * read, because the memory of it did not learn them.
 */
export function lookAfter(
  engine: Engine,
  on: OnBranch,
  { place, table }: FleetLook,
  events: readonly Event[],
): FleetLook | undefined {
  const [memory, first, last] = [engine.fleets.get(nameOf(engine, on)), events[0], events.at(-1)];
  if (first === undefined || last === undefined || first.seq !== later(place.seq, 1)) return undefined;
  if (memory?.table !== table || memory.seq !== last.seq) return undefined;
  const { seq, digest, turn } = last;
  const record = { ...place.record, head: seq, digest, turn };
  return { place: { ...place, record, history: { ...place.history, head: seq }, seq }, table };
}

/** Looks at the fleet at a place: through the memory of its branch if the view there is the beginning of that now. */
export async function fleetAtPlace(engine: Engine, place: Place): Promise<FleetLook> {
  const { session, record, seq } = place;
  const now = await fleetAtHead(engine, { session, branch: record.branch });
  if (now.place.seq === seq || isBeginning(now.place, seq)) return { place, table: now.table };
  return { place, table: await foldAt(engine, place, fleetTable) };
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
