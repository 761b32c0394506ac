import type { Fingerprint, FingerprintState } from '../../core/comparing/fingerprint.ts';
import { finishValue } from '../../core/event/projection.ts';
import { restOf } from '../../core/view/segment.ts';
import { viewAt } from '../../core/view/view.ts';
import { fingerprintProjection } from '../../projections/fingerprint.ts';
import type { Engine } from '../context/engine.ts';
import type { RunningFingerprint } from '../context/running-fingerprint.ts';
import { valueAt } from './fold.ts';
import type { Pace } from './fold-pass.ts';
import { digestAt, type Place, sessionRecord } from './place.ts';
import type { SnapshotBase } from './snapshot.ts';

/**
 * Returns the fingerprint at a place. It goes on from where this process last folded the branch, so that the end of a run
 * reads what the run added, however long the history is.
 */
export async function fingerprintThrough(engine: Engine, place: Place): Promise<Fingerprint> {
  const { session, record } = place;
  const name = `${engine.namespace}\n${session}\n${record.branch}`;
  // One at a time: a fold changes the value that it goes on from.
  return engine.transactions.inTurn(`fingerprint\n${name}`, () => goOn(engine, place, name));
}

/** Each event is written as text and hashed, and the value has a name for each. */
const pace: Pace = { pageEvents: 250, snapshotBytesMax: 524_288 };

async function goOn(engine: Engine, place: Place, name: string): Promise<Fingerprint> {
  const { erasures } = await sessionRecord(engine, place.session);
  const running = engine.fingerprints.get(name);
  const base = running?.erasures === erasures ? await baseIn(engine, place, running) : undefined;
  // A fold that fails leaves a value that nobody may use.
  if (base !== undefined) engine.fingerprints.delete(name);
  const projection = fingerprintProjection(engine.platform.sha256);
  const value = await valueAt(engine, place, projection, { base, pace });
  if (running === undefined || base !== undefined || running.seq < place.seq)
    engine.fingerprints.set(name, { seq: place.seq, digest: await digestAt(engine, place), value, erasures });
  return finishValue(projection, value);
}

/** Returns the running fold as a base, if the view at the place extends that of the fold. */
async function baseIn(
  engine: Engine,
  place: Place,
  { seq, digest, value }: RunningFingerprint,
): Promise<SnapshotBase<FingerprintState> | undefined> {
  if (seq > place.seq || digest !== (await digestAt(engine, { ...place, seq }))) return undefined;
  const rest = restOf(viewAt(place.history, place.seq), viewAt(place.history, seq));
  // The running fold has no text, so the size of an earlier one defers no snapshot.
  return rest === undefined ? undefined : { value, seq, length: 0, rest };
}
