import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RepriseError } from '../core/error.ts';
import { propertyOf } from '../core/property.ts';
import { userFolder } from './user-folder.ts';

/** Where the key of masks comes from. */
export type MaskKeySource =
  | { readonly kind: 'environment' }
  | { readonly kind: 'file'; readonly path: string }
  /** There is no place for a file: every process has its own key. */
  | { readonly kind: 'process' };

const keyName = 'REPRISE_MASK_KEY';
const keyBytes = 32;
const keyUnitsMin = 16;

let ofProcess: string | undefined;

/**
 * Returns the key of masks: `REPRISE_MASK_KEY`, else the content of a file that only the user can read, which is made
 * if it is missing. Where no file can be made, the key lasts as long as the process.
 */
export function maskKey(): string {
  const given = process.env[keyName] ?? '';
  if (given !== '') return checkKey(given, keyName, 'Set it to at least 32 random characters.');
  const path = maskKeyPath();
  if (path === undefined) return processKey();
  return readKey(path) ?? makeKey(path) ?? processKey();
}

/** Returns where the key of masks comes from, without reading or making it. */
export function maskKeySource(): MaskKeySource {
  if ((process.env[keyName] ?? '') !== '') return { kind: 'environment' };
  const path = maskKeyPath();
  return path === undefined ? { kind: 'process' } : { kind: 'file', path };
}

function processKey(): string {
  ofProcess ??= randomBytes(keyBytes).toString('base64url');
  return ofProcess;
}

/** Returns the path of the key file; undefined if the user has no home. */
function maskKeyPath(): string | undefined {
  const folder = userFolder();
  return folder === undefined ? undefined : join(folder, 'mask-key');
}

function readKey(path: string): string | undefined {
  const hint = `Run: chmod 600 ${path}. Or set ${keyName}.`;
  try {
    const { mode } = statSync(path);
    // Windows has no such modes.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw refusal(path, `others can read it (its mode is ${(mode & 0o777).toString(8)})`, hint);
    return checkKey(readFileSync(path, 'utf8').trim(), path, `Delete it, and a new one is made; or set ${keyName}.`);
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    const code = propertyOf(error, 'code');
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw refusal(path, error instanceof Error ? error.message : String(error), `Or set ${keyName}.`, error);
  }
}

/** Makes a key file, whole or not at all; of several processes that do so at once, all use the first one's. */
function makeKey(path: string): string | undefined {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${randomBytes(keyBytes).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch {
    // The home of the user may be read-only, as in many containers.
    return undefined;
  }
  try {
    linkSync(draft, path);
  } catch (error) {
    if (propertyOf(error, 'code') !== 'EEXIST') return undefined;
  } finally {
    rmSync(draft, { force: true });
  }
  return readKey(path);
}

function checkKey(key: string, where: string, hint: string): string {
  if (key.length >= keyUnitsMin) return key;
  throw refusal(where, `it has ${key.length} characters, and could be guessed`, hint);
}

function refusal(where: string, why: string, hint: string, cause?: unknown): RepriseError {
  return new RepriseError('mask.key-invalid', `Cannot use the mask key in ${where}: ${why}`, {
    hint,
    details: { where },
    cause,
  });
}
