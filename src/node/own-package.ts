import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the folder of this package, wherever in it this code lies: a bundler decides that. */
export function ownPackage(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; dirname(folder) !== folder; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) return folder;
  return here;
}

/** Returns the folder of all code of this package: `dist` if it was built, `src` in the repository. */
export function ownCode(): string {
  return join(ownPackage(), import.meta.url.endsWith('.ts') ? 'src' : 'dist');
}

/** Returns the file of the command line. */
export function ownProgram(): string {
  return join(ownCode(), import.meta.url.endsWith('.ts') ? 'cli/bin.ts' : 'cli/bin.js');
}

/** Returns a folder that `npm run build` makes. */
export function builtFolder(name: string): string {
  return join(ownPackage(), 'dist', name);
}
