import { given } from '../../core/json.ts';
import { checkLimit } from '../../core/limits.ts';
import type {
  BranchRef,
  EventStore,
  Platform,
  SessionRef,
  Snapshot,
  SnapshotKey,
} from '../../core/store/event-store.ts';
import { snapshotKeyOf } from '../../core/store/snapshot-key.ts';
import { openValue, sealValue } from '../../core/store/snapshot-seal.ts';
import type { Grant } from './grant.ts';

/** The methods of a store that keep and give snapshots. */
type SnapshotMethod = 'snapshots' | 'snapshot' | 'heldSnapshots' | 'putSnapshot';

/** The parts that guarding snapshots needs. */
interface SnapshotGuard {
  readonly platform: Platform;
  /** The names that the snapshots are kept under which the server makes itself. */
  readonly shipped: ReadonlySet<string>;
  /** Gets a place where a caller found a snapshot of a shipped projection worth keeping. */
  readonly keep: (ref: SessionRef, wanted: Omit<Snapshot, 'value'>) => void;
}

/** Keeps the snapshots of different tokens apart, and those of shipped projections out of the hands of callers. */
export function guardedSnapshots(
  { platform: { sha256 }, shipped, keep }: SnapshotGuard,
  { token }: Grant,
  allowed: (method: SnapshotMethod, ref: SessionRef) => EventStore,
): Pick<EventStore, SnapshotMethod> {
  const end = `@${token}`;
  const keyOf = (key: SnapshotKey): SnapshotKey =>
    shipped.has(key.projection) ? snapshotKeyOf(key) : { ...snapshotKeyOf(key), projection: key.projection + end };
  const shown = <Place extends SnapshotKey>(place: Place): Place =>
    place.projection.endsWith(end) ? { ...place, projection: place.projection.slice(0, -end.length) } : place;
  const isShown = ({ projection }: SnapshotKey): boolean => shipped.has(projection) || projection.endsWith(end);
  /** Seals a value for a different name; one that is not sealed stays as it is, and is never believed. */
  const sealed = (from: Snapshot, to: Snapshot): Snapshot => {
    const value = openValue(sha256, from);
    return value === undefined ? to : { ...to, value: sealValue(sha256, to, value) };
  };
  return {
    snapshots: async (ref, { keys, within }) => {
      checkLimit('selectedKeysMax', keys.length * within.length, 'look up snapshots');
      const found = await allowed('snapshots', ref).snapshots(ref, { keys: keys.map(keyOf), within });
      return found.map(({ value, ...place }) =>
        value === undefined ? shown(place) : sealed({ ...place, value }, { ...shown(place), value }),
      );
    },
    snapshot: async (ref, key, seq) => {
      const found = await allowed('snapshot', ref).snapshot(ref, keyOf(key), seq);
      return found === undefined ? undefined : sealed(found, shown(found));
    },
    heldSnapshots: async (ref, { limit, after }) => {
      const from = after === undefined ? undefined : { ...keyOf(after), seq: after.seq };
      return await visible(allowed('heldSnapshots', ref), ref, { limit, from, isShown }).then((held) =>
        held.map(shown),
      );
    },
    putSnapshot: async (ref, snapshot) => {
      const store = allowed('putSnapshot', ref);
      const { value: _, ...wanted } = snapshot;
      if (shipped.has(snapshot.projection)) keep(ref, wanted);
      else await store.putSnapshot(ref, sealed(snapshot, { ...snapshot, ...keyOf(snapshot) }));
    },
  };
}

/** Reads pages until enough snapshots are there that the caller may see, or none are left. */
async function visible(
  store: EventStore,
  ref: BranchRef,
  {
    limit,
    from,
    isShown,
  }: {
    readonly limit: number;
    readonly from: (SnapshotKey & Pick<Snapshot, 'seq'>) | undefined;
    readonly isShown: (key: SnapshotKey) => boolean;
  },
): Promise<Omit<Snapshot, 'value'>[]> {
  const found: Omit<Snapshot, 'value'>[] = [];
  let after = from;
  while (found.length < limit) {
    const page = await store.heldSnapshots(ref, { limit, ...given({ after }) });
    if (page.length === 0) break;
    found.push(...page.filter(isShown));
    after = page.at(-1);
  }
  return found.slice(0, limit);
}
