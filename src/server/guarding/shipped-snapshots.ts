import { keptName } from '../../core/event/kept-name.ts';
import type { Projection } from '../../core/event/projection.ts';
import type { EventStore, Platform, SessionRef, Snapshot } from '../../core/store/event-store.ts';
import { keepAt } from '../../engine/history/fold.ts';
import { placeAt } from '../../engine/history/place.ts';
import { createEngine } from '../../engine/reprise-parts.ts';
import { innerProjections, shippedProjections } from '../../reading/shipped-projections.ts';

/** The snapshots that a server makes itself, since a caller could lie about them. */
export interface ShippedSnapshots {
  /** The names that they are kept under. */
  readonly names: ReadonlySet<string>;
  /** Makes a snapshot where a caller found one worth keeping, in the background. */
  readonly keep: (ref: SessionRef, wanted: Omit<Snapshot, 'value'>) => void;
  /** Waits for the work in the background. */
  readonly settled: () => Promise<void>;
}

/** Returns the snapshots of the projections that Reprise ships. */
export function shippedSnapshots(store: EventStore, platform: Platform): ShippedSnapshots {
  const shipped = new Map<string, Projection<unknown, unknown>>(
    [...shippedProjections(platform.sha256).map(({ projection }) => projection), ...innerProjections].map(
      (projection) => [keptName(projection), projection],
    ),
  );
  const engine = createEngine({ store, platform });
  return {
    names: new Set(shipped.keys()),
    settled: () => engine.chores.settled(),
    keep: ({ namespace, session }, { projection: name, version, branch, seq }) => {
      const projection = shipped.get(name);
      // A caller of a different release folds in a different way.
      if (projection === undefined || projection.version !== version) return;
      engine.chores.add(`${namespace}\n${session}\n${branch}\n${name}`, async () => {
        const own = { ...engine, namespace };
        await keepAt(own, await placeAt(own, session, branch, { kind: 'seq', seq }), projection);
      });
    },
  };
}
