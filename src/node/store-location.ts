import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';
import { refuseDifferent } from '../core/recording/settings.ts';
import { withoutPassword } from '../core/store/store-url.ts';
import { type Project, settingOf } from './project.ts';
import { projectFolders } from './repository.ts';
import { checkTrusted } from './trust.ts';

/** The location of a store, as a store URL gives it. */
export type StoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'bundle'; readonly path: string };

const defaultFile: string = join('.reprise', 'reprise.db');

/**
 * Reads a store URL: `sqlite:PATH`, `postgres://…`, `https://…`, `bundle:PATH`, `memory:`. Without one it takes
 * `REPRISE_STORE`, else the nearest `.reprise/reprise.db` on the way up to the root of the git repository, else a new
 * one there. Outside a repository it looks only in the folder itself.
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
  if (url.startsWith('bundle:') && url !== 'bundle:')
    return { kind: 'bundle', path: resolve(from, url.slice('bundle:'.length)) };
  if (/^postgres(ql)?:\/\//.test(url)) return { kind: 'postgres', url };
  if (/^https?:\/\//.test(url)) return { kind: 'server', url };
  const shown = withoutPassword(url);
  throw new RepriseError('store.unsupported', `Cannot open a store at ${JSON.stringify(shown)}`, {
    hint: `${meant(url)}Use sqlite:PATH, postgres://…, https://…, bundle:PATH or memory:, or leave it out for .reprise/reprise.db.`,
    details: { url: shown },
  });
}

/** Suggests a file URL for a path alone, or for a scheme that is almost right. */
function meant(url: string): string {
  const path = /^(?:sqlit\w{0,2}:|file:)?(?:\/\/(?=\/))?([^:]+)$/i.exec(url)?.[1];
  return path === undefined ? '' : `Did you mean ${JSON.stringify(`sqlite:${path}`)}? `;
}

/** The origin of a store location. */
export type StoreChoice = 'given' | 'environment' | 'settings' | 'config' | 'default';

/** A store, and what chose it. */
export interface ChosenStore {
  readonly location: StoreLocation;
  readonly by: StoreChoice;
}

/** Picks the store: the given one, else `REPRISE_STORE`, else that of the project, else the default. */
export function chooseStore(named: string | undefined, project: Project): ChosenStore {
  if (named !== undefined && named !== '') return { location: storeLocation(named), by: 'given' };
  const environment = process.env['REPRISE_STORE'] ?? '';
  if (environment !== '') return { location: storeLocation(environment), by: 'environment' };
  const { settings, config } = project;
  const url = settingOf(project, 'store');
  if (url === undefined) return { location: storeLocation(''), by: 'default' };
  const ofConfig =
    config?.config.store === undefined
      ? undefined
      : fieldLocation(config.file, dirname(config.file), config.config.store);
  if (settings?.settings.store === undefined) return { location: ofConfig ?? storeLocation(url), by: 'config' };
  const location = fieldLocation(settings.file, settings.folder, settings.settings.store);
  if (config !== undefined && ofConfig !== undefined && absoluteUrl(ofConfig) !== absoluteUrl(location))
    refuseDifferent({ file: config.file, settingsFile: settings.file }, 'store');
  return { location, by: 'settings' };
}

/** Reads the store URL of a file of the project; its error names the file and the field. */
function fieldLocation(file: string, folder: string, url: string): StoreLocation {
  try {
    return storeLocation(url, folder);
  } catch (error) {
    const { message, hint } = error instanceof RepriseError ? error : { message: String(error), hint: undefined };
    const why = message.replace(/^Cannot open/, 'no store can be opened');
    throw new RepriseError('config.invalid', `Cannot use "store" of ${JSON.stringify(file)}: ${why}`, {
      ...given({ hint }),
      details: { file, field: 'store' },
      cause: error,
    });
  }
}

/** Finds the store file: the nearest one of the project, else a new one at its root. */
function nearestStore(from: string): string {
  const paths = projectFolders(from).map((folder) => join(folder, defaultFile));
  const path = paths.find((held) => existsSync(held)) ?? paths.at(-1) ?? join(from, defaultFile);
  // In a folder above, a repository that a different user made would choose where recordings go.
  if (path !== paths[0]) checkTrusted(path);
  return path;
}

/** Returns a store URL that means the same in any folder, for child processes. */
export function absoluteUrl(location: StoreLocation): string {
  if (location.kind === 'postgres' || location.kind === 'server') return location.url;
  return location.kind === 'memory' ? 'memory:' : `${location.kind}:${location.path}`;
}

/** Returns a store URL without its password. */
export function shownUrl(location: StoreLocation): string {
  return withoutPassword(absoluteUrl(location));
}
