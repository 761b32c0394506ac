import type { SessionSize } from '../../core/store/session-size.ts';
import type { Reprise } from '../../engine/reprise.ts';

/** The space that a session takes, as `reprise du --json` prints it. */
export interface SpaceRow extends SessionSize {
  readonly namespace: string;
  readonly session: string;
  /** Bytes of its events, parts and snapshots together. */
  readonly bytes: number;
}

/** The space of all sessions as one object. */
export interface SpaceAnswer {
  /** Bytes of the whole store, with its indexes and logs. */
  readonly storeBytes: number;
  readonly sessions: readonly SpaceRow[];
}

/** Measures every session of a namespace, or of all, the largest first. */
export async function spaceUsed(
  reprise: Reprise,
  { allNamespaces }: { readonly allNamespaces: boolean },
): Promise<readonly SpaceRow[]> {
  const rows: SpaceRow[] = [];
  for await (const { namespace, session } of reprise.sessions({ allNamespaces })) {
    const size = await reprise.namespace(namespace).sessionSize(session);
    // A session may go away while others are measured.
    if (size === undefined) continue;
    rows.push({ namespace, session, ...size, bytes: size.eventBytes + size.partBytes + size.snapshotBytes });
  }
  return rows.toSorted((left, right) => right.bytes - left.bytes || (left.session < right.session ? -1 : 1));
}
