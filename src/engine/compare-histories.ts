import type { StrictDiff } from '../core/comparing/diff-strict.ts';
import { hasCode, RepriseError } from '../core/error.ts';
import type { Ref } from '../core/ref.ts';
import { compareBeliefs } from './believing/compare-beliefs.ts';
import type { Engine } from './context/engine.ts';
import { type Place, refOfPlace } from './history/place.ts';
import { Where } from './history/where.ts';
import { compareOutlines } from './importing/export.ts';
import { withFormats } from './importing/formats.ts';
import { type CompareOptions, type Comparison, checkCompare, compare, compareStrictly } from './looking/compare.ts';

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
  left: Where,
  other: Where | string | Ref,
  options: StrictOptions | BehaviorOptions = {},
): Promise<Comparison | StrictDiff> {
  const { engine } = left;
  const right = other instanceof Where ? other : Where.ofRef(engine, other);
  checkSameStore(engine, right.engine);
  const found = await left.place('diff');
  const places = [found, other === right ? await right.place('diff') : await placeOfRef(right)] as const;
  const compared = await comparePlaces(engine, ...places, options);
  if (!('names' in compared)) return compared;
  return { ...compared, names: { left: await left.name(), right: await right.name() } };
}

async function comparePlaces(
  engine: Engine,
  left: Place,
  right: Place,
  options: StrictOptions | BehaviorOptions,
): Promise<Comparison | StrictDiff> {
  checkCompare(options);
  if (options.strict === true) {
    if (options.format === undefined) return compareStrictly(engine, left, right);
    return compareOutlines(await withFormats(engine), refOfPlace(left), refOfPlace(right), options.format);
  }
  const compared = await compare(engine, left, right, options);
  if (options.beliefs !== true) return compared;
  return { ...compared, beliefs: await compareBeliefs(engine, left, right, options.fromTurn) };
}

/** Refuses to compare histories of two stores or namespaces: both are read from the first. */
function checkSameStore(left: Engine, right: Engine): void {
  if (left.store === right.store && left.namespace === right.namespace) return;
  const what = left.store === right.store ? `namespace ${JSON.stringify(right.namespace)}` : 'a different store';
  throw new RepriseError('option.invalid', `Cannot diff: the other history is in ${what}`, {
    hint: 'Copy its session to this one first: other.copy(reprise, { sessions: [id] }).',
  });
}

/** Finds the place of a ref. A string that was meant as a point of the same session reads as a session that is not there. */
async function placeOfRef(where: Where): Promise<Place> {
  try {
    return await where.place('diff');
  } catch (error) {
    if (!hasCode(error, 'session.not-found')) throw error;
    const hint =
      'A string is a ref, session[/branch][@at]. For a point of the same session, pass a look: session.at("main@12").';
    throw new RepriseError('session.not-found', error.message, { hint, details: error.details, cause: error });
  }
}
