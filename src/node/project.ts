import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { messageOf, RepriseError } from '../core/error.ts';
import { given, type JsonObject } from '../core/json.ts';
import type { Config } from '../core/recording/config.ts';
import {
  checkSame,
  mayName,
  type SettingField,
  type Settings,
  settingFields,
  settingsOf,
} from '../core/recording/settings.ts';
import { withoutPassword } from '../core/store/store-url.ts';
import { findConfigFile, type LoadedConfig, loadConfigFile } from './config-file.ts';
import { type LoadedSettings, nearestSettings, settingsName } from './settings-file.ts';
import { checkTrusted } from './trust.ts';

/** The files that speak for a project. */
export interface Project {
  readonly settings?: LoadedSettings;
  /** The configuration, if it was run. */
  readonly config?: LoadedConfig;
  /** A configuration that was found and not run. */
  readonly unread?: string;
}

/** Reads the settings of the nearest project, and runs nothing. */
export function readProject(from?: string): Project {
  return given({ settings: nearestSettings(from), unread: findConfigFile(from) });
}

/**
 * Runs the configuration of the nearest project, in addition to its settings. Throws `config.untrusted`, and runs
 * nothing, if a different user could have written it.
 */
export async function loadProject(from?: string): Promise<Project> {
  const { settings, unread: file } = readProject(from);
  if (file === undefined) return given({ settings });
  checkTrusted(file);
  const config = await loadConfigFile(file);
  if (settings !== undefined) checkSame(config.config, settings.settings, { file, settingsFile: settings.file });
  return { config, ...given({ settings }) };
}

/** Refuses a field that only running the file shows: commands that do not run it would go to a different store. */
export function checkShown({ config, settings }: Project): void {
  if (config === undefined) return;
  const hidden = settingFields.find(
    (field) =>
      config.config[field] !== undefined && settings?.settings[field] === undefined && !fileMayName(config.file, field),
  );
  if (hidden === undefined) return;
  throw new RepriseError(
    'config.invalid',
    `Cannot use "${hidden}" of ${JSON.stringify(config.file)}: its text does not show it, so commands that do not run it would not know`,
    { hint: saveHint, details: { file: config.file, field: hidden } },
  );
}

const saveHint = `Write it into ${settingsName}, which every command reads: reprise config --save`;

/**
 * Returns what a project says about a field; undefined if it says nothing. Throws `config.not-run` if only its
 * configuration may say it, and that was not run.
 */
export function settingOf<Field extends SettingField>(project: Project, field: Field): Settings[Field] {
  const { settings, config, unread } = project;
  const held: Config = { ...config?.config, ...settings?.settings };
  if (held[field] !== undefined || unread === undefined || !fileMayName(unread, field)) return held[field];
  checkTrusted(unread);
  throw new RepriseError(
    'config.not-run',
    `Cannot tell the ${field}: ${JSON.stringify(unread)} may name it, and this command does not run that file`,
    { hint: saveHint, details: { file: unread, field } },
  );
}

/** Returns true if a project has a configuration that was not run and whose text may set a field. */
export function mayHold({ unread }: Project, field: keyof Config): boolean {
  return unread !== undefined && fileMayName(unread, field);
}

/** Returns true if the text of a configuration may set a field. */
function fileMayName(file: string, field: keyof Config): boolean {
  return statSync(file).isFile() && mayName(readFileSync(file, 'utf8'), field);
}

/** Writes what data can express of a configuration into the settings of its project; fields that are there stay. */
export function saveSettings(
  { file: configFile, config }: LoadedConfig,
  held: LoadedSettings | undefined,
): { readonly file: string; readonly settings: JsonObject } {
  const folder = held?.folder ?? dirname(configFile);
  const file = join(folder, settingsName);
  if (config.store !== undefined && withoutPassword(config.store) !== config.store) refusePassword(configFile);
  const store = config.store === undefined ? undefined : movedUrl(config.store, dirname(configFile), folder);
  const settings = settingsOf({ ...config, ...given({ store }), ...held?.settings });
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`);
  } catch (error) {
    throw new RepriseError('store.failed', `Cannot write ${JSON.stringify(file)}: ${messageOf(error)}`, {
      hint: 'Write the settings by hand, or make the folder writable.',
      details: { file },
      cause: error,
    });
  }
  return { file, settings };
}

/** Refuses to write a password into a file that belongs into the repository. */
function refusePassword(file: string): never {
  throw new RepriseError(
    'config.invalid',
    `Cannot save "store" of ${JSON.stringify(file)}: it has a password, and settings belong into the repository`,
    { hint: 'Leave the store out of the file and set REPRISE_STORE.', details: { file, field: 'store' } },
  );
}

/** Returns a store URL whose path begins at a different folder. */
function movedUrl(url: string, from: string, to: string): string {
  const path = /^sqlite:(?!\/)(.+)$/s.exec(url)?.[1];
  return path === undefined || from === to ? url : `sqlite:${relative(to, resolve(from, path))}`;
}
