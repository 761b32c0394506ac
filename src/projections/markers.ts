import { structuralTypes } from '../core/event/families/structural.ts';
import { shippedProjection } from '../core/event/kept-name.ts';
import type { Projection } from '../core/event/projection.ts';
import { type Marker, markerOf } from '../core/view/marker.ts';

/** The structural events of a history, which decide its views. */
export interface Markers {
  /** By rising seq. Those of erasures do not say what they erased: a view does not depend on it. */
  readonly markers: readonly Marker[];
}

/** The structural events that lead to a point, in order. */
export const markers: Projection<{ readonly markers: Marker[] }, Markers> = shippedProjection({
  name: 'markers',
  version: '1',
  history: 'raw',
  types: Object.keys(structuralTypes),
  initial: () => ({ markers: [] }),
  apply: (value, { branch, seq, type, data }) => {
    const marker = markerOf({ branch, seq, type, data });
    value.markers.push(marker.kind === 'erased' ? { ...marker, seqs: [], parts: [] } : marker);
    return value;
  },
});
