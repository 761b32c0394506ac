import { readFileSync } from 'node:fs';

/** The version of this package. */
export function version(): string {
  for (const place of ['../../package.json', '../package.json']) {
    try {
      const found = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { name?: string; version?: string };
      if (found.name === 'reprise' && found.version !== undefined) return found.version;
    } catch {
      // From source and from dist the file is equally far away, but a bundle may have moved it.
    }
  }
  return 'unknown';
}
