import type { StrictDiff } from '../core/comparing/diff-strict.ts';
import { compareBeliefs } from './believing/compare-beliefs.ts';
import type { Engine } from './context/engine.ts';
import type { Place } from './history/place.ts';
import { compareOutlines } from './importing/export.ts';
import { withFormats } from './importing/formats.ts';
import {
  type CompareOptions,
  type Comparison,
  checkCompare,
  compare,
  compareStrictly,
  refAt,
} from './looking/compare.ts';

/** How to compare by position and type: the events themselves, or those that a file of a format would have. */
export interface StrictOptions extends CompareOptions {
  readonly strict: true;
  readonly format?: string;
}

/** How to compare by behavior. */
export interface BehaviorOptions extends CompareOptions {
  readonly strict?: false;
}

/** Compares the views at two places: by behavior, with their beliefs if they are asked for, or strictly. */
export async function compareHistories(
  engine: Engine,
  left: Place,
  right: Place,
  options: StrictOptions | BehaviorOptions,
): Promise<Comparison | StrictDiff> {
  checkCompare(options);
  if (options.strict === true) {
    if (options.format === undefined) return compareStrictly(engine, left, right);
    return compareOutlines(await withFormats(engine), refAt(left), refAt(right), options.format);
  }
  const compared = await compare(engine, left, right, options);
  if (options.beliefs !== true) return compared;
  return { ...compared, beliefs: await compareBeliefs(engine, refAt(left), refAt(right), options.fromTurn) };
}
