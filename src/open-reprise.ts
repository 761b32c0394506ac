import { resolve } from 'node:path';
import { RepriseError } from './core/error.ts';
import { given } from './core/json.ts';
import { checkKeys, type KnownKeys, optionKeys, shownValue } from './core/known-keys.ts';
import { checkMasking, type MaskingOptions } from './core/masking/masking-options.ts';
import { propertyOf } from './core/property.ts';
import { type Config, checkConfig } from './core/recording/config.ts';
import { checkPrices, knownPrices, type PriceTable } from './core/recording/prices.ts';
import type { AgentKeeper } from './core/store/agent-port.ts';
import type { EventStore, Platform } from './core/store/event-store.ts';
import type { Reprise } from './engine/reprise.ts';
import { createReprise } from './engine/reprise-parts.ts';
import { createBundles } from './node/bundle-files.ts';
import { loadConfigFile } from './node/config-file.ts';
import { createForeignFiles } from './node/foreign-files.ts';
import { maskKey } from './node/mask-key.ts';
import { createNodePlatform } from './node/platform.ts';
import { checkShown, loadProject, type Project, settingOf } from './node/project.ts';
import { release } from './node/release.ts';
import { chooseStore, type StoreLocation } from './node/store-location.ts';
import { openBundleStore, openScratch } from './open-bundle.ts';
import { loadFormats, openOwnStore } from './open-own-store.ts';

/** How to open Reprise. */
export interface OpenOptions {
  /**
   * A store URL (`sqlite:PATH`, `postgres://…`, `https://…`, `bundle:PATH`, `memory:`), or a store of your own. If it is left
   * out: `REPRISE_STORE`, else what `.reprise/settings.json` or the configuration says, else `.reprise/reprise.db`.
   */
  readonly store?: string | EventStore;
  /** The namespace to work in; that of the project where the store is not given, else `default`. */
  readonly namespace?: string;
  /**
   * A configuration, or the path of its file. If it is left out, the project's settings and its `reprise.config.ts`,
   * unless a store is given; `false` looks for none. A file that is found and belongs to a different user is refused with
   * `config.untrusted`; a file that is named is run.
   */
  readonly config?: Config | string | false;
  /** Prices of models for whatever is recorded, before those of the configuration and the known ones. */
  readonly prices?: PriceTable;
  /** The masking rules of recordings, instead of those of the configuration; `false` masks nothing. */
  readonly masking?: MaskingOptions | false;
  /** The token for a server; `REPRISE_TOKEN` if it is left out. */
  readonly token?: string;
  /** `disk` (the default) survives power loss; `process` survives the death of the process only, and is faster. */
  readonly durability?: 'disk' | 'process';
  /** Opens for reading only. */
  readonly readOnly?: boolean;
  /** Whether a store that does not exist yet is made; true unless it is opened for reading only. */
  readonly create?: boolean;
  /**
   * How long to wait for another process that has locked the file, or for a server that is gone: 10,000 if left out, 0
   * to try once. Waiting never blocks the event loop.
   */
  readonly busyWaitMs?: number;
  /** Clock, ids, hashing and salts: for tests that need the same history twice. */
  readonly platform?: Platform;
}

const openKeys: KnownKeys = optionKeys<OpenOptions>(
  'open Reprise',
  {
    store: true,
    namespace: 'text',
    config: true,
    prices: 'object',
    masking: true,
    token: 'text',
    durability: 'text',
    readOnly: 'flag',
    create: 'flag',
    busyWaitMs: 'number',
    platform: 'object',
  },
  'openReprise',
);

/**
 * Opens a store: what `reprise.config.ts` names or `.reprise/reprise.db` of this project if nothing is said, a URL, or
 * options. Recorders mask secrets that have a known form, even without a configuration.
 *
 * @example
 * ```ts
 * await using reprise = await openReprise();
 * const session = await reprise.session('incident-42', { create: true });
 * await session.append({ type: 'note.added', data: { text: 'It began at noon' } });
 * ```
 */
export function openReprise(options: string | OpenOptions = {}): Promise<Reprise> {
  return openWith(options, {});
}

/** More that our own commands and tests say about a store. */
interface OpenMore {
  /** Events since the last snapshot before the next one is worth keeping; 256 if left out. */
  readonly snapshotEvents?: number;
  /** Called with the number of events of each page that was read: to show how far something long is. */
  readonly onRead?: (events: number) => void;
}

/** Opens a store as `openReprise` does, and says more of how it is read. */
export async function openWith(options: string | OpenOptions, { snapshotEvents, onRead }: OpenMore): Promise<Reprise> {
  const opened: OpenOptions = typeof options === 'string' ? { store: options } : options;
  checkKeys(opened, openKeys);
  checkStore(opened.store);
  const platform = opened.platform ?? createNodePlatform();
  const project = await projectFor(opened);
  // A namespace is a wall inside a store: that of the project says nothing about another one.
  const namespace = opened.namespace ?? (opened.store === undefined ? settingOf(project, 'namespace') : undefined);
  const store: EventStore & AgentKeeper =
    typeof opened.store === 'object'
      ? opened.store
      : await openStore(chooseStore(opened.store, project).location, platform, { ...opened, ...given({ namespace }) });
  return createReprise({
    store,
    platform,
    formats: project.config?.config.formats ?? [],
    loadFormats,
    files: createForeignFiles(),
    bundles: createBundles(openScratch),
    recording: recordingOf(opened, project),
    ...given({ namespace, snapshotEvents, onRead, agentPort: 'agentPort' in store ? store.agentPort : undefined }),
  });
}

/** Refuses a store that is neither a URL nor an object with the methods of a store. */
function checkStore(store: unknown): void {
  if (store === undefined || typeof store === 'string' || typeof propertyOf(store, 'close') === 'function') return;
  throw new RepriseError('option.invalid', `Cannot open Reprise: "store" is ${shownValue(store)}`, {
    hint: 'Write a URL: sqlite:PATH, postgres://…, https://…, bundle:PATH or memory:. Or pass a store that you opened.',
    details: { key: 'store' },
  });
}

/** Returns the project in effect. A caller that names a store gets none: the URL says everything. */
async function projectFor({ config, store }: OpenOptions): Promise<Project> {
  if (config === false) return {};
  if (typeof config === 'string') return { config: await loadConfigFile(config) };
  if (config !== undefined)
    return { config: { file: resolve('reprise.config.ts'), config: checkConfig(config, 'config') } };
  if (store !== undefined) return {};
  const project = await loadProject();
  checkShown(project);
  return project;
}

/** Returns the prices and the masking of whatever is recorded. */
export function recordingOf(
  opened: Pick<OpenOptions, 'masking' | 'prices'>,
  project: Project,
): NonNullable<Parameters<typeof createReprise>[0]['recording']> {
  const masking = opened.masking ?? settingOf(project, 'masking') ?? {};
  const prices = { ...knownPrices, ...project.config?.config.prices, ...checkPrices(opened.prices ?? {}) };
  return masking === false ? { prices } : { prices, masking: checkMasking(masking), maskKey };
}

/** Opens the store of a location, on this machine or on a server. */
export async function openStore(
  location: StoreLocation,
  platform: Platform,
  options: OpenOptions,
): Promise<EventStore & AgentKeeper> {
  if (location.kind === 'server') return await openServer(location.url, platform, options);
  if (location.kind === 'bundle')
    return await openBundleStore(location.path, { platform, namespace: options.namespace ?? 'default' });
  return await openOwnStore(location, platform, options);
}

async function openServer(url: string, platform: Platform, options: OpenOptions): Promise<EventStore & AgentKeeper> {
  const { durability, readOnly, busyWaitMs } = options;
  if (durability !== undefined)
    throw new RepriseError('option.invalid', 'Cannot use "durability" with a server: the server decides it', {
      hint: 'Leave it out; "reprise serve" has the option.',
    });
  const token = options.token ?? process.env['REPRISE_TOKEN'];
  const { openRemoteStore } = await import('./client/open-remote-store.ts');
  return await openRemoteStore({ url, platform, release: release(), ...given({ token, readOnly, busyWaitMs }) });
}
