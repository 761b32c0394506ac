import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ForeignFormat, ToolPlace } from '../core/recording/foreign-format.ts';

/** A folder in which a tool has kept sessions on this machine. */
export interface FoundPlace {
  readonly format: string;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** Returns the folder in which a tool keeps its sessions on this machine. */
export function placeFolder({ home, variable, below }: ToolPlace): string {
  const named = variable === undefined ? undefined : process.env[variable];
  const own = named === undefined || named === '' ? home.replace(/^~/, homedir()) : named;
  return join(own, below);
}

/** Looks where tools keep their sessions, and returns the folders that have some. */
export async function discover(formats: readonly ForeignFormat[]): Promise<readonly FoundPlace[]> {
  const found: FoundPlace[] = [];
  for (const format of formats)
    for (const place of format.places ?? []) {
      const folder = placeFolder(place);
      const { files, bytes } = await sizeOf(folder, place.ending);
      if (files > 0) found.push({ format: format.name, folder, files, bytes });
    }
  return found;
}

async function sizeOf(folder: string, ending: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const paths = names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.size ?? 0));
  return { files: paths.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
