import { checkFingerprint } from '../../core/comparing/fingerprint.ts';
import { RepriseError } from '../../core/error.ts';
import type { SnapshotKey } from '../../core/store/event-store.ts';
import { fingerprintProjection } from '../../projections/fingerprint.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { fingerprintThrough } from '../history/fingerprint.ts';
import { fingerprintValueName, keepValue, keptValue } from '../history/kept-value.ts';
import { digestAt, type Place, pointOf } from '../history/place.ts';
import { snapshotKey } from '../history/snapshot.ts';

/**
 * Returns the fingerprint at a place. The fingerprint of a long history is kept as a snapshot of one line, since the
 * fold's own value is too large to keep: the next look at that point reads it.
 */
export async function fingerprintAt(engine: Engine, place: Place): Promise<string> {
  const projection = fingerprintProjection(engine.platform.sha256);
  const ofFold = await snapshotKey(engine, place, projection);
  if (ofFold === undefined || place.seq < engine.snapshotEvents) return fingerprintThrough(engine, place);
  const key = { ...ofFold, projection: fingerprintValueName };
  const kept = await keptAt(engine, place, key);
  if (kept !== undefined) return kept;
  const value = await fingerprintThrough(engine, place);
  await keep(engine, place, key, value);
  return value;
}

async function keptAt(engine: Engine, place: Place, key: SnapshotKey): Promise<string | undefined> {
  const { branch, seq } = pointOf(place);
  const ref = { ...sessionRef(engine, place.session), branch };
  const value = await keptValue(engine, ref, key, { seq, digest: await digestAt(engine, place) });
  if (value === undefined) return undefined;
  try {
    return checkFingerprint(value);
  } catch {
    // An unreadable snapshot counts as none.
    return undefined;
  }
}

async function keep(engine: Engine, place: Place, key: SnapshotKey, value: string): Promise<void> {
  const digest = await digestAt(engine, place);
  try {
    await keepValue(engine, place.session, { ...key, ...pointOf(place), digest }, value);
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error;
  }
}
