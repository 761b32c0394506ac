import { type DiffOptions, type DiffPair, diffHistories, type HistoryDiff } from '../../core/comparing/diff.ts';
import { changedFields, createHistoryDescriber, type DiffEvent } from '../../core/comparing/diff-describe.ts';
import { diffStrictly, type StrictDiff, type StrictEvent } from '../../core/comparing/diff-strict.ts';
import { diffValues, type ValueDiff } from '../../core/comparing/value-diff.ts';
import type { Event } from '../../core/event/event.ts';
import type { Projection } from '../../core/event/projection.ts';
import { type JsonValue, setKey } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import { beginning, type Point, type Seq } from '../../core/point.ts';
import { type Ref, refText } from '../../core/ref.ts';
import { rawPieces, restOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { digestAt, type Place, placeAt, pointOf, sessionRecord } from '../history/place.ts';
import { viewPages } from './replay.ts';

/** How to compare. */
export interface CompareOptions extends DiffOptions {
  /** Projections whose states are compared as well. */
  readonly states?: readonly Projection<unknown, unknown>[];
}

const compareKeys: KnownKeys = optionKeys<CompareOptions & { strict: true; format: true }>(
  'diff',
  { states: true, sustainedEvents: true, strict: true, format: true },
  'a comparison',
);

/** What changed between two places. */
export interface Comparison extends HistoryDiff {
  /** The last point both have in common, as the left side names it; null if they are not related. */
  readonly forkPoint: Point | null;
  /** How the states differ, by projection. */
  readonly states: Readonly<Record<string, ValueDiff>>;
}

/** Compares the views of two places by how they behaved. */
export async function compare(
  engine: Engine,
  left: Ref,
  right: Ref,
  options: CompareOptions = {},
): Promise<Comparison> {
  checkKeys(options, compareKeys);
  const places = [await placeOf(engine, left), await placeOf(engine, right)] as const;
  const sides = sidesOf(places);
  const diff = diffHistories(...(await describe(engine, sides)), options);
  const states: Record<string, ValueDiff> = {};
  for (const projection of options.states ?? []) {
    const [a, b] = [await foldAt(engine, places[0], projection), await foldAt(engine, places[1], projection)];
    setKey(states, projection.name, diffValues(a as JsonValue, b as JsonValue));
  }
  const pairs = await withFields(engine, sides, diff.pairs);
  return { ...diff, pairs, forkPoint: await forkPointOf(engine, ...places), states };
}

/** Compares the views of two places position by position, by type alone. */
export async function compareStrictly(engine: Engine, left: Ref, right: Ref): Promise<StrictDiff> {
  const names = { left: refText(left), right: refText(right) };
  const sides = sidesOf([await placeOf(engine, left), await placeOf(engine, right)]);
  const both: StrictEvent[][] = [[], []];
  const note = (list: StrictEvent[] | undefined, { seq, type, data }: Event): void => {
    list?.push({ seq, type, text: JSON.stringify(data).slice(0, 200) });
  };
  await readSides(engine, sides, (event, side) => note(both[side], event));
  return diffStrictly(both[0] ?? [], both[1] ?? [], names);
}

function placeOf(engine: Engine, ref: Ref): Promise<Place> {
  return placeAt(engine, ref.session, ref.branch, ref.at);
}

/** Two views as what they begin with in common, which is read once, and what each has after that. */
interface Sides {
  readonly places: readonly [Place, Place];
  readonly common: View;
  readonly rests: readonly [View, View];
}

function sidesOf(places: readonly [Place, Place]): Sides {
  const [left, right] = places;
  const views = [viewAt(left.history, left.seq), viewAt(right.history, right.seq)] as const;
  const common = left.session === right.session ? viewAt(left.history, sharedSeq(left, right)) : { pieces: [] };
  const rests = [restOf(views[0], common), restOf(views[1], common)] as const;
  if (rests[0] === undefined || rests[1] === undefined) return { places, common: { pieces: [] }, rests: views };
  return { places, common, rests: [rests[0], rests[1]] };
}

async function readSides(
  engine: Engine,
  { places, common, rests }: Sides,
  take: (event: Event, side: 0 | 1) => void,
): Promise<void> {
  for await (const events of viewPages(engine, places[0], common)) {
    for (const event of events) {
      take(event, 0);
      take(event, 1);
    }
  }
  for (const side of [0, 1] as const) {
    for await (const events of viewPages(engine, places[side], rests[side]))
      for (const event of events) take(event, side);
  }
}

async function describe(engine: Engine, sides: Sides): Promise<[readonly DiffEvent[], readonly DiffEvent[]]> {
  const { sha256 } = engine.platform;
  const describers = [createHistoryDescriber(sha256), createHistoryDescriber(sha256)] as const;
  await readSides(engine, sides, (event, side) => describers[side].add(event));
  return [describers[0].events(), describers[1].events()];
}

/** Fetches the events of the first changed pairs once more, and says in which fields they differ. */
async function withFields(engine: Engine, sides: Sides, pairs: readonly DiffPair[]): Promise<readonly DiffPair[]> {
  const changed = pairs.filter((pair) => pair.kind === 'changed').slice(0, limits.diffDetailsMax);
  if (changed.length === 0) return pairs;
  const wanted = [new Set(changed.map((pair) => pair.left)), new Set(changed.map((pair) => pair.right))] as const;
  const found = [new Map<Seq, Event>(), new Map<Seq, Event>()] as const;
  await readSides(engine, { ...sides, common: { pieces: [] } }, (event, side) => {
    if (wanted[side].has(event.seq)) found[side].set(event.seq, event);
  });
  return pairs.map((pair) => {
    const [left, right] = pair.kind === 'changed' ? [found[0].get(pair.left), found[1].get(pair.right)] : [];
    return left === undefined || right === undefined ? pair : { ...pair, fields: changedFields(left, right) };
  });
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
