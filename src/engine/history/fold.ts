import { RepriseError } from '../../core/error.ts';
import { applyEvent, finishValue, initialValue, type Projection } from '../../core/event/projection.ts';
import { given, isObject } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import type { Seq } from '../../core/point.ts';
import type { SessionRecord, SnapshotKey } from '../../core/store/event-store.ts';
import { restOf } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import { type FoldOrder, foldTogether, type Pace } from './fold-pass.ts';
import { listEditsOf } from './list-edits.ts';
import type { Place } from './place.ts';
import { replacedIdsOf } from './replaced-ids.ts';
import { eventsOf, type Sight, sightAt } from './sight.ts';
import type { Believes, SnapshotBase } from './snapshot.ts';

/** Projections to fold together, by the names that their results get. */
export type Projections = Readonly<Record<string, Projection<unknown, unknown>>>;

/** The results of projections, by their names. */
export type Folded<Held extends Projections> = {
  readonly [Name in keyof Held]: Held[Name] extends Projection<infer _Value, infer Result> ? Result : never;
};

/** Folds a projection over the history that leads to a place. */
export async function foldAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  return fold(sightAt(engine, place), projection, snapshots);
}

/** Folds several projections over the history that leads to a place, which is read once for all of them. */
export async function foldsAt<Held extends Projections>(
  engine: Engine,
  place: Place,
  projections: Held,
  snapshots = true,
): Promise<Folded<Held>> {
  return folds(sightAt(engine, place), projections, snapshots);
}

/** Folds a projection over a sight. */
export async function fold<Value, Result>(
  sight: Sight,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  return finishValue(projection, await foldValue(sight, projection, snapshots ? 'due' : 'never'));
}

/** Folds several projections over a sight, which is read once for all of them. */
export async function folds<Held extends Projections>(
  sight: Sight,
  projections: Held,
  snapshots = true,
): Promise<Folded<Held>> {
  // A caller without types may pass anything.
  if (!isObject(projections))
    throw new RepriseError('projection.invalid', `Cannot fold ${shownValue(projections)}: it is not an object`, {
      hint: 'Pass projections by the names of their results: { talk: conversation, spent: usage }.',
    });
  const named = Object.entries(projections);
  const keep = snapshots ? 'due' : 'never';
  const values = await foldTogether(
    sight,
    named.map(([, projection]) => ({ projection, keep })),
  );
  const results = named.map(
    ([name, projection], index) => [name, finishValue(projection, values[index]?.value)] as const,
  );
  return Object.fromEntries(results) as Folded<Held>;
}

/** Folds a projection at a place, and returns its value; continues from a value that the caller has, and may change it. */
export async function valueAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  { base, pace, of }: { readonly base?: SnapshotBase<Value>; readonly pace?: Pace; readonly of?: SessionRecord },
): Promise<Value> {
  return foldValue(sightAt(engine, place, of), projection, 'due', given({ base, pace }));
}

/** Folds a projection at a place, keeps its value even if few events follow the last one kept, and returns it. */
export async function keepAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
): Promise<Value> {
  return foldValue(sightAt(engine, place), projection, 'always');
}

/**
 * Folds a projection at a place, and returns the value as it would be kept. It continues only from snapshots that the
 * caller has proved, and keeps none.
 */
export async function provenValue<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  proved: { readonly key: SnapshotKey; readonly believes: Believes },
): Promise<Value> {
  return foldValue(sightAt(engine, place), projection, 'never', { proved });
}

/**
 * Folds a projection over the part of a sight that follows a seq, from the log alone; undefined if the view does not
 * begin with that of the seq.
 */
export async function foldAfter<Value, Result>(
  sight: Sight,
  after: Seq,
  projection: Projection<Value, Result>,
): Promise<Result | undefined> {
  const rest = restOf(sight.view, viewAt(sight.hypothesis.history, after));
  if (rest === undefined) return undefined;
  const { types, without } = projection;
  const filter = types === undefined ? undefined : { types };
  const request = {
    listEdits: await listEditsOf(sight),
    replacedIds: await replacedIdsOf(sight),
    ...given({ without, filter }),
  };
  let value = initialValue(projection);
  for await (const { events } of eventsOf(sight, rest, request))
    for (const event of events) value = applyEvent(projection, value, event);
  return finishValue(projection, value);
}

async function foldValue<Value, Result>(
  sight: Sight,
  projection: Projection<Value, Result>,
  keep: FoldOrder['keep'],
  from: Pick<FoldOrder, 'proved' | 'pace'> & { readonly base?: SnapshotBase<Value> } = {},
): Promise<Value> {
  const order = { projection: projection as Projection<unknown, unknown>, keep, ...from };
  const [folded] = await foldTogether(sight, [order]);
  return folded?.value as Value;
}
