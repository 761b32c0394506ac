import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../core/canonical-json.ts';
import { RepriseError } from '../core/error.ts';
import { checkSettings, type Settings } from '../core/recording/settings.ts';
import { projectFolders } from './repository.ts';
import { checkTrusted } from './trust.ts';

/** Settings and the file they are in. */
export interface LoadedSettings {
  readonly file: string;
  /** The folder of the project, at which a path in the settings begins. */
  readonly folder: string;
  readonly settings: Settings;
}

/** The name of the settings file, in the folder of a project. */
export const settingsName: string = join('.reprise', 'settings.json');

const settingsBytesMax = 1_048_576;

/**
 * Reads the nearest `.reprise/settings.json` on the way up to the root of the git repository; undefined if there is
 * none. Settings are data, so reading them runs nothing; settings of a different user are refused, since they choose
 * where recordings go.
 */
export function nearestSettings(from: string = process.cwd()): LoadedSettings | undefined {
  for (const folder of projectFolders(from)) {
    const file = join(folder, settingsName);
    const held = statSync(file, { throwIfNoEntry: false });
    if (held === undefined) continue;
    checkTrusted(file);
    if (!held.isFile() || held.size > settingsBytesMax)
      throw unreadable(file, `it is not a file of at most ${settingsBytesMax} bytes`);
    return { file, folder, settings: checkSettings(parsed(file), file) };
  }
  return undefined;
}

function parsed(file: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(readFileSync(file, 'utf8'));
  } catch (error) {
    throw unreadable(file, error instanceof Error ? error.message : String(error), error);
  }
}

function unreadable(file: string, why: string, cause?: unknown): RepriseError {
  return new RepriseError('config.invalid', `Cannot read ${JSON.stringify(file)}: ${why}`, {
    hint: 'Write JSON: { "store": "sqlite:PATH", "namespace": "NAME" }',
    details: { file },
    cause,
  });
}
