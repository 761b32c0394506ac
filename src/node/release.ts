import { readFileSync } from 'node:fs';

/** Returns the version of this package; `package.json` is two folders up, both in `src` and in `dist`. */
export function release(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
