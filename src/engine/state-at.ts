import type { ListEdits } from '../core/decode.ts';
import type { Edit, EditOptions } from '../core/edit.ts';
import { editsOf } from '../core/edit.ts';
import { RepriseError } from '../core/error.ts';
import type { Event } from '../core/event.ts';
import { limits } from '../core/limits.ts';
import { type Seq, seq } from '../core/point.ts';
import type { Cursor } from '../core/ports.ts';
import { applyEvent, finishValue, initialValue, type Projection } from '../core/projection.ts';
import type { PointInput } from '../core/ref.ts';
import { rawPieces, segmentsOf } from '../core/segment.ts';
import { type Piece, type View, viewAt } from '../core/view.ts';
import { type TakenOut, takeOut } from './dependents.ts';
import { resolveEdits } from './edits.ts';
import { type Engine, sessionRef } from './engine.ts';
import { readEvents, unwrap } from './events.ts';
import { asItIs, type Hypothesis, supposing } from './hypothesis.ts';
import { listEditsOf } from './list-edits.ts';
import { findPlace, type Place } from './place.ts';
import { baseFor, SnapshotKeeper } from './snapshot.ts';

/** How to look. */
export interface StateAtOptions extends EditOptions {
  /** Looks as if these events, by seq or id, had not happened. */
  readonly exclude?: readonly (number | string)[];
  /** With `exclude`: also without everything that depended on them. */
  readonly cascade?: boolean;
  /** Whether kept snapshots may be used and made; they change nothing but time. */
  readonly snapshots?: boolean;
}

/** What a projection gives at a point, perhaps as if something had been different. Nothing is written. */
export async function stateAt<Value, Result>(
  engine: Engine,
  session: string,
  point: PointInput,
  projection: Projection<Value, Result>,
  options: StateAtOptions = {},
): Promise<Result> {
  const place = await findPlace(engine, session, point);
  const edits = editsOf(options);
  const excluded = await exclusion(engine, place, options);
  if (edits.length === 0 && excluded === undefined) return foldAt(engine, place, projection, options.snapshots);
  const hypothesis = await suppose(engine, place, edits, excluded);
  return fold(engine, place, hypothesis, projection, false);
}

/** The state of a projection at a place. */
export async function foldAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  return fold(engine, place, asItIs(place), projection, snapshots);
}

/** What an exclusion takes out: the events named and what goes with them. */
export async function exclusion(
  engine: Engine,
  place: Place,
  options: Pick<StateAtOptions, 'exclude' | 'cascade'>,
): Promise<TakenOut | undefined> {
  if (options.exclude === undefined || options.exclude.length === 0) return undefined;
  const targets = await seqsOfEvents(engine, place, options.exclude);
  return takeOut(engine, place, viewAt(place.history, place.seq), targets, options.cascade === true);
}

/** The history as it would be after edits and without what is excluded. */
export async function suppose(
  engine: Engine,
  place: Place,
  edits: readonly Edit[],
  excluded: TakenOut | undefined,
): Promise<Hypothesis> {
  const { drafts } = await resolveEdits(engine, place, edits);
  const without =
    excluded === undefined
      ? []
      : [{ type: 'event.reverted', data: { target: excluded.seqs[0] as Seq, seqs: excluded.seqs } }];
  return supposing(engine, place, [...without, ...drafts]);
}

async function seqsOfEvents(engine: Engine, place: Place, events: readonly (number | string)[]): Promise<Seq[]> {
  const ids = events.filter((event) => typeof event === 'string');
  const found = await engine.store.locate(sessionRef(engine, place.session), ids);
  return events.map((event) => {
    const held = typeof event === 'string' ? found.get(event)?.seq : seq(event);
    if (held !== undefined) return held;
    throw new RepriseError(
      'event.not-found',
      `Cannot exclude event "${event}": session "${place.session}" has no event of that id`,
      { details: { id: event } },
    );
  });
}

/** The pieces a projection folds: the view, or all of raw history. */
function piecesFor(hypothesis: Hypothesis, history: 'view' | 'raw'): View {
  return history === 'raw'
    ? { pieces: rawPieces(hypothesis.history, hypothesis.at) }
    : viewAt(hypothesis.history, hypothesis.at);
}

/** Folds what a hypothesis leads to. */
export async function fold<Value, Result>(
  engine: Engine,
  place: Place,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  snapshots: boolean,
): Promise<Result> {
  return finishValue(projection, await foldValue(engine, place, hypothesis, projection, snapshots ? 'due' : 'never'));
}

/** Keeps a projection's value at a place, however few events lead there from the last one kept. */
export async function keepAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
): Promise<void> {
  await foldValue(engine, place, asItIs(place), projection, 'always');
}

/** The value a fold ends with. What it ends with is kept `always`, when it is `due`, or `never`. */
async function foldValue<Value, Result>(
  engine: Engine,
  place: Place,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  keep: 'always' | 'due' | 'never',
): Promise<Value> {
  const snapshots = keep !== 'never';
  const view = piecesFor(hypothesis, projection.history);
  const base = snapshots ? await baseFor(engine, place, hypothesis, projection, view) : undefined;
  const keeper = snapshots && hypothesis.events.size === 0 ? new SnapshotKeeper(engine, place, projection) : undefined;
  let value = base === undefined ? initialValue(projection) : base.value;
  const rest = base?.rest ?? view;
  const listEdits =
    projection.history === 'raw' ? undefined : await listEditsOf(engine, place.session, hypothesis, view);
  for await (const { events, bytes } of eventsOf(engine, place.session, hypothesis, rest, listEdits)) {
    for (const event of events) {
      value = applyEvent(projection, value, event);
      const isDue = keeper?.isDue(bytes / events.length) === true;
      if (isDue && keep === 'due') await keeper.offer(event, value);
    }
  }
  await keeper?.offerEnd(value, keep === 'always');
  return value;
}

/** The events of some pieces in order: stored ones by the page, supposed ones from memory. */
async function* eventsOf(
  engine: Engine,
  session: string,
  hypothesis: Hypothesis,
  view: View,
  listEdits: ListEdits | undefined,
): AsyncGenerator<{ readonly events: readonly Event[]; readonly bytes: number }> {
  for (const group of groups(view.pieces, hypothesis.stored)) {
    if (group.isSupposed) {
      yield { events: group.pieces.flatMap((piece) => supposedEvents(piece, hypothesis)), bytes: 0 };
      continue;
    }
    let cursor: Cursor | undefined;
    do {
      const page = await readEvents(engine, session, segmentsOf({ pieces: group.pieces }), {
        limit: limits.pageEventsMax,
        direction: 'forward',
        ...(listEdits === undefined ? {} : { listEdits }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (page.events.length > 0) yield page;
      cursor = page.next;
    } while (cursor !== undefined);
  }
}

/** Runs of pieces that are stored, and runs of pieces that are only supposed; a piece that is both is cut in two. */
function groups(pieces: readonly Piece[], stored: Seq): { readonly isSupposed: boolean; readonly pieces: Piece[] }[] {
  const result: { isSupposed: boolean; pieces: Piece[] }[] = [];
  const add = (piece: Piece, isSupposed: boolean): void => {
    const last = result.at(-1);
    if (last?.isSupposed === isSupposed) last.pieces.push(piece);
    else result.push({ isSupposed, pieces: [piece] });
  };
  for (const piece of pieces) {
    if (piece.kind === 'carried') add(piece, piece.seq > stored);
    else {
      if (piece.after < stored) add({ ...piece, through: Math.min(piece.through, stored) as Seq }, false);
      if (piece.through > stored) add({ ...piece, after: Math.max(piece.after, stored) as Seq }, true);
    }
  }
  return result;
}

function supposedEvents(piece: Piece, hypothesis: Hypothesis): Event[] {
  const [after, through] = piece.kind === 'carried' ? [piece.seq - 1, piece.seq] : [piece.after, piece.through];
  const events: Event[] = [];
  for (let at = after + 1; at <= through; at++) {
    const event = hypothesis.events.get(at as Seq) as Event;
    events.push(piece.kind === 'carried' ? unwrap(event) : event);
  }
  return events;
}
