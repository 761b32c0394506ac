import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Real files may lie beside this checkout, or beside the folder that holds it. */
const places = ['../../../shared/samples', '../../../../shared/samples'];

/** Returns the path of a real file in a foreign format; undefined if there is none on this machine. */
export function samplePath(name: string): string | undefined {
  return places.map((place) => join(import.meta.dirname, place, name)).find((path) => existsSync(path));
}
