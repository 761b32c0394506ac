import type { FleetTable } from '../../core/fleet/fleet-table.ts';
import type { Digest, Seq } from '../../core/point.ts';

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
