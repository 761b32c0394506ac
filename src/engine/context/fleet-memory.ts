import { BoundedMap } from '../../core/bounded-map.ts';
import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import type { Digest, Seq } from '../../core/point.ts';
import { Lanes } from './lanes.ts';

/** The fleet of a branch as this process read it last, so that the next question reads only what came since. */
export interface FleetMemory {
  readonly table: FleetTable;
  /** The last event it includes. */
  seq: Seq;
  digest: Digest;
  /** The beginning of the session: one that was deleted and created again has a different one. */
  readonly genesis: Digest;
  /** The session's count of erasures when it was read: it may hold text that was erased since. */
  readonly erasures: number;
}

/** Branches whose fleets a process remembers; one that is forgotten is folded again. */
const fleetsMax = 32;

/**
 * The fleets of the branches that a process looks at or commits to, by namespace, session and branch. Engines that share
 * a store may share them, since each asks the store about the branch before it uses one.
 */
export class FleetMemories extends BoundedMap<string, FleetMemory> {
  /** Engines that read a fleet further do it one after the other: side by side they would add the same events twice. */
  readonly lanes: Lanes = new Lanes();

  constructor() {
    super(fleetsMax);
  }
}
