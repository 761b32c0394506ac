import { diffValues, type ValueDiff } from '../../core/comparing/value-diff.ts';
import type { Projection } from '../../core/event/projection.ts';
import type { JsonValue } from '../../core/json.ts';
import type { Seq } from '../../core/point.ts';
import type { Engine } from '../context/engine.ts';
import { fold, foldAt } from '../history/fold.ts';
import type { Place } from '../history/place.ts';
import { sightOf } from '../history/sight.ts';
import { type FoldOptions, hypothesisFor } from './fold-options.ts';

/** The events to leave out, and the edits to make. */
export type CounterfactualOptions = Omit<FoldOptions, 'snapshots'>;

/** The result a projection would have had. */
export interface Counterfactual<Result> {
  readonly value: Result;
  /** Every seq that was left out: those named and those that went with them. */
  readonly excluded: readonly Seq[];
  /** Seqs that depend on them and stayed; empty with `cascade`. */
  readonly dependents: readonly Seq[];
  /** How the value differs from the real one. */
  readonly diff: ValueDiff;
}

/** Folds a projection as if some events had not happened, or had been different. Writes nothing. */
export async function counterfactual<Value, Result>(
  engine: Engine,
  place: Place,
  projection: Projection<Value, Result>,
  options: CounterfactualOptions,
): Promise<Counterfactual<Result>> {
  const { hypothesis, excluded } = await hypothesisFor(engine, place, options);
  const value = await fold(sightOf(engine, hypothesis), projection);
  const actual = await foldAt(engine, place, projection);
  return {
    value,
    excluded: excluded.seqs,
    dependents: excluded.dependents,
    diff: diffValues(actual as JsonValue, value as JsonValue),
  };
}
