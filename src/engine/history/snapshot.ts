import { RepriseError } from '../../core/error.ts';
import type { Event } from '../../core/event/event.ts';
import { type Projection, valueText } from '../../core/event/projection.ts';
import { upcastsVersion } from '../../core/event/upcast.ts';
import type { JsonValue } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import { beginning, type Seq } from '../../core/point.ts';
import type { SnapshotKey } from '../../core/store/event-store.ts';
import { utf8Length } from '../../core/utf8.ts';
import { rawPieces, restOf } from '../../core/view/segment.ts';
import { type View, viewAt } from '../../core/view/view.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import type { Hypothesis } from './hypothesis.ts';
import { digestAt, type Place, pointOf, sessionRecord } from './place.ts';

/** A kept value to go on from, and what is left to fold. */
export interface SnapshotBase<Value> {
  readonly value: Value;
  /** Where it was kept. */
  readonly seq: Seq;
  readonly rest: View;
}

/**
 * What a snapshot at a place is kept under, as of now; undefined for a projection without a version. It is asked for
 * before anything is read: what an erasure takes away meanwhile must not come back under the key of later.
 */
export async function snapshotKey(
  engine: Engine,
  place: Pick<Place, 'session'>,
  projection: Pick<Projection<unknown>, 'name' | 'version'>,
): Promise<SnapshotKey | undefined> {
  if (projection.version === undefined) return undefined;
  const { erasures } = await sessionRecord(engine, place.session);
  return { projection: projection.name, version: projection.version, upcasts: upcastsVersion, erasures };
}

/** The nearest snapshot whose view the given one extends; undefined if there is none. */
export async function baseFor<Value, Result>(
  engine: Engine,
  hypothesis: Hypothesis,
  projection: Projection<Value, Result>,
  view: View,
  key: SnapshotKey,
): Promise<SnapshotBase<Value> | undefined> {
  const { place } = hypothesis;
  for (const { branch, through } of rawPieces(hypothesis.history, place.seq).reverse()) {
    const ref = { ...sessionRef(engine, place.session), branch };
    for (const found of await engine.store.snapshots(ref, key, through)) {
      const rest = restOf(view, viewOf(hypothesis, projection.history, found.seq));
      if (rest === undefined || found.digest !== (await digestAt(engine, { ...place, seq: found.seq }))) continue;
      const snapshot = await engine.store.snapshot(ref, key, found.seq);
      const value = snapshot === undefined ? undefined : valueIn(snapshot.value);
      if (value !== undefined) return { value: value as Value, seq: found.seq, rest };
    }
  }
  return undefined;
}

/** A snapshot that cannot be read is none: the log has all it was made of. */
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

/** The least that the data of an event takes: `{}`. */
const payloadBytesMin = 2;

/**
 * Decides which values of a fold are worth keeping: when the events since the last one weigh enough that all snapshots
 * together stay under a quarter of the log, whatever the size of the state.
 */
export class SnapshotKeeper<Value, Result> {
  readonly #engine: Engine;
  readonly #place: Place;
  readonly #projection: Projection<Value, Result>;
  readonly #key: SnapshotKey;
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
    { key, base }: { readonly key: SnapshotKey; readonly base: SnapshotBase<Value> | undefined },
  ) {
    this.#engine = engine;
    this.#place = place;
    this.#projection = projection;
    this.#key = key;
    this.#keptAt = base?.seq ?? beginning;
  }

  /** Counts one folded event; true when a snapshot may be due. */
  isDue(bytes: number): boolean {
    this.#events += 1;
    this.#bytes += bytes;
    return !this.#isTooLarge && this.#events >= this.#engine.snapshotEvents && this.#bytes >= this.#bytesDue;
  }

  /** Keeps the value after an event, if it is small enough and the event is the end of a view. */
  async offer(event: Event, value: Value): Promise<void> {
    const text = this.#textOf(value);
    this.#bytesDue = text.length * limits.snapshotBytesFactor;
    if (this.#bytes < this.#bytesDue) return;
    this.#events = 0;
    this.#bytes = 0;
    if (this.#isEndOfView(event)) await this.#put(event, text);
  }

  /**
   * Keeps the value of the place itself, if one is due or asked for: also of a view whose inside was edited. Events that
   * the projection does not fold count as well: without a value kept behind them, every look would pass over them again.
   */
  async offerEnd(value: Value, isAskedFor: boolean): Promise<void> {
    const passed = Math.max(this.#events, this.#place.seq - this.#keptAt);
    if (isAskedFor ? this.#events === 0 : passed < this.#engine.snapshotEvents || this.#isTooLarge) return;
    const text = this.#textOf(value);
    const bytes = this.#bytes + (passed - this.#events) * payloadBytesMin;
    if (!isAskedFor && bytes < text.length * limits.snapshotBytesFactor) return;
    await this.#put({ ...pointOf(this.#place), digest: await digestAt(this.#engine, this.#place) }, text);
  }

  /** Large values mostly grow: once one was too large to keep, the fold does not make text of another for nothing. */
  #textOf(value: Value): string {
    const text = valueText(this.#projection, value);
    this.#isTooLarge = text.length > limits.snapshotBytesMax;
    return text;
  }

  /** What is kept is derived: a store that cannot keep it, being locked or full, costs time later and nothing else. */
  async #put({ branch, seq, digest }: Pick<Event, 'branch' | 'seq' | 'digest'>, value: string): Promise<void> {
    if (utf8Length(value) > limits.snapshotBytesMax) return;
    this.#keptAt = seq;
    const { store } = this.#engine;
    try {
      await store.putSnapshot(sessionRef(this.#engine, this.#place.session), {
        ...this.#key,
        branch,
        seq,
        digest,
        value,
      });
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
    }
  }

  /** Inside a view whose order was edited, what is folded so far may be the view of no point. */
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
