import { lstatSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { RepriseError } from '../core/error.ts';
import { repositoryRoot } from './repository.ts';
import { userFolder } from './user-folder.ts';

/**
 * Throws `config.untrusted` unless a file of a project may decide what this program does: it, the folders from it up to
 * the project's root, and the `.git` there must belong to this user or to the administrator, as git has it. A folder
 * that the user trusts is not asked about.
 */
export function checkTrusted(file: string): void {
  const users = trustedUsers();
  if (users === undefined) return;
  const root = projectRoot(dirname(file));
  const foreign = placesOf(file, root).find((path) => !isOwned(path, users));
  if (foreign === undefined || isTrustedFolder(root, users)) return;
  throw new RepriseError(
    'config.untrusted',
    `Cannot use ${JSON.stringify(file)}: ${JSON.stringify(foreign)} belongs to a different user`,
    {
      hint: `If you trust everyone who can write there, run: reprise config --trust ${JSON.stringify(root)}`,
      details: { file, foreign, folder: root },
    },
  );
}

/** Returns the root of the project that a folder is in: the root of its git repository, else the folder itself. */
function projectRoot(folder: string): string {
  return repositoryRoot(folder) ?? resolve(folder);
}

/** Returns the ids of the users whose files may decide; undefined on a system that has none. */
function trustedUsers(): ReadonlySet<number> | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined;
  // An administrator who uses sudo works in the folders of a personal account.
  const invoker = own === 0 ? Number(process.env['SUDO_UID'] ?? '') : 0;
  return new Set([own, 0, ...(Number.isSafeInteger(invoker) ? [invoker] : [])]);
}

/** Returns the places that someone else could have made: the file, the folders up to the root, and its `.git`. */
function placesOf(file: string, root: string): string[] {
  const places = [file];
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    places.push(folder);
    if (folder === root || dirname(folder) === folder) return [...places, join(root, '.git')];
  }
}

/** Returns true if one of these users owns a place, both a link and its target; a missing place has no owner. */
function isOwned(path: string, users: ReadonlySet<number>): boolean {
  const held = [lstatSync, statSync].map((read) => read(path, { throwIfNoEntry: false })?.uid);
  return held.every((uid) => uid === undefined || users.has(uid));
}

/** Adds the project of a folder to those that the user trusts, and returns its root. */
export function trustFolder(folder: string): { readonly folder: string; readonly listedIn: string } {
  const root = realPath(projectRoot(folder));
  const path = trustFile();
  if (path === undefined)
    throw new RepriseError('config.untrusted', `Cannot trust ${JSON.stringify(root)}: this user has no home`, {
      hint: 'Set XDG_CONFIG_HOME to a folder of this user.',
      details: { folder: root },
    });
  const known = trustedFolders(path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!known.includes(root)) writeFileSync(path, `${JSON.stringify([...known, root], null, 2)}\n`, { mode: 0o600 });
  return { folder: root, listedIn: path };
}

function isTrustedFolder(root: string, users: ReadonlySet<number>): boolean {
  const path = trustFile();
  return path !== undefined && isOwned(path, users) && trustedFolders(path).includes(realPath(root));
}

function trustFile(): string | undefined {
  const folder = userFolder();
  return folder === undefined ? undefined : join(folder, 'trusted.json');
}

/** Returns the folders in the user's list; a list that cannot be read trusts nothing. */
function trustedFolders(path: string): readonly unknown[] {
  try {
    const held: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(held) ? held : [];
  } catch {
    return [];
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
