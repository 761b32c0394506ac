import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { applyEvent, initialValue, type Projection } from '../../core/event/projection.ts';
import { given } from '../../core/json.ts';
import { beginning, later, seq as seqOf } from '../../core/point.ts';
import type { SessionRecord } from '../../core/store/event-store.ts';
import { restOf } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import type { Engine } from '../context/engine.ts';
import type { FollowedFold, FollowedFolds } from '../context/followed-folds.ts';
import type { OnBranch } from '../context/on-branch.ts';
import { valueAt } from './fold.ts';
import type { Pace } from './fold-pass.ts';
import { digestAt, type Place } from './place.ts';
import type { SnapshotBase } from './snapshot.ts';

/** A projection that is followed, and the folds of it that the process keeps. */
export interface Following<Value, Result> {
  readonly folds: FollowedFolds<Value>;
  readonly projection: Projection<Value, Result>;
  readonly pace?: Pace;
}

/** Names a branch among those that a process follows. No id has control characters, such as a line break. */
export function followedName({ namespace }: Pick<Engine, 'namespace'>, { session, branch }: OnBranch): string {
  return `${namespace}\n${session}\n${branch}`;
}

/**
 * Returns the value of a projection at a place: the one that the process keeps of the branch, continued by what came
 * since, or a new fold. It is `ahead` if the process has learned meanwhile what was appended after the place; the fold it
 * keeps then stays. Call it in the lane of the branch.
 */
export async function followTo<Value, Result>(
  engine: Engine,
  { folds, projection, pace }: Following<Value, Result>,
  place: Place,
  of: SessionRecord,
): Promise<{ readonly value: Value } | 'ahead'> {
  const { session, record, seq } = place;
  const name = followedName(engine, { session, branch: record.branch });
  const held = folds.get(name);
  if (held !== undefined && held.seq > seq && held.erasures === of.erasures) return 'ahead';
  // No caller uses a fold while it is continued, or after that failed; and it learns nothing that is being read.
  folds.delete(name);
  const base = held?.erasures === of.erasures ? await baseIn(engine, place, of, held) : undefined;
  const isUp = base !== undefined && base.rest.pieces.length === 0;
  const value = isUp ? base.value : await valueAt(engine, place, projection, { of, ...given({ base, pace }) });
  const { genesis, erasures } = of;
  folds.set(name, { value, seq, digest: await digestAt(engine, place), origin: { genesis }, erasures });
  return { value };
}

/** Returns the fold that is kept as a base, if it is of the session and the view at the place begins with its own. */
async function baseIn<Value>(
  engine: Engine,
  place: Place,
  { genesis }: SessionRecord,
  { seq, digest, value, origin }: FollowedFold<Value>,
): Promise<SnapshotBase<Value> | undefined> {
  if ('genesis' in origin && origin.genesis !== genesis) return undefined;
  if ('first' in origin && origin.first !== (await digestAt(engine, { ...place, seq: first }))) return undefined;
  const rest = restOf(viewAt(place.history, place.seq), viewAt(place.history, seq));
  if (rest === undefined || digest !== (await digestAt(engine, { ...place, seq }))) return undefined;
  // The fold has no text, so the size of an earlier one defers no snapshot.
  return { value, seq, length: 0, rest };
}

const first = seqOf(1);

/** Adds to the fold that is kept of a branch what this process has just appended, if nothing came in between. */
export function learn<Value, Result>(
  { folds, projection }: Following<Value, Result>,
  name: string,
  events: readonly Event[],
): void {
  const held = folds.get(name);
  const [first, last] = [events[0], events.at(-1)];
  if (held === undefined || first === undefined || last === undefined) return;
  if (first.seq !== later(held.seq, 1) || events.some(({ type }) => isStructural(type))) return;
  try {
    for (const event of events) held.value = applyEvent(projection, held.value, event);
    held.seq = last.seq;
    held.digest = last.digest;
  } catch {
    // An event of a newer release cannot be folded. It is stored, and the next look at it reports the error.
    folds.delete(name);
  }
}

/** Begins a fold with the first event of a session, which this process has just appended; it is to be learned then. */
export function followFromStart<Value, Result>(
  { folds, projection }: Following<Value, Result>,
  name: string,
  { digest }: Event,
): void {
  const value = initialValue(projection);
  folds.set(name, { value, seq: beginning, digest, origin: { first: digest }, erasures: 0 });
}
