import type { Seq } from '../../core/point.ts';
import type { BranchState } from '../../core/store/branch-state.ts';
import { type Marker, storedMarker } from '../../core/view/marker.ts';
import { Heads } from './appending/heads.ts';
import type { BranchRow } from './branch-row.ts';
import type { Queries } from './connection.ts';
import type { SessionKey, SessionRow } from './session-row.ts';

/** Markers in the cache at most, all branches together. */
const markersHeldMax = 200_000;
const branchesHeldMax = 10_000;

/**
 * A cache of the markers of branches. Events never change, so it stays valid as long as the server is the same; the row
 * of a branch shows whether there are more markers.
 */
export class Catalogue {
  readonly heads: Heads = new Heads();
  readonly #markers = new Map<string, { readonly through: Seq; readonly markers: readonly Marker[] }>();
  #held = 0;

  /** Returns every marker that leads to a branch's head: its own, and its ancestors' up to the fork points. */
  async markersOf(queries: Queries, session: SessionKey, branch: BranchRow): Promise<readonly Marker[]> {
    const place = `${session.id}/${branch.id}`;
    const known = this.#markers.get(place);
    if (known !== undefined && known.through >= branch.lastMarker)
      return known.through > branch.head ? known.markers.filter(({ seq }) => seq <= branch.head) : known.markers;
    const markers =
      known === undefined
        ? await this.#load(queries, session, branch)
        : [...known.markers, ...(await this.#loadAfter(queries, session, branch, known.through))];
    this.remember(session, branch.id, branch.lastMarker, markers);
    return markers;
  }

  /** Caches the markers that lead to a seq of a branch. Callers do so only after the commit. */
  remember(session: SessionKey, branchId: number, through: Seq, markers: readonly Marker[]): void {
    const place = `${session.id}/${branchId}`;
    this.#held += markers.length - (this.#markers.get(place)?.markers.length ?? 0);
    if (this.#markers.size >= branchesHeldMax || this.#held > markersHeldMax) {
      this.#markers.clear();
      this.#held = markers.length;
    }
    this.#markers.set(place, { through, markers });
  }

  /** Forgets everything: a standby that took over may lack events of the server before it. */
  forget(): void {
    this.heads.forget();
    this.#markers.clear();
    this.#held = 0;
  }

  /** Returns the state at the head of a branch. */
  async stateOf(queries: Queries, session: SessionRow, branch: BranchRow): Promise<BranchState> {
    const markers = await this.markersOf(queries, session, branch);
    const { name, head, digest, epoch, turn } = branch;
    return { branch: name, history: { root: session.root, markers, head }, digest, epoch, turn };
  }

  async #load(queries: Queries, { namespaceId, id }: SessionKey, branch: BranchRow): Promise<Marker[]> {
    const rows = await queries.all<MarkerColumns>(lineMarkersSql, namespaceId, id, branch.id, branch.head);
    return rows.map(markerIn);
  }

  async #loadAfter(
    queries: Queries,
    { namespaceId, id }: SessionKey,
    branch: BranchRow,
    after: Seq,
  ): Promise<Marker[]> {
    const rows = await queries.all<MarkerColumns>(
      `SELECT $5::text, seq, type, data FROM events
       WHERE namespace_id = $1 AND session_id = $2 AND branch_id = $3 AND marker AND seq > $4 AND seq <= $6 ORDER BY seq`,
      namespaceId,
      id,
      branch.id,
      after,
      branch.name,
      branch.head,
    );
    return rows.map(markerIn);
  }
}

type MarkerColumns = readonly [branch: string, seq: Seq, type: string, data: string];

function markerIn([branch, seq, type, data]: MarkerColumns): Marker {
  return storedMarker({ branch, seq, type, data });
}

/** The markers of a branch and its ancestors, each ancestor up to where the next one was forked. */
const lineMarkersSql = `
WITH RECURSIVE line (id, name, parent_id, parent_seq, through) AS (
  SELECT id, name, parent_id, parent_seq, $4::bigint FROM branches WHERE namespace_id = $1 AND session_id = $2 AND id = $3
  UNION ALL
  SELECT b.id, b.name, b.parent_id, b.parent_seq, line.parent_seq FROM line
  JOIN branches b ON b.namespace_id = $1 AND b.session_id = $2 AND b.id = line.parent_id
)
SELECT line.name, e.seq, e.type, e.data FROM line
JOIN events e ON e.namespace_id = $1 AND e.session_id = $2 AND e.branch_id = line.id AND e.marker AND e.seq <= line.through
ORDER BY e.seq`;
