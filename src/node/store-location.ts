import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import { withoutPassword } from '../core/store/store-url.ts';
import type { LoadedConfig } from './config-file.ts';

/** The location of a store, as a store URL gives it. */
export type StoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'server'; readonly url: string };

const defaultFile: string = join('.reprise', 'reprise.db');

/**
 * Reads a store URL: `sqlite:PATH`, `postgres://…`, `https://…`, `memory:`. Without one it takes `REPRISE_STORE`, else the nearest
 * `.reprise/reprise.db` on the way up to the root of the git repository, else a new one there.
 */
export function storeLocation(
  url: string | undefined = process.env['REPRISE_STORE'],
  from: string = process.cwd(),
): StoreLocation {
  if (url === undefined || url === '') return { kind: 'sqlite', path: nearestStore(from) };
  if (url === 'memory:') return { kind: 'memory' };
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
    if (path !== '') return { kind: 'sqlite', path: isAbsolute(path) ? path : resolve(from, path) };
  }
  if (/^postgres(ql)?:\/\//.test(url)) return { kind: 'postgres', url };
  if (/^https?:\/\//.test(url)) return { kind: 'server', url };
  const shown = withoutPassword(url);
  throw new RepriseError('store.unsupported', `Cannot open a store at ${JSON.stringify(shown)}`, {
    hint: `${meant(url)}Use sqlite:PATH, postgres://…, https://… or memory:, or leave it out for .reprise/reprise.db.`,
    details: { url: shown },
  });
}

/** Suggests a file URL for a path alone, or for a scheme that is almost right. */
function meant(url: string): string {
  const path = /^(?:sqlit\w{0,2}:|file:)?(?:\/\/(?=\/))?([^:]+)$/i.exec(url)?.[1];
  return path === undefined ? '' : `Did you mean ${JSON.stringify(`sqlite:${path}`)}? `;
}

/** The origin of a store location. */
export type StoreChoice = 'given' | 'environment' | 'config' | 'default';

/** Picks the store: the given one, else `REPRISE_STORE`, else that of the configuration, else the default. */
export function chooseStore(
  named: string | undefined,
  loaded: LoadedConfig | undefined,
): { readonly location: StoreLocation; readonly by: StoreChoice } {
  if (named !== undefined && named !== '') return { location: storeLocation(named), by: 'given' };
  const environment = process.env['REPRISE_STORE'] ?? '';
  if (environment !== '') return { location: storeLocation(environment), by: 'environment' };
  const url = loaded?.config.store;
  if (loaded === undefined || url === undefined) return { location: storeLocation(''), by: 'default' };
  try {
    return { location: storeLocation(url, dirname(loaded.file)), by: 'config' };
  } catch (error) {
    const { message, hint } = error instanceof RepriseError ? error : { message: String(error), hint: undefined };
    const why = message.replace(/^Cannot open/, 'no store can be opened');
    throw new RepriseError('config.invalid', `Cannot use "store" of ${JSON.stringify(loaded.file)}: ${why}`, {
      ...given({ hint }),
      details: { file: loaded.file, field: 'store' },
      cause: error,
    });
  }
}

function nearestStore(from: string): string {
  let directory = resolve(from);
  for (;;) {
    const path = join(directory, defaultFile);
    if (existsSync(path)) return path;
    if (existsSync(join(directory, '.git'))) return path;
    const parent = dirname(directory);
    if (parent === directory) return join(resolve(from), defaultFile);
    directory = parent;
  }
}

/** Returns a store URL that means the same in any folder, for child processes. */
export function absoluteUrl(location: StoreLocation): string {
  if (location.kind === 'postgres' || location.kind === 'server') return location.url;
  return location.kind === 'memory' ? 'memory:' : `sqlite:${location.path}`;
}

/** Returns a store URL without its password. */
export function shownUrl(location: StoreLocation): string {
  return withoutPassword(absoluteUrl(location));
}
