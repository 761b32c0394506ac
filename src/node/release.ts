import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownPackage } from './own-package.ts';

/** The version, which the build writes in; the source has none. */
declare const builtRelease: string | undefined;

/** Returns the version of this package. */
export function release(): string {
  if (typeof builtRelease === 'string') return builtRelease;
  const text = readFileSync(join(ownPackage(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
