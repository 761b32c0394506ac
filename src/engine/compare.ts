import { type DiffOptions, type DiffPair, diffHistories, type HistoryDiff } from '../core/diff.ts';
import { changedFields, createHistoryDescriber, type DiffEvent } from '../core/diff-describe.ts';
import { diffStates, type StateDiff } from '../core/diff-state.ts';
import { diffStrictly, type StrictDiff, type StrictEvent } from '../core/diff-strict.ts';
import type { Event } from '../core/event.ts';
import type { JsonValue } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import { beginning, type Point, type Seq } from '../core/point.ts';
import type { Projection } from '../core/projection.ts';
import { type Ref, refText } from '../core/ref.ts';
import { rawPieces } from '../core/segment.ts';
import type { Engine } from './engine.ts';
import { digestAt, type Place, placeAt, pointOf, sessionRecord } from './place.ts';
import { replayPages } from './replay.ts';
import { foldAt } from './state-at.ts';

/** How to compare. */
export interface CompareOptions extends DiffOptions {
  /** Projections whose states are compared as well. */
  readonly states?: readonly Projection<unknown, unknown>[];
}

/** What changed between two places. */
export interface Comparison extends HistoryDiff {
  /** The last point both have in common, as the left side names it; null if they are not related. */
  readonly forkPoint: Point | null;
  /** How the states differ, by projection. */
  readonly states: Readonly<Record<string, StateDiff>>;
}

/** Compares the views of two places by how they behaved. */
export async function compare(
  engine: Engine,
  left: Ref,
  right: Ref,
  options: CompareOptions = {},
): Promise<Comparison> {
  const places = [await placeOf(engine, left), await placeOf(engine, right)] as const;
  const [a, b] = [await describe(engine, places[0]), await describe(engine, places[1])];
  const diff = diffHistories(a, b, options);
  const states: Record<string, StateDiff> = {};
  for (const projection of options.states ?? []) {
    states[projection.name] = diffStates(
      (await foldAt(engine, places[0], projection)) as JsonValue,
      (await foldAt(engine, places[1], projection)) as JsonValue,
    );
  }
  return {
    ...diff,
    pairs: await withFields(engine, places, diff.pairs),
    forkPoint: await forkPointOf(engine, ...places),
    states,
  };
}

/** Compares the views of two places position by position, by type alone. */
export async function compareStrictly(engine: Engine, left: Ref, right: Ref): Promise<StrictDiff> {
  const places = [await placeOf(engine, left), await placeOf(engine, right)] as const;
  const [a, b] = [await strictEvents(engine, places[0]), await strictEvents(engine, places[1])];
  return diffStrictly(a, b, { left: refText(left), right: refText(right) });
}

function placeOf(engine: Engine, ref: Ref): Promise<Place> {
  return placeAt(engine, ref.session, ref.branch, ref.at);
}

const pagesAt = (engine: Engine, place: Place): AsyncGenerator<readonly Event[]> =>
  replayPages(engine, place.session, { at: { branch: place.record.branch, seq: place.seq } });

async function describe(engine: Engine, place: Place): Promise<readonly DiffEvent[]> {
  const describer = createHistoryDescriber(engine.platform.sha256);
  for await (const events of pagesAt(engine, place)) for (const event of events) describer.add(event);
  return describer.events();
}

async function strictEvents(engine: Engine, place: Place): Promise<StrictEvent[]> {
  const result: StrictEvent[] = [];
  for await (const events of pagesAt(engine, place))
    for (const { seq, type, data } of events) result.push({ seq, type, text: JSON.stringify(data).slice(0, 200) });
  return result;
}

/** Fetches the events of the first changed pairs once more, and says in which fields they differ. */
async function withFields(
  engine: Engine,
  places: readonly [Place, Place],
  pairs: readonly DiffPair[],
): Promise<readonly DiffPair[]> {
  const changed = pairs.filter((pair) => pair.kind === 'changed').slice(0, limits.diffDetailsMax);
  if (changed.length === 0) return pairs;
  const lefts = await eventsAt(engine, places[0], new Set(changed.map((pair) => pair.left)));
  const rights = await eventsAt(engine, places[1], new Set(changed.map((pair) => pair.right)));
  return pairs.map((pair) => {
    const [left, right] = pair.kind === 'changed' ? [lefts.get(pair.left), rights.get(pair.right)] : [];
    return left === undefined || right === undefined ? pair : { ...pair, fields: changedFields(left, right) };
  });
}

async function eventsAt(engine: Engine, place: Place, wanted: ReadonlySet<Seq>): Promise<Map<Seq, Event>> {
  const found = new Map<Seq, Event>();
  for await (const events of pagesAt(engine, place)) {
    for (const event of events) if (wanted.has(event.seq)) found.set(event.seq, event);
    if (found.size === wanted.size) return found;
  }
  return found;
}

/** The last point two histories have in common: by lineage within a session, by digests between copies of one. */
export async function forkPointOf(engine: Engine, left: Place, right: Place): Promise<Point | null> {
  if (left.session === right.session) return pointOf({ history: left.history, seq: sharedSeq(left, right) });
  const [a, b] = [await sessionRecord(engine, left.session), await sessionRecord(engine, right.session)];
  if (a.genesis !== b.genesis) return null;
  let low: number = beginning;
  let high: number = Math.min(left.seq, right.seq);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2) as Seq;
    const isShared =
      (await digestAt(engine, { ...left, seq: middle })) === (await digestAt(engine, { ...right, seq: middle }));
    if (isShared) low = middle;
    else high = middle - 1;
  }
  return pointOf({ history: left.history, seq: low as Seq });
}

function sharedSeq(left: Place, right: Place): Seq {
  const others = rawPieces(right.history, right.seq);
  let shared: number = beginning;
  for (const [index, piece] of rawPieces(left.history, left.seq).entries()) {
    const other = others[index];
    if (other?.branch !== piece.branch || other.after !== piece.after) break;
    shared = Math.min(piece.through, other.through);
    if (piece.through !== other.through) break;
  }
  return shared as Seq;
}
