import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, RepriseError } from '../core/error.ts';
import { checkId } from '../core/id.ts';
import { isObject, type JsonValue } from '../core/json.ts';
import { propertyOf } from '../core/property.ts';
import type { BundleSignature } from '../core/store/bundles.ts';
import { userFolder } from './user-folder.ts';

const prefix = 'ed25519:';
/** The bytes that come before the 32 bytes of an Ed25519 key in the public key form of X.509. */
const publicHead = Buffer.from('302a300506032b6570032100', 'hex');

/** A key that signs bundles. */
export interface SigningKey {
  /** The public key: `ed25519:` and its 32 bytes in base64url. */
  readonly key: string;
  /** Signs a string. */
  readonly sign: (text: string) => BundleSignature;
}

/** Returns where the signing key of this user is. */
export function signingKeyPath(): string {
  return join(folderOf(), 'signing-key.pem');
}

function folderOf(): string {
  const folder = userFolder();
  if (folder !== undefined) return folder;
  throw invalid('Cannot find the signing key: this user has no home', 'Name the file of a key.');
}

/**
 * Reads an Ed25519 private key in PEM form, with which bundles are signed; the one of this user if no path is given.
 *
 * @example
 * ```ts
 * const { key, sign } = makeSigningKey('signing-key.pem');
 * const again = readSigningKey('signing-key.pem');
 * console.log(again.key === key); // true: the public key, which others pin
 * await (await reprise.session('refund')).exportBundle({ to: 'refund.tgz', sign });
 * ```
 */
export function readSigningKey(path: string = signingKeyPath()): SigningKey {
  let text: string;
  try {
    const { mode } = statSync(path);
    // Windows has no such modes.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw invalid(`Cannot use the signing key ${JSON.stringify(path)}: others can read it`, `Run: chmod 600 ${path}`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof RepriseError) throw error;
    const isMissing = propertyOf(error, 'code') === 'ENOENT';
    throw invalid(
      `Cannot read the signing key ${JSON.stringify(path)}: ${isMissing ? 'there is no such file' : messageOf(error)}`,
      'Make one: reprise key new',
      error,
    );
  }
  return signingKeyOf(text, path);
}

function signingKeyOf(pem: string, path: string): SigningKey {
  let secret: KeyObject;
  try {
    secret = createPrivateKey(pem);
  } catch (error) {
    throw invalid(
      `Cannot use ${JSON.stringify(path)}: it is not a private key in PEM form`,
      'Make one: reprise key new',
      error,
    );
  }
  if (secret.asymmetricKeyType !== 'ed25519')
    throw invalid(`Cannot use ${JSON.stringify(path)}: it is not an Ed25519 key`, 'Make one: reprise key new');
  const key = publicText(createPublicKey(secret));
  return { key, sign: (text) => ({ key, signature: sign(null, Buffer.from(text), secret).toString('base64url') }) };
}

/**
 * Makes an Ed25519 key and writes it to a new file that only the user can read.
 *
 * @example
 * ```ts
 * const { key } = makeSigningKey('my-key.pem');
 * console.log(key.startsWith('ed25519:')); // true
 * ```
 */
export function makeSigningKey(path: string = signingKeyPath()): SigningKey {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, pem, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const isThere = propertyOf(error, 'code') === 'EEXIST';
    throw invalid(
      `Cannot make the signing key ${JSON.stringify(path)}: ${isThere ? 'there is one' : messageOf(error)}`,
      isThere ? 'Use it, or name a different file with --to.' : 'Name a file in a folder that can be written.',
      error,
    );
  }
  return signingKeyOf(pem, path);
}

function publicText(key: KeyObject): string {
  const bytes = key.export({ type: 'spki', format: 'der' });
  return prefix + bytes.subarray(publicHead.length).toString('base64url');
}

/** Takes text as a public key, or throws `signature.invalid`. */
export function checkPublicKey(text: string): string {
  const bytes = text.startsWith(prefix) ? Buffer.from(text.slice(prefix.length), 'base64url') : Buffer.alloc(0);
  if (bytes.length === 32 && prefix + bytes.toString('base64url') === text) return text;
  throw invalid(
    `Cannot use ${JSON.stringify(text)} as a key: it is not a public key`,
    'A public key is ed25519: and 43 letters, as "reprise key" prints it.',
  );
}

/** Returns true if the signature of a string is good. */
export function isSigned(text: string, { key, signature }: BundleSignature): boolean {
  try {
    const bytes = Buffer.from(checkPublicKey(key).slice(prefix.length), 'base64url');
    const own = createPublicKey({ key: Buffer.concat([publicHead, bytes]), format: 'der', type: 'spki' });
    return verify(null, Buffer.from(text), own, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

const pinnedPath = (): string => join(folderOf(), 'pinned-keys.json');

/** Returns the public keys that this user has pinned, by name. */
export function pinnedKeys(): Readonly<Record<string, string>> {
  const folder = userFolder();
  if (folder === undefined) return {};
  let value: JsonValue;
  try {
    value = JSON.parse(readFileSync(pinnedPath(), 'utf8')) as JsonValue;
  } catch (error) {
    if (propertyOf(error, 'code') === 'ENOENT') return {};
    throw invalid(
      `Cannot read the pinned keys in ${JSON.stringify(pinnedPath())}: ${messageOf(error)}`,
      'Mend or delete the file.',
      error,
    );
  }
  if (!isObject(value) || !Object.values(value).every((key) => typeof key === 'string'))
    throw invalid(
      `Cannot read the pinned keys in ${JSON.stringify(pinnedPath())}: it is not { name: key }`,
      'Mend or delete the file.',
    );
  return value as Readonly<Record<string, string>>;
}

/** Pins a public key under a name, or forgets the name if no key is given. */
export function pinKey(name: string, key: string | undefined): void {
  const { [checkId('key', name)]: _, ...others } = pinnedKeys();
  const keys = key === undefined ? others : { ...others, [name]: checkPublicKey(key) };
  const path = pinnedPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
}

function invalid(message: string, hint: string, cause?: unknown): RepriseError {
  return new RepriseError('signature.invalid', message, { hint, cause });
}
