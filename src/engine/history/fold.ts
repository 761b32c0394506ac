import { applyEvent, finishValue, initialValue, type Projection } from '../../core/event/projection.ts';
import { given } from '../../core/json.ts';
import { rawPieces } from '../../core/view/segment.ts';
import type { Engine } from '../context/engine.ts';
import { type Hypothesis, hypothesisAt } from './hypothesis.ts';
import { listEditsOf } from './list-edits.ts';
import { eventsOf, lookAt } from './look.ts';
import type { Place } from './place.ts';
import { replacedIdsOf } from './replaced-ids.ts';
import { baseFor, SnapshotKeeper, snapshotKey } from './snapshot.ts';

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

/** Folds a projection at a place, keeps its value even if few events follow the last one kept, and returns it. */
export async function keepAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
): Promise<Value> {
  return foldValue(engine, hypothesisAt(place), projection, 'always');
}

/** Returns the value a fold ends with, and keeps it `always`, when it is `due`, or `never`. */
async function foldValue<Value, Result>(
  engine: Engine,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  keep: 'always' | 'due' | 'never',
): Promise<Value> {
  const isRaw = projection.history === 'raw';
  const look = lookAt(engine, hypothesis);
  const all = isRaw ? { pieces: rawPieces(hypothesis.history, hypothesis.at) } : look.view;
  const key = keep === 'never' ? undefined : await snapshotKey(engine, hypothesis.place, projection);
  const base = key === undefined ? undefined : await baseFor(engine, hypothesis, projection, all, key);
  const mayKeep = key !== undefined && hypothesis.events.size === 0;
  const keeper = mayKeep ? new SnapshotKeeper(engine, hypothesis.place, projection, { key, base }) : undefined;
  let value = base === undefined ? initialValue(projection) : base.value;
  const listEdits = isRaw ? undefined : await listEditsOf(look);
  const replacedIds = isRaw ? undefined : await replacedIdsOf(look);
  const { types, without } = projection;
  const request = {
    listEdits,
    replacedIds,
    ...given({ without, filter: types === undefined ? undefined : { types } }),
  };
  for await (const { events, bytes } of eventsOf(look, base?.rest ?? all, request)) {
    for (const event of events) {
      value = applyEvent(projection, value, event);
      const isDue = keeper?.isDue(bytes / events.length) === true;
      if (isDue && keep === 'due') await keeper.offer(event, value);
    }
  }
  await keeper?.offerEnd(value, keep === 'always');
  return value;
}
