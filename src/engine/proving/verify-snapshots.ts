import { keptName, nameOfKept } from '../../core/event/kept-name.ts';
import { defineProjection, finishValue, type Projection, valueText } from '../../core/event/projection.ts';
import { upcastsVersion } from '../../core/event/upcast.ts';
import { given } from '../../core/json.ts';
import { limits } from '../../core/limits.ts';
import type { BranchSummary, SessionRecord, Snapshot } from '../../core/store/event-store.ts';
import type { DerivedFault, FaultList } from '../../core/store/reindex-request.ts';
import { snapshotKeyOf } from '../../core/store/snapshot-key.ts';
import { isSealed, openValue } from '../../core/store/snapshot-seal.ts';
import { activity } from '../../projections/activity.ts';
import { coding, openWork } from '../../projections/coding.ts';
import { conversation } from '../../projections/conversation.ts';
import { eventIndex } from '../../projections/event-index.ts';
import { fingerprintProjection } from '../../projections/fingerprint.ts';
import { graphState } from '../../projections/graph-state.ts';
import { markers } from '../../projections/markers.ts';
import { metadata } from '../../projections/metadata.ts';
import { runs } from '../../projections/runs.ts';
import { simulated } from '../../projections/simulated.ts';
import { state } from '../../projections/state.ts';
import { summary } from '../../projections/summary.ts';
import { waiting } from '../../projections/waiting.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { provenValue } from '../history/fold.ts';
import { fingerprintValueName } from '../history/kept-value.ts';
import { digestAt, type Place, placeAtHead } from '../history/place.ts';

/** Any projection, whatever its value is. */
export type AnyProjection = Projection<unknown, unknown>;

/** A projection whose snapshots are compared: its fold, and the text of a value. */
interface Compared {
  readonly projection: AnyProjection;
  readonly textOf: (value: unknown) => string;
}

/** Compares every snapshot that a reader may use with what the log gives. */
export class SnapshotCheck {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #compared: ReadonlyMap<string, Compared>;
  readonly #faults: FaultList;
  /** Snapshots that the log gives as well: the next fold may continue from them, so that nothing is folded twice. */
  readonly #proved = new Set<string>();
  /** Projections that this check does not know, so that it has checked only the checksums of their snapshots. */
  readonly unknown: Set<string> = new Set();

  readonly #erasures: number;

  constructor(engine: Engine, record: SessionRecord, own: readonly AnyProjection[], faults: FaultList) {
    this.#engine = engine;
    this.#session = record.session;
    this.#erasures = record.erasures;
    this.#faults = faults;
    this.#compared = comparedBy(engine, own);
  }

  /** Checks the snapshots of one branch. */
  async branch({ branch }: BranchSummary): Promise<void> {
    const ref = { ...sessionRef(this.#engine, this.#session), branch };
    let place: Place | undefined;
    let after: Omit<Snapshot, 'value'> | undefined;
    do {
      const page = await this.#engine.store.heldSnapshots(ref, { limit: limits.pageEventsMax, ...given({ after }) });
      for (const held of page) {
        if (!this.#isUsed(held)) continue;
        // The branch may have grown since.
        if (place === undefined || place.seq < held.seq) place = await placeAtHead(this.#engine, this.#session, branch);
        const snapshot = await this.#engine.store.snapshot(ref, held, held.seq);
        if (snapshot !== undefined && isSealed(snapshot)) await this.#snapshot(snapshot, place);
      }
      after = page.at(-1);
    } while (after !== undefined);
  }

  /** Returns true if readers use a snapshot: not one of an earlier version, upcast or erasure. */
  #isUsed({ projection, version, upcasts, erasures }: Omit<Snapshot, 'value'>): boolean {
    const current = this.#compared.get(projection)?.projection.version ?? version;
    return version === current && upcasts === upcastsVersion && erasures === this.#erasures;
  }

  async #snapshot(snapshot: Snapshot, head: Place): Promise<void> {
    if (snapshot.seq > head.seq) return this.#fault(snapshot, 'is kept after the head');
    const place = { ...head, seq: snapshot.seq };
    if (snapshot.digest !== (await digestAt(this.#engine, place)))
      return this.#fault(snapshot, 'is of a different point');
    const text = openValue(this.#engine.platform.sha256, snapshot);
    if (text === undefined) return this.#fault(snapshot, 'does not match its checksum');
    const compared = this.#compared.get(snapshot.projection);
    if (compared === undefined) {
      this.unknown.add(nameOfKept(snapshot.projection));
      return;
    }
    const { projection, textOf } = compared;
    const key = { ...snapshotKeyOf(snapshot), projection: keptName(projection) };
    const believes = (found: Omit<Snapshot, 'value'>): boolean => this.#proved.has(nameOf(found));
    const value = await provenValue(this.#engine, place, projection, { key, believes });
    if (textOf(value) !== text) return this.#fault(snapshot, 'is not what the log gives');
    this.#proved.add(nameOf(snapshot));
  }

  #fault({ projection, branch, seq }: Omit<Snapshot, 'value'>, what: string): void {
    const message = `the snapshot of "${nameOfKept(projection)}" at seq ${seq} of "${branch}" ${what}`;
    this.#faults.add({ kind: 'snapshot', branch, seq, message } satisfies DerivedFault);
  }
}

const nameOf = ({ projection, branch, seq }: Omit<Snapshot, 'value'>): string => `${projection}\n${branch}\n${seq}`;

/** Returns the projections that snapshots are kept of, by the name that they are kept under. */
function comparedBy({ platform }: Engine, own: readonly AnyProjection[]): ReadonlyMap<string, Compared> {
  for (const projection of own) defineProjection(projection);
  const fingerprint = fingerprintProjection(platform.sha256) as AnyProjection;
  const about = [simulated, metadata, markers, eventIndex, activity];
  const shipped = [
    conversation,
    runs,
    state,
    coding,
    openWork,
    graphState,
    summary,
    waiting,
    ...about,
  ] as readonly AnyProjection[];
  const folds = [...own, ...shipped, fingerprint].map((projection): [string, Compared] => [
    keptName(projection),
    { projection, textOf: (value) => valueText(projection, value) },
  ]);
  const value = { projection: fingerprint, textOf: (held: unknown) => String(finishValue(fingerprint, held)) };
  return new Map([...folds, [fingerprintValueName, value]]);
}
