import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf, RepriseError } from '../core/error.ts';
import { propertyOf } from '../core/property.ts';

/** Writes a folder of text files; see `FolderWriter`. */
export async function writeFolder(
  path: string,
  files: ReadonlyMap<string, string>,
  { replace }: { readonly replace: boolean },
): Promise<void> {
  const target = resolve(path);
  const held = await filesIn(target).catch((error: unknown) => fail(path, error));
  if (held !== undefined && isSame(held, files)) return;
  if (held !== undefined && !replace)
    throw new RepriseError('folder.exists', `Cannot write to "${path}": it exists and has other content`, {
      hint: 'Choose a new folder, or replace this one (replace: true, --replace).',
      details: { path },
    });
  // Both are next to the target, so that a rename does not cross file systems.
  const name = `${basename(target)}.${randomBytes(6).toString('hex')}`;
  const [fresh, old] = [join(dirname(target), `.${name}.new`), join(dirname(target), `.${name}.old`)];
  try {
    await mkdir(fresh, { recursive: true });
    for (const [file, text] of files) await writeDurably(join(fresh, file), text);
    await syncFolder(fresh);
    if (held !== undefined) await rename(target, old);
    await rename(fresh, target).catch(async (error: unknown) => {
      if (held !== undefined) await rename(old, target);
      throw error;
    });
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(fresh, { recursive: true, force: true }).catch(() => undefined);
    fail(path, error);
  }
  await rm(old, { recursive: true, force: true });
}

function fail(path: string, error: unknown): never {
  throw new RepriseError('folder.failed', `Cannot write to "${path}": ${messageOf(error)}`, {
    hint: 'Make room or choose a folder that can be written, and export again. An earlier export is as it was.',
    details: { path },
    cause: error,
  });
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx');
  await file.writeFile(text);
  await file.sync();
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}

/** Reads every file of a folder as text; undefined if there is no folder. */
export async function filesIn(path: string): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const names = (await readdir(path, { withFileTypes: true })).map((entry) => entry.name);
    const texts = await Promise.all(names.map(async (name) => [name, await textIn(join(path, name))] as const));
    return new Map(texts);
  } catch (error) {
    if (propertyOf(error, 'code') === 'ENOENT') return undefined;
    throw error;
  }
}

/** Reads a file as text; a folder, a pipe and bytes that are not UTF-8 become a string that no export has. */
async function textIn(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isFile()) return '\uFFFE';
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch {
    return '\uFFFE';
  }
}

function isSame(held: ReadonlyMap<string, string>, files: ReadonlyMap<string, string>): boolean {
  return held.size === files.size && [...files].every(([name, text]) => held.get(name) === text);
}
