import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { keptName } from '../../core/event/kept-name.ts';
import { type Projection, valueTextWithin } from '../../core/event/projection.ts';
import { upcastsVersion } from '../../core/event/upcast.ts';
import type { JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { beginning, type Seq } from '../../core/point.ts';
import type {
  BranchSummary,
  FoundSnapshot,
  SessionRecord,
  Snapshot,
  SnapshotKey,
  SnapshotsRequest,
} from '../../core/store/event-store.ts';
import { snapshotKeyOf } from '../../core/store/snapshot-key.ts';
import { openValue } from '../../core/store/snapshot-seal.ts';
import { utf8Length } from '../../core/utf8.ts';
import { rawPieces, restOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import type { Hypothesis } from './hypothesis.ts';
import { keepValue, keptValue } from './kept-value.ts';
import { digestAt, type Place, placeAtHead, pointOf, sessionRecord } from './place.ts';
import { type Sight, sightAt } from './sight.ts';

/** A kept value to continue from, and the rest of the view to fold. */
export interface SnapshotBase<Value> {
  readonly value: Value;
  /** Where it was kept. */
  readonly seq: Seq;
  /** The characters of its text. */
  readonly length: number;
  readonly rest: View;
}

/**
 * Returns the key that a snapshot is kept under now; undefined for a projection without a version. Ask for it before
 * reading events: content that is erased in between must not be kept under a later key.
 */
export async function snapshotKey(
  engine: Engine,
  place: Pick<Place, 'session'>,
  projection: Pick<Projection<unknown>, 'name' | 'version'>,
): Promise<SnapshotKey | undefined> {
  return projection.version === undefined ? undefined : keyFor(projection, await sessionRecord(engine, place.session));
}

/** Returns the key that a snapshot is kept under, by the session as it was read before any event. */
export function keyFor(
  projection: Pick<Projection<unknown>, 'name' | 'version'>,
  { erasures }: Pick<SessionRecord, 'erasures'>,
): SnapshotKey | undefined {
  const { version } = projection;
  return version === undefined
    ? undefined
    : { projection: keptName(projection), version, upcasts: upcastsVersion, erasures };
}

/** Decides whether a fold may continue from a snapshot. */
export type Believes = (found: Omit<Snapshot, 'value'>) => boolean;

/** A fold that may continue from a snapshot. */
export interface SnapshotSought {
  readonly key: SnapshotKey;
  readonly history: 'view' | 'raw';
  /** The view or the raw history that is folded. */
  readonly whole: View;
  readonly believes: Believes;
}

/** Branches whose snapshots are looked up at once: nearly always one of the nearest has what is sought. */
const branchesAtOnce = 64;

/**
 * Finds for each fold the nearest snapshot whose view its own extends; undefined for a fold that seeks none, or if there
 * is none. The snapshots of all folds are looked up together.
 */
export async function basesFor(
  sight: Sight,
  sought: readonly (SnapshotSought | undefined)[],
): Promise<(SnapshotBase<unknown> | undefined)[]> {
  const { engine, hypothesis } = sight;
  const { place } = hypothesis;
  const bases = sought.map((): SnapshotBase<unknown> | undefined => undefined);
  const branches = rawPieces(hypothesis.history, place.seq).reverse();
  for (let from = 0; from < branches.length; from += branchesAtOnce) {
    const open = [...sought.entries()].flatMap(([index, one]) =>
      one === undefined || bases[index] !== undefined ? [] : [{ index, one }],
    );
    if (open.length === 0) break;
    const keys = new Map(open.map(({ one }) => [keyName(one.key), snapshotKeyOf(one.key)]));
    const within = branches.slice(from, from + branchesAtOnce).map(({ branch, through }) => ({ branch, through }));
    const found = await snapshotsIn(sight, [...keys.values()], within);
    const byKey = Map.groupBy(found, keyName);
    for (const { index, one } of open)
      bases[index] = await baseIn(engine, hypothesis, one, byKey.get(keyName(one.key)) ?? []);
  }
  return bases;
}

/** Looks up the snapshots of some keys; those that a sight of the same verb has looked up are known. */
async function snapshotsIn(
  sight: Sight,
  keys: readonly SnapshotKey[],
  within: SnapshotsRequest['within'],
): Promise<FoundSnapshot[]> {
  const { engine, hypothesis, shared } = sight;
  const covers = (known: SnapshotsRequest['within'] = []): boolean =>
    within.every(({ branch, through }) => known.some((held) => held.branch === branch && held.through >= through));
  const unknown = keys.filter((key) => !covers(shared.snapshots.get(keyName(key))?.within));
  if (unknown.length > 0) {
    const request = { keys: unknown, within };
    const found = await engine.store.snapshots(sessionRef(engine, hypothesis.place.session), request);
    noteFound(sight, unknown, within, found);
  }
  const isWithin = ({ branch, seq }: FoundSnapshot): boolean =>
    within.some((held) => held.branch === branch && seq <= held.through);
  return keys.flatMap((key) => shared.snapshots.get(keyName(key))?.found.filter(isWithin) ?? []);
}

/**
 * Looks up the head of a branch, and at the same time the snapshots that folds of some projections there may continue
 * from. The lineage is the branch as it was listed, and then its ancestors, the nearest first.
 */
export async function sightAtHead(
  engine: Engine,
  of: SessionRecord,
  lineage: readonly BranchSummary[],
  projections: readonly Pick<Projection<unknown>, 'name' | 'version'>[],
): Promise<Sight> {
  const { session } = of;
  const reaches = lineage.map(({ branch, head }, index) => ({
    branch,
    through: lineage[index - 1]?.parent?.seq ?? head,
  }));
  const within = reaches.slice(0, branchesAtOnce);
  const keys = projections.flatMap((projection) => keyFor(projection, of) ?? []);
  const [place, found] = await Promise.all([
    placeAtHead(engine, session, lineage[0]?.branch ?? of.root),
    engine.store.snapshots(sessionRef(engine, session), { keys, within }),
  ]);
  const sight = sightAt(engine, place, of);
  noteFound(sight, keys, within, found);
  return sight;
}

function noteFound(
  { shared }: Sight,
  keys: readonly SnapshotKey[],
  within: SnapshotsRequest['within'],
  found: readonly FoundSnapshot[],
): void {
  const byKey = Map.groupBy(found, keyName);
  for (const key of keys) shared.snapshots.set(keyName(key), { within, found: byKey.get(keyName(key)) ?? [] });
}

const keyName = ({ projection, version, upcasts, erasures }: SnapshotKey): string =>
  JSON.stringify([projection, version, upcasts, erasures]);

/** Returns the first of some snapshots that a fold may continue from, with its value. */
async function baseIn(
  engine: Engine,
  hypothesis: Hypothesis,
  { history, whole, believes }: SnapshotSought,
  found: readonly FoundSnapshot[],
): Promise<SnapshotBase<unknown> | undefined> {
  const { place } = hypothesis;
  for (const { value: held, ...at } of found) {
    const rest = restOf(whole, viewOf(hypothesis, history, at.seq));
    if (rest === undefined || !believes(at)) continue;
    if (at.seq === place.record.head && at.digest !== place.record.digest) continue;
    const text =
      held === undefined
        ? await keptValue(engine, { ...sessionRef(engine, place.session), branch: at.branch }, at, at)
        : openValue(engine.platform.sha256, { ...at, value: held });
    const value = text === undefined ? undefined : valueIn(text);
    if (text !== undefined && value !== undefined) return { value, seq: at.seq, length: text.length, rest };
  }
  return undefined;
}

/** Parses a snapshot; undefined if it cannot be read, since the log has everything it was made from. */
function valueIn(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function viewOf(hypothesis: Pick<Hypothesis, 'history'>, history: 'view' | 'raw', at: Event['seq']): View {
  return history === 'raw' ? { pieces: rawPieces(hypothesis.history, at) } : viewAt(hypothesis.history, at);
}

/** The bytes of the smallest data of an event: `{}`. */
const payloadBytesMin = 2;

/** Where a keeper puts values, what the fold began with, and how large a value may be. */
interface KeeperOptions<Value> {
  readonly key: SnapshotKey;
  readonly base: SnapshotBase<Value> | undefined;
  readonly bytesMax: number | undefined;
}

/**
 * Decides which values of a fold to keep. The events since the last one must weigh enough that all snapshots together
 * stay under a quarter of the log, whatever the size of the value.
 */
export class SnapshotKeeper<Value, Result> {
  readonly #engine: Engine;
  readonly #place: Place;
  readonly #projection: Projection<Value, Result>;
  readonly #key: SnapshotKey;
  readonly #bytesMax: number;
  /** Where the last value was kept. */
  #keptAt: Seq;
  #events = 0;
  #bytes = 0;
  #bytesDue = 0;
  #isTooLarge = false;

  constructor(
    engine: Engine,
    place: Place,
    projection: Projection<Value, Result>,
    { key, base, bytesMax = limits.snapshotBytesMax }: KeeperOptions<Value>,
  ) {
    this.#engine = engine;
    this.#place = place;
    this.#projection = projection;
    this.#key = key;
    this.#bytesMax = bytesMax;
    this.#keptAt = base?.seq ?? beginning;
    // Values mostly grow, so the next one is not due before it would be at the size of the last: writing it takes time.
    this.#bytesDue = (base?.length ?? 0) * limits.snapshotBytesFactor;
  }

  /** Counts one folded event; returns true when a snapshot may be due. */
  isDue(bytes: number): boolean {
    this.#events += 1;
    this.#bytes += bytes;
    return !this.#isTooLarge && this.#events >= this.#engine.snapshotEvents && this.#bytes >= this.#bytesDue;
  }

  /** Keeps the value after an event, if it is small enough and the event ends a view. */
  async offer(event: Event, value: Value): Promise<void> {
    const text = this.#textOf(value);
    if (text === undefined) return;
    this.#bytesDue = text.length * limits.snapshotBytesFactor;
    if (this.#bytes < this.#bytesDue) return;
    this.#events = 0;
    this.#bytes = 0;
    if (this.#isEndOfView(event)) await this.#put(event, text);
  }

  /**
   * Keeps the value of the place itself, if one is due or asked for, even for an edited view. Events that the
   * projection does not fold count too: without a value kept after them, every look would read past them again.
   */
  async offerEnd(value: Value, isAskedFor: boolean): Promise<void> {
    const passed = Math.max(this.#events, this.#place.seq - this.#keptAt);
    if (isAskedFor ? this.#events === 0 : passed < this.#engine.snapshotEvents || this.#isTooLarge) return;
    const bytes = this.#bytes + (passed - this.#events) * payloadBytesMin;
    if (!isAskedFor && bytes < this.#bytesDue) return;
    const text = this.#textOf(value);
    if (text === undefined) return;
    if (!isAskedFor && bytes < text.length * limits.snapshotBytesFactor) return;
    await this.#put({ ...pointOf(this.#place), digest: await digestAt(this.#engine, this.#place) }, text);
  }

  /**
   * Writes a value as text; undefined if it is too large to keep, which is found without writing it. Values mostly grow:
   * once one was too large, the fold stops offering them.
   */
  #textOf(value: Value): string | undefined {
    const text = valueTextWithin(this.#projection, value, this.#bytesMax);
    this.#isTooLarge = text === undefined;
    return text;
  }

  /** Keeps a value. It is derived, so a store that is locked or full only costs time later. */
  async #put({ branch, seq, digest }: Pick<Event, 'branch' | 'seq' | 'digest'>, value: string): Promise<void> {
    if (utf8Length(value) > this.#bytesMax) return;
    this.#keptAt = seq;
    try {
      await keepValue(this.#engine, this.#place.session, { ...this.#key, branch, seq, digest }, value);
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
    }
  }

  /** Returns whether the events folded so far are the view of a point: inside an edited view they may not be. */
  #isEndOfView(event: Event): boolean {
    if (this.#projection.history === 'raw') return true;
    const { history, seq } = this.#place;
    const last = viewAt(history, event.seq).pieces.at(-1);
    const end = last?.kind === 'range' ? last.through : last?.seq;
    return (
      end === event.seq &&
      event.replaces === undefined &&
      restOf(viewAt(history, seq), viewAt(history, event.seq)) !== undefined
    );
  }
}
