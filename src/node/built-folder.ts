import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns a folder that `npm run build` makes: in the package beside the code, in the repository under `dist`. */
export function builtFolder(name: string): string {
  const code = fileURLToPath(new URL('..', import.meta.url));
  return /[\\/]src[\\/]$/.test(code) ? resolve(code, '../dist', name) : resolve(code, name);
}
