import type { Fingerprint } from '../../core/comparing/fingerprint.ts';
import { finishValue } from '../../core/event/projection.ts';
import { fingerprintProjection } from '../../projections/fingerprint.ts';
import type { Engine } from '../context/engine.ts';
import { valueAt } from './fold.ts';
import type { Pace } from './fold-pass.ts';
import { followedFold, followedName, followTo } from './follow.ts';
import { type Place, sessionRecord } from './place.ts';

/**
 * Returns the fingerprint at a place. It continues from where this process last folded the branch, so that the end of a
 * run reads what the run added, however long the history is.
 */
export async function fingerprintThrough(engine: Engine, place: Place): Promise<Fingerprint> {
  const { session, record } = place;
  const folds = engine.fingerprints;
  const projection = fingerprintProjection(engine.platform.sha256);
  // One at a time: a fold changes the value that it continues from.
  return folds.lanes.inTurn(followedName(engine, { session, branch: record.branch }), async () => {
    const of = await sessionRecord(engine, session);
    const followed = await followTo(engine, followedFold(folds, projection, pace), place, of);
    const value = followed === 'ahead' ? await valueAt(engine, place, projection, { pace, of }) : followed.value;
    return finishValue(projection, value);
  });
}

/** Each event is written as text and hashed, and the value has a name for each. */
const pace: Pace = { pageEvents: 250, snapshotBytesMax: 524_288 };
