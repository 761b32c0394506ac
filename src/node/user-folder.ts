import { homedir } from 'node:os';
import { join } from 'node:path';

/** Returns the folder of Reprise's files of this user; undefined if the user has no home. */
export function userFolder(): string | undefined {
  const folder = process.env['XDG_CONFIG_HOME'] ?? process.env['APPDATA'] ?? '';
  if (folder !== '') return join(folder, 'reprise');
  try {
    return join(homedir(), '.config', 'reprise');
  } catch {
    return undefined;
  }
}
