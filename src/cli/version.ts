import { readFileSync } from 'node:fs';

/** The version of this package; `package.json` is two folders up from the source and from what is built. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
