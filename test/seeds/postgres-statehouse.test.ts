/** The catalogue of a state engine that stands in for Statehouse, on a server. */
import { newPlace } from '../postgres/place.ts';
import { stateCatalogue } from './statehouse-catalogue.ts';
import { statePromises } from './statehouse-promises.ts';

const world = { kind: 'PostgreSQL', newPlace, isKept: true };
stateCatalogue(world);
statePromises(world);
