import type { Digest, Seq } from '../../core/point.ts';
import type { BranchRef, Snapshot, SnapshotKey } from '../../core/store/event-store.ts';
import { openValue, sealValue } from '../../core/store/snapshot-seal.ts';
import { type Engine, sessionRef } from '../context/engine.ts';

/** The name that finished fingerprints are kept under: the value of their fold is too large to keep. */
export const fingerprintValueName = 'fingerprint value';

/** Keeps a value of a projection as a snapshot, with its checksum. */
export async function keepValue(
  engine: Engine,
  session: string,
  place: Omit<Snapshot, 'value'>,
  value: string,
): Promise<void> {
  const { store, platform } = engine;
  await store.putSnapshot(sessionRef(engine, session), { ...place, value: sealValue(platform.sha256, place, value) });
}

/** Returns the value kept at a point; undefined if there is none, or if it does not match its checksum or its point. */
export async function keptValue(
  { store, platform }: Engine,
  ref: BranchRef,
  key: SnapshotKey,
  point: { readonly seq: Seq; readonly digest: Digest },
): Promise<string | undefined> {
  const snapshot = await store.snapshot(ref, key, point.seq);
  return snapshot === undefined || snapshot.digest !== point.digest ? undefined : openValue(platform.sha256, snapshot);
}
