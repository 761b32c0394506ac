import { type DiffOptions, type DiffPair, diffHistories, type HistoryDiff } from '../../core/comparing/diff.ts';
import { changedFields, createHistoryDescriber, type DiffEvent } from '../../core/comparing/diff-describe.ts';
import { diffStrictly, type StrictDiff, type StrictEvent } from '../../core/comparing/diff-strict.ts';
import { diffValues, type ValueDiff } from '../../core/comparing/value-diff.ts';
import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import type { Projection } from '../../core/event/projection.ts';
import type { BeliefsDiff } from '../../core/fleet/beliefs-diff.ts';
import { type JsonValue, setKey } from '../../core/json.ts';
import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { ListEdits } from '../../core/parts/decode.ts';
import { beginning, type Point, type Seq } from '../../core/point.ts';
import { refText } from '../../core/ref.ts';
import { rawPieces, restOf, viewOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import { hypothesisAt } from '../history/hypothesis.ts';
import { listEditsOf } from '../history/list-edits.ts';
import { digestAt, type Place, pointOf, refOfPlace, sessionRecord } from '../history/place.ts';
import { sightOf } from '../history/sight.ts';
import { viewPages } from './replay.ts';

/** How to compare two histories. */
export interface CompareOptions extends DiffOptions {
  /** Projections whose values are compared too. */
  readonly states?: readonly Projection<unknown, unknown>[];
  /** Compares the beliefs, the agents and their answers, too, and says what caused each difference. */
  readonly beliefs?: boolean;
  /** With `beliefs`: only what is of this turn or later. */
  readonly fromTurn?: number;
}

const compareKeys: KnownKeys = optionKeys<CompareOptions & { strict: true; format: true }>(
  'diff',
  { states: 'list', sustainedEvents: 'number', strict: 'flag', format: 'text', beliefs: 'flag', fromTurn: 'number' },
  'a comparison',
);

/** The difference between two histories. */
export interface Comparison extends HistoryDiff {
  /** The last point both share, as the left side names it; null if they are not related. */
  readonly forkPoint: Point | null;
  /** How the values of projections differ, by projection. */
  readonly states: Readonly<Record<string, ValueDiff>>;
  /** How the beliefs differ, if they were asked for. */
  readonly beliefs?: BeliefsDiff;
}

/** Refuses unknown options, and options that a comparison would ignore. */
export function checkCompare(options: CompareOptions & { readonly strict?: boolean; readonly format?: string }): void {
  checkKeys(options, compareKeys);
  const { strict, format, states, sustainedEvents, beliefs, fromTurn } = options;
  const besides = { states, sustainedEvents, beliefs: beliefs === true ? beliefs : undefined };
  const beside = Object.entries(besides).find(([, value]) => value !== undefined)?.[0];
  if (strict === true && beside !== undefined)
    throw new RepriseError('option.invalid', `Cannot diff strictly with "${beside}"`, {
      hint: 'A strict diff compares only types. Leave out "strict", or compare twice.',
    });
  if (beliefs !== true && fromTurn !== undefined)
    throw new RepriseError('option.invalid', 'Cannot diff with "fromTurn" and without "beliefs"', {
      hint: 'Add beliefs: true.',
    });
  if (strict !== true && format !== undefined)
    throw new RepriseError('option.invalid', `Cannot diff in the format "${format}" without "strict"`, {
      hint: 'Add strict: true.',
    });
}

/** Compares the views at two places by how they behaved. */
export async function compare(
  engine: Engine,
  left: Place,
  right: Place,
  options: CompareOptions = {},
): Promise<Comparison> {
  checkCompare(options);
  const places = [left, right] as const;
  const sides = await sidesOf(engine, places);
  const diff = diffHistories(...(await describe(engine, sides)), options);
  const states: Record<string, ValueDiff> = {};
  for (const projection of options.states ?? []) {
    const [a, b] = [await foldAt(engine, places[0], projection), await foldAt(engine, places[1], projection)];
    setKey(states, projection.name, diffValues(a as JsonValue, b as JsonValue));
  }
  const pairs = await withFields(engine, sides, diff.pairs);
  return { ...diff, pairs, forkPoint: await forkPointOf(engine, ...places), states };
}

/** Compares the views at two places position by position, by type alone. */
export async function compareStrictly(engine: Engine, left: Place, right: Place): Promise<StrictDiff> {
  const names = { left: refText(refOfPlace(left)), right: refText(refOfPlace(right)) };
  const sides = await sidesOf(engine, [left, right]);
  const both: StrictEvent[][] = [[], []];
  const note = (list: StrictEvent[] | undefined, { seq, type, data }: Event): void => {
    list?.push({ seq, type, text: JSON.stringify(data).slice(0, 200) });
  };
  await readSides(engine, sides, (event, side) => note(both[side], event));
  return diffStrictly(both[0] ?? [], both[1] ?? [], names);
}

/** One of two histories: its session, the part of its view that only it has, and the edits its lists are read through. */
interface Side {
  readonly session: string;
  readonly rest: View;
  readonly listEdits: ListEdits | undefined;
}

/** Two views: the beginning they have in common, which is read once, and what each has after it. */
interface Sides {
  readonly common: View;
  readonly sides: readonly [Side, Side];
}

async function sidesOf(engine: Engine, [left, right]: readonly [Place, Place]): Promise<Sides> {
  const sights = [sightOf(engine, hypothesisAt(left)), sightOf(engine, hypothesisAt(right))] as const;
  const shared = left.session === right.session ? viewAt(left.history, sharedSeq(left, right)) : noView;
  const [leftRest, rightRest] = [restOf(sights[0].view, shared), restOf(sights[1].view, shared)];
  const isShared = leftRest !== undefined && rightRest !== undefined;
  const rests = isShared ? ([leftRest, rightRest] as const) : ([sights[0].view, sights[1].view] as const);
  return {
    common: isShared ? shared : noView,
    sides: [
      { session: left.session, rest: rests[0], listEdits: await listEditsOf(sights[0]) },
      { session: right.session, rest: rests[1], listEdits: await listEditsOf(sights[1]) },
    ],
  };
}

const noView: View = { pieces: [] };

async function readSides(
  engine: Engine,
  { common, sides }: Sides,
  take: (event: Event, side: 0 | 1) => void,
): Promise<void> {
  const [{ session, listEdits }] = sides;
  if (common.pieces.length > 0) {
    for await (const events of viewPages(engine, session, common, listEdits)) {
      for (const event of events) {
        take(event, 0);
        take(event, 1);
      }
    }
  }
  for (const side of [0, 1] as const)
    await readSide(engine, sides[side], sides[side].rest, (event) => take(event, side));
}

async function readSide(
  engine: Engine,
  { session, listEdits }: Side,
  view: View,
  take: (event: Event) => void,
): Promise<void> {
  if (view.pieces.length === 0) return;
  for await (const events of viewPages(engine, session, view, listEdits)) for (const event of events) take(event);
}

async function describe(engine: Engine, sides: Sides): Promise<[readonly DiffEvent[], readonly DiffEvent[]]> {
  const { sha256 } = engine.platform;
  const describers = [createHistoryDescriber(sha256), createHistoryDescriber(sha256)] as const;
  await readSides(engine, sides, (event, side) => describers[side].add(event));
  return [describers[0].events(), describers[1].events()];
}

/** Reads the events of the first changed pairs again, and adds the fields in which they differ. */
async function withFields(engine: Engine, { sides }: Sides, pairs: readonly DiffPair[]): Promise<readonly DiffPair[]> {
  const changed = pairs.filter((pair) => pair.kind === 'changed').slice(0, limits.diffDetailsMax);
  if (changed.length === 0) return pairs;
  const lefts = await eventsIn(engine, sides[0], new Set(changed.map((pair) => pair.left)));
  const rights = await eventsIn(engine, sides[1], new Set(changed.map((pair) => pair.right)));
  return pairs.map((pair) => {
    const [left, right] = pair.kind === 'changed' ? [lefts.get(pair.left), rights.get(pair.right)] : [];
    return left === undefined || right === undefined ? pair : { ...pair, fields: changedFields(left, right) };
  });
}

/** Reads the events at some seqs of one side, and little else. */
async function eventsIn(engine: Engine, side: Side, seqs: ReadonlySet<Seq>): Promise<ReadonlyMap<Seq, Event>> {
  const found = new Map<Seq, Event>();
  await readSide(engine, side, viewOf(side.rest, seqs), (event) => found.set(event.seq, event));
  return found;
}

/** Finds the last point two histories share: by lineage within a session, by digests between copies of one. */
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
