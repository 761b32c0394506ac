import type { Projection } from './projection.ts';

type Named = Pick<Projection<unknown>, 'name'>;

/** The projections that Reprise ships, as objects: anyone may give their own projection the name of a shipped one. */
const shipped = new WeakSet<Named>();

/** Marks a projection as one that Reprise ships, and returns it. A copy of it with a different fold is not marked. */
export function shippedProjection<Shipped extends Named>(projection: Shipped): Shipped {
  shipped.add(projection);
  return projection;
}

/** Returns whether a projection is one that Reprise ships. */
export function isShipped(projection: Named): boolean {
  return shipped.has(projection);
}

const own = 'own:';

/** Returns the name that snapshots of a projection are kept under: no shipped one shares it with one of the caller's own. */
export function keptName(projection: Named): string {
  return isShipped(projection) ? projection.name : `${own}${projection.name}`;
}

/** Returns the name of the projection whose snapshots are kept under a name. */
export function nameOfKept(kept: string): string {
  return kept.startsWith(own) ? kept.slice(own.length) : kept;
}
