import type { Event } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { applyEvent, initialValue, type Projection } from '../../core/event/projection.ts';
import { given } from '../../core/json.ts';
import { beginning, later, seq as seqOf } from '../../core/point.ts';
import { onwardFrom } from '../../core/session/read-through.ts';
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

/** A value that follows branches: those of it that are kept, and how events come into it. */
export interface Following<Value> {
  readonly folds: FollowedFolds<Value>;
  /** Returns the value at a place. It continues from a base, which it may change, or begins anew. */
  readonly read: (
    engine: Engine,
    place: Place,
    from: { readonly of: SessionRecord; readonly base?: SnapshotBase<Value> },
  ) => Promise<Value>;
  /** Adds an event that comes next. */
  readonly add: (value: Value, event: Event) => Value;
}

/** A projection that is followed. */
export interface FollowedProjection<Value> extends Following<Value> {
  readonly initial: () => Value;
}

/** Returns a projection that is followed, with the folds of it that the process keeps. */
export function followedFold<Value, Result>(
  folds: FollowedFolds<Value>,
  projection: Projection<Value, Result>,
  pace?: Pace,
): FollowedProjection<Value> {
  return {
    folds,
    initial: () => initialValue(projection),
    read: (engine, place, from) => valueAt(engine, place, projection, { ...from, ...given({ pace }) }),
    add: (value, event) => applyEvent(projection, value, event),
  };
}

/** Names a branch among those that a process follows. No id has control characters, such as a line break. */
export function followedName({ namespace }: Pick<Engine, 'namespace'>, { session, branch }: OnBranch): string {
  return `${namespace}\n${session}\n${branch}`;
}

/**
 * Returns the value at a place: the one that is kept of the branch, continued by what came since, or a new one. It is
 * `ahead` if it has learned meanwhile what was appended after the place; the value that is kept then stays. Call it in the
 * lane of the branch.
 */
export async function followTo<Value>(
  engine: Engine,
  { folds, read }: Following<Value>,
  place: Place,
  of: SessionRecord,
): Promise<{ readonly value: Value } | 'ahead'> {
  const { session, record, seq } = place;
  const { genesis, erasures } = of;
  const name = followedName(engine, { session, branch: record.branch });
  const digest = await digestAt(engine, place);
  const held = folds.get(name);
  const began = held !== undefined && 'genesis' in held.origin ? held.origin.genesis : genesis;
  const onward = onwardFrom(held && { ...held, began }, { began: genesis, seq, digest, erasures });
  if (onward === 'ahead') return 'ahead';
  // No caller uses a value while it is continued, or after that failed; and it learns nothing that is being read.
  folds.delete(name);
  const base = held === undefined || onward === 'anew' ? undefined : await baseIn(engine, place, held);
  const isUp = base?.rest.pieces.length === 0;
  const value = isUp ? base.value : await read(engine, place, { of, ...given({ base }) });
  folds.set(name, { value, seq, digest, origin: { genesis }, erasures });
  return { value };
}

/** Returns the value that is kept as a base, if the view at the place begins with its own. */
async function baseIn<Value>(
  engine: Engine,
  place: Place,
  { seq, digest, value, origin }: FollowedFold<Value>,
): Promise<SnapshotBase<Value> | undefined> {
  if ('first' in origin && origin.first !== (await digestAt(engine, { ...place, seq: first }))) return undefined;
  const rest = restOf(viewAt(place.history, place.seq), viewAt(place.history, seq));
  if (rest === undefined || digest !== (await digestAt(engine, { ...place, seq }))) return undefined;
  // The value has no text, so the size of an earlier one defers no snapshot.
  return { value, seq, length: 0, rest };
}

const first = seqOf(1);

/**
 * Adds to the value that is kept of a branch what this process has just appended, if nothing came in between. Returns
 * false if it has to be read.
 */
export function learn<Value>(
  { folds, add }: Pick<Following<Value>, 'folds' | 'add'>,
  name: string,
  events: readonly Event[],
): boolean {
  const held = folds.get(name);
  const last = events.at(-1);
  if (held === undefined || last === undefined) return false;
  // They may be of several appends, and others may have written in between.
  const isNext = (event: Event, index: number): boolean =>
    event.seq === later(held.seq, index + 1) && !isStructural(event.type);
  if (!events.every(isNext)) return false;
  try {
    for (const event of events) held.value = add(held.value, event);
    held.seq = last.seq;
    held.digest = last.digest;
    return true;
  } catch {
    // An event of a newer release cannot be folded. It is stored, and the next look at it reports the error.
    folds.delete(name);
    return false;
  }
}

/** Begins a fold with the first event of a session, which this process has just appended; it is to be learned then. */
export function followFromStart<Value>(
  { folds, initial }: FollowedProjection<Value>,
  name: string,
  { digest }: Event,
): void {
  folds.set(name, { value: initial(), seq: beginning, digest, origin: { first: digest }, erasures: 0 });
}

/** Keeps the value at the head of a branch that a verb had to make anyway, and that it does not use any more. */
export function followFrom<Value>(
  engine: Engine,
  { folds }: Pick<Following<Value>, 'folds'>,
  { session, record, seq }: Place,
  { value, of: { genesis, erasures } }: { readonly value: Value; readonly of: SessionRecord },
): void {
  const { branch, head, digest } = record;
  const name = followedName(engine, { session, branch });
  if (seq !== head || folds.get(name) !== undefined) return;
  folds.set(name, { value, seq, digest, origin: { genesis }, erasures });
}
