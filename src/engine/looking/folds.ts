import type { Projection } from '../../core/event/projection.ts';
import type { Engine } from '../context/engine.ts';
import { foldAt } from '../history/fold.ts';
import type { Place } from '../history/place.ts';

/** Projections by the names of their results. */
export type Projections = Readonly<Record<string, Projection<unknown, unknown>>>;

/** The results of projections, by the same names. */
export type Folded<Named extends Projections> = {
  readonly [Name in keyof Named]: Named[Name] extends Projection<unknown, infer Result> ? Result : never;
};

/** Folds several projections at a place. */
export async function folds<Named extends Projections>(
  engine: Engine,
  place: Place,
  projections: Named,
): Promise<Folded<Named>> {
  const results: Record<string, unknown> = {};
  for (const [name, projection] of Object.entries(projections)) results[name] = await foldAt(engine, place, projection);
  return results as Folded<Named>;
}
