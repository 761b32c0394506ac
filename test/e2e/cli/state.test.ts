/** State from a shell, on the file that commands find by themselves. */
import { Place } from './run.ts';
import { stateCommands } from './state-cases.ts';

stateCommands({ newPlace: () => new Place(), isFile: true });
