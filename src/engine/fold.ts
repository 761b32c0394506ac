import { applyEvent, finishValue, initialValue, type Projection } from '../core/projection.ts';
import { rawPieces } from '../core/segment.ts';
import type { Engine } from './engine.ts';
import { asItIs, type Hypothesis } from './hypothesis.ts';
import { listEditsOf } from './list-edits.ts';
import { eventsOf, lookAt } from './look.ts';
import type { Place } from './place.ts';
import { baseFor, SnapshotKeeper } from './snapshot.ts';

/** The state of a projection at a place. */
export async function foldAt<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  return fold(engine, asItIs(place), projection, snapshots);
}

/** Folds what a hypothesis leads to. */
export async function fold<Value, Result>(
  engine: Engine,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  snapshots = true,
): Promise<Result> {
  const isRaw = projection.history === 'raw';
  const look = lookAt(engine, hypothesis);
  const all = isRaw ? { pieces: rawPieces(hypothesis.history, hypothesis.at) } : look.view;
  const base = snapshots ? await baseFor(engine, hypothesis, projection, all) : undefined;
  const isStored = hypothesis.events.size === 0;
  const keeper = snapshots && isStored ? new SnapshotKeeper(engine, hypothesis.place, projection) : undefined;
  let value = base === undefined ? initialValue(projection) : base.value;
  const listEdits = isRaw ? undefined : await listEditsOf(look);
  for await (const { events, bytes } of eventsOf(look, base?.rest ?? all, listEdits)) {
    for (const event of events) {
      value = applyEvent(projection, value, event);
      if (keeper?.isDue(bytes / events.length) === true) await keeper.offer(event, value);
    }
  }
  return finishValue(projection, value);
}
