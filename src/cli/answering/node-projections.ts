import { createNodePlatform } from '../../node/platform.ts';
import {
  type NamedProjection,
  projectionNamed as namedProjection,
  shippedProjections,
} from '../../reading/shipped-projections.ts';

/** Lists the projections that can be named on the command line. */
export const shipped = (): readonly NamedProjection[] => shippedProjections(createNodePlatform().sha256);

/** Finds a projection that was named on the command line. */
export const projectionNamed = (name: string): NamedProjection => namedProjection(name, createNodePlatform().sha256);
