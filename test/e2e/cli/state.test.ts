/** State from a shell, on the store that commands find by themselves. */
import { isOnServer, Place } from './run.ts';
import { stateCommands } from './state-cases.ts';

stateCommands({ newPlace: () => new Place(), isFile: !isOnServer });
