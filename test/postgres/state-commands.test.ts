/** State from a shell, on a server. */
import { Place } from '../e2e/cli/run.ts';
import { stateCommands } from '../e2e/cli/state-cases.ts';
import { newPlace } from './place.ts';

stateCommands({ newPlace: () => new Place(undefined, newPlace()), isFile: false });
