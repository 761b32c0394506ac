import {
  applyEvent,
  defineProjection,
  finishValue,
  initialValue,
  type Projection,
} from '../../core/event/projection.ts';
import { given } from '../../core/json.ts';
import { beginning, maxSeq, type Seq } from '../../core/point.ts';
import type { SnapshotKey } from '../../core/store/event-store.ts';
import { rawPieces, restOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type Hypothesis, hypothesisAt } from './hypothesis.ts';
import { listEditsOf } from './list-edits.ts';
import type { Place } from './place.ts';
import { replacedIdsOf } from './replaced-ids.ts';
import { eventsOf, type Sight, sightAt, sightOf } from './sight.ts';
import { type Believes, baseFor, type SnapshotBase, SnapshotKeeper, snapshotKey } from './snapshot.ts';
import type { EventsRequest } from './stored-events.ts';

/** Folds a projection over the history that leads to a place. */
export async function foldAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  return fold(engine, hypothesisAt(place), projection, snapshots);
}

/** Folds a projection over a hypothesis. */
export async function fold<Value, Result>(
  engine: Engine,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  return finishValue(projection, await foldValue(engine, hypothesis, projection, snapshots ? 'due' : 'never'));
}

/** The share of a turn of the event loop that a fold takes at most, where its events or its value are heavy. */
export interface Pace {
  /** Events that it reads at once. */
  readonly pageEvents: number;
  /** Bytes of a value that it keeps. */
  readonly snapshotBytesMax: number;
}

/** Folds a projection at a place, and returns its value; continues from a value that the caller has, and may change it. */
export async function valueAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  { base, pace }: { readonly base: SnapshotBase<Value> | undefined; readonly pace: Pace },
): Promise<Value> {
  return foldValue(engine, hypothesisAt(place), projection, 'due', { pace, ...given({ base }) });
}

/** Folds a projection at a place, keeps its value even if few events follow the last one kept, and returns it. */
export async function keepAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
): Promise<Value> {
  return foldValue(engine, hypothesisAt(place), projection, 'always');
}

/**
 * Folds a projection at a place, and returns the value as it would be kept. It continues only from snapshots that the
 * caller has proved, and keeps none.
 */
export async function provenValue<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  proved: Proved,
): Promise<Value> {
  return foldValue(engine, hypothesisAt(place), projection, 'never', { proved });
}

/**
 * Folds a projection over the part of a view that follows a seq, from the log alone; undefined if the view does not
 * begin with that of the seq.
 */
export async function foldAfter<Value, Result>(
  engine: Engine,
  place: Place,
  after: Seq,
  projection: Projection<Value, Result>,
): Promise<Result | undefined> {
  const sight = sightAt(engine, place);
  const rest = restOf(sight.view, viewAt(place.history, after));
  if (rest === undefined) return undefined;
  let value = initialValue(projection);
  for await (const { events } of eventsOf(sight, rest, await requestOf(sight, projection)))
    for (const event of events) value = applyEvent(projection, value, event);
  return finishValue(projection, value);
}

/** Returns how to read the events of a projection. */
async function requestOf<Value, Result>(
  sight: Sight,
  { history, types, without }: Projection<Value, Result>,
): Promise<EventsRequest> {
  const listEdits = history === 'raw' ? undefined : await listEditsOf(sight);
  const replacedIds = history === 'raw' ? undefined : await replacedIdsOf(sight);
  return { listEdits, replacedIds, ...given({ without, filter: types === undefined ? undefined : { types } }) };
}

/** Returns the seq after which the value of a projection begins; the beginning for one without a window. */
function windowStart<Value, Result>({ window }: Projection<Value, Result>, at: Seq): Seq {
  return window === undefined || at === beginning ? beginning : ((at - 1 - ((at - 1) % window)) as Seq);
}

/** Returns the pieces of a raw history after a seq. */
function clipRaw({ history, at }: Hypothesis, after: Seq): View['pieces'] {
  return rawPieces(history, at)
    .filter((piece) => piece.through > after)
    .map((piece) => ({ ...piece, after: maxSeq(piece.after, after) }));
}

/** The snapshots that a fold may continue from: their key, and which of them. */
interface Proved {
  readonly key: SnapshotKey;
  readonly believes: Believes;
}

/** Returns the value a fold ends with, and keeps it `always`, when it is `due`, or `never`. */
async function foldValue<Value, Result>(
  engine: Engine,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  keep: 'always' | 'due' | 'never',
  from: { readonly proved?: Proved; readonly base?: SnapshotBase<Value>; readonly pace?: Pace } = {},
): Promise<Value> {
  defineProjection(projection);
  const isRaw = projection.history === 'raw';
  const sight = sightOf(engine, hypothesis);
  const whole = isRaw ? { pieces: rawPieces(hypothesis.history, hypothesis.at) } : sight.view;
  const after = windowStart(projection, hypothesis.at);
  const { proved, pace } = from;
  const key = proved?.key ?? (keep === 'never' ? undefined : await snapshotKey(engine, hypothesis.place, projection));
  const believes: Believes = (found) => found.seq > after && proved?.believes(found) !== false;
  const base =
    from.base ??
    (key === undefined ? undefined : await baseFor(engine, hypothesis, projection, whole, { key, believes }));
  const all = after === beginning ? whole : { pieces: clipRaw(hypothesis, after) };
  // A value that the caller has is kept by the caller.
  const mayKeep = key !== undefined && keep !== 'never' && from.base === undefined && hypothesis.events.size === 0;
  const keeper = mayKeep
    ? new SnapshotKeeper(engine, hypothesis.place, projection, { key, base, bytesMax: pace?.snapshotBytesMax })
    : undefined;
  let value = base === undefined ? initialValue(projection) : base.value;
  const request = { ...(await requestOf(sight, projection)), ...given({ limit: pace?.pageEvents }) };
  for await (const { events, bytes } of eventsOf(sight, base?.rest ?? all, request)) {
    for (const event of events) {
      value = applyEvent(projection, value, event);
      const isDue = keeper?.isDue(bytes / events.length) === true;
      if (isDue && keep === 'due' && projection.window === undefined) await keeper.offer(event, value);
    }
  }
  // A whole window never changes again, and is read as a whole: its value is kept, however small its events are.
  const isWhole = projection.window !== undefined && hypothesis.at % projection.window === 0;
  await keeper?.offerEnd(value, keep === 'always' || isWhole);
  return value;
}
