import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createGunzip } from 'node:zlib';
import { messageOf, RepriseError } from '../core/error.ts';
import { checkLimit } from '../core/limits.ts';
import { propertyOf } from '../core/property.ts';
import type { BundleEntry, BundleFile, Bundles, BundleWriter } from '../core/store/bundles.ts';
import { bundleNames, damagedBundle } from '../engine/bundling/bundle-manifest.ts';
import { isSigned } from './signing-key.ts';
import { tarEnd, tarEntries, tarHeader, tarPadding } from './tar.ts';

/** Returns the files of bundles on this machine; the store to lay them out in is passed in. */
export function createBundles(openScratch: Bundles['openScratch']): Bundles {
  return { isBundle, read, write, openScratch, isSigned, createDigest };
}

function createDigest(): ReturnType<Bundles['createDigest']> {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    digest: () => hash.copy().digest('hex'),
  };
}

async function isBundle(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isDirectory()) {
    const names: readonly string[] = await readdir(path).catch(() => []);
    return names.includes(bundleNames.manifest) && names.includes(bundleNames.history);
  }
  return found.isFile() && (await firstBytes(path, 2)).toString('hex') === '1f8b';
}

async function firstBytes(path: string, count: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(count), position: 0 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function* read(path: string): AsyncGenerator<BundleEntry, void, undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined)
    throw new RepriseError('store.not-found', `Cannot read the bundle ${JSON.stringify(path)}: there is no such file`, {
      hint: 'Name a folder or a .tgz file that "reprise export REF --to" wrote.',
      details: { path },
    });
  if (found.isDirectory()) yield* folderEntries(path);
  else yield* archiveEntries(path);
}

const order: readonly string[] = [
  bundleNames.manifest,
  bundleNames.signature,
  bundleNames.history,
  bundleNames.receipts,
  bundleNames.projections,
];

async function* folderEntries(path: string): AsyncGenerator<BundleEntry, void, undefined> {
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const names = (await readdir(path)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  for (const name of names) {
    // A link may lead anywhere.
    if (!(await lstat(join(path, name))).isFile())
      throw damagedBundle(`${JSON.stringify(name)} is not a plain file`, { file: name });
    yield { name, chunks: plainFile(join(path, name), name) };
  }
}

async function* plainFile(path: string, name: string): AsyncGenerator<Uint8Array> {
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
    const file = await open(path, flags);
    yield* file.createReadStream({ highWaterMark: 1_048_576 });
  } catch (error) {
    throw damagedBundle(`${name} cannot be read: ${messageOf(error)}`, { file: name }, error);
  }
}

async function* archiveEntries(path: string): AsyncGenerator<BundleEntry, void, undefined> {
  const input = createReadStream(path, { highWaterMark: 1_048_576 });
  const unpacked = createGunzip({ chunkSize: 262_144 });
  input.on('error', (error) => unpacked.destroy(error));
  input.pipe(unpacked);
  try {
    yield* tarEntries(readable(unpacked));
    if (unpacked.bytesWritten < (await stat(path)).size)
      throw damagedBundle('something follows the end of the archive');
  } finally {
    input.destroy();
    unpacked.destroy();
  }
}

/** Passes bytes on; an error says that the archive is damaged. */
async function* readable(unpacked: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* unpacked;
  } catch (error) {
    const isCut = propertyOf(error, 'code') === 'Z_BUF_ERROR';
    const why = isCut ? 'the archive is cut off' : `the archive cannot be unpacked: ${messageOf(error)}`;
    throw damagedBundle(why, {}, error);
  }
}

async function write(path: string): Promise<BundleWriter> {
  if ((await lstat(path).catch(() => undefined)) !== undefined)
    throw new RepriseError('export.invalid', `Cannot write the bundle ${JSON.stringify(path)}: something is there`, {
      hint: 'Choose a new path, or move it out of the way: nothing is overwritten.',
      details: { path },
    });
  const draft = `${resolve(path)}.writing-${randomBytes(6).toString('hex')}`;
  await failing(path, async () => {
    await mkdir(dirname(draft), { recursive: true });
    await mkdir(draft);
  });
  return {
    file: (name, texts) => failing(path, () => writeFile(draft, name, texts)),
    finish: (names) =>
      failing(path, () => (path.endsWith('.tgz') ? pack(draft, path, names) : place(draft, path, names))),
    discard: () => rm(draft, { recursive: true, force: true }),
  };
}

/** Says in an error what could not be written. */
async function failing<Value>(path: string, body: () => Promise<Value>): Promise<Value> {
  try {
    return await body();
  } catch (error) {
    const isPath = propertyOf(error, 'code') === 'ERR_INVALID_ARG_VALUE';
    if (error instanceof RepriseError || (propertyOf(error, 'syscall') === undefined && !isPath)) throw error;
    const isFull = propertyOf(error, 'code') === 'ENOSPC';
    throw new RepriseError(
      isFull ? 'store.full' : 'store.failed',
      `Cannot write the bundle ${JSON.stringify(path)}: ${isFull ? 'the disk is full' : messageOf(error)}`,
      {
        hint: isFull ? 'Free some space, or choose a different disk.' : 'Choose a folder that can be written.',
        cause: error,
      },
    );
  }
}

/** Characters that are written at once. */
const pieceLength = 262_144;

async function writeFile(folder: string, name: string, texts: AsyncIterable<string>): Promise<BundleFile> {
  const file = await open(join(folder, name), 'w');
  const hash = createHash('sha256');
  let bytes = 0;
  let held: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const piece = Buffer.from(held.join(''));
    [held, length] = [[], 0];
    hash.update(piece);
    bytes += piece.length;
    checkLimit('bundleBytesMax', bytes, `write ${name}`);
    await file.writeFile(piece);
  };
  try {
    for await (const text of texts) {
      held.push(text);
      length += text.length;
      if (length >= pieceLength) await flush();
    }
    await flush();
    await file.sync();
  } finally {
    await file.close();
  }
  if (name === bundleNames.manifest) checkLimit('bundleManifestBytesMax', bytes, `write ${name}`);
  return { name, bytes, sha256: hash.digest('hex') };
}

async function place(draft: string, path: string, names: readonly string[]): Promise<number> {
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(draft, name))).size));
  await rename(draft, path);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Packs the files into an archive. Its bytes follow from theirs: no times, no users, and one compressor everywhere. */
async function pack(draft: string, path: string, names: readonly string[]): Promise<number> {
  const { Gzip } = await import('fflate');
  const packed = join(draft, 'packed');
  const output = createWriteStream(packed, { flags: 'wx', flush: true });
  const failed = new Promise<never>((_, reject) => output.once('error', reject));
  failed.catch(() => undefined);
  const ready: Uint8Array[] = [];
  const archive = new Gzip({ level: 6, mtime: 0 }, (piece) => ready.push(piece));
  const push = async (bytes: Uint8Array, isLast = false): Promise<void> => {
    archive.push(bytes, isLast);
    for (const piece of ready.splice(0)) if (!output.write(piece)) await Promise.race([drained(output), failed]);
  };
  for (const name of names) {
    const { size } = await stat(join(draft, name));
    await push(tarHeader(name, size));
    // The size of the pieces decides where the compressor cuts its blocks.
    for await (const piece of createReadStream(join(draft, name), { highWaterMark: 65_536 })) await push(piece);
    await push(tarPadding(size));
  }
  await push(tarEnd, true);
  await Promise.race([ended(output), failed]);
  await link(packed, path);
  return (await stat(path)).size;
}

const drained = (output: WriteStream): Promise<void> => new Promise((done) => output.once('drain', done));
const ended = (output: WriteStream): Promise<void> => new Promise((done) => output.end(done));
