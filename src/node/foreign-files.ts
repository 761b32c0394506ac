import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FileReading, ForeignFiles } from '../core/recording/foreign-files.ts';

/** How often a follower looks whether a file has grown. */
const followMs = 200;

/** Returns the files of this machine, for imports. */
export function createForeignFiles(): ForeignFiles {
  return {
    read,
    head,
    kindOf,
    list,
    createDigest: () => {
      const hash = createHash('sha256');
      return {
        update: (bytes) => {
          hash.update(bytes);
        },
        digest: () => hash.copy().digest('hex'),
      };
    },
  };
}

async function* read(path: string, { follow = false, signal }: FileReading = {}): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (;;) {
    for await (const chunk of createReadStream(path, { start: at, highWaterMark: await pieceBytes(path) })) {
      const bytes = chunk as Uint8Array;
      at += bytes.length;
      yield bytes;
      if (signal?.aborted === true) return;
    }
    if (!follow) return;
    yield new Uint8Array();
    for (let isSame = true; isSame; isSame = (await stat(path)).size <= at) {
      if (signal?.aborted === true) return;
      await wait(followMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Returns how much of a file to read at once: a large buffer for each of many small files would be all garbage. */
async function pieceBytes(path: string): Promise<number> {
  const { size } = await stat(path);
  return Math.min(1_048_576, Math.max(16_384, size));
}

async function head(path: string, bytes: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(bytes), position: 0 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isDirectory()) return 'folder';
  return found.isFile() ? 'file' : 'other';
}

async function* list(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* list(path);
    // A link may lead anywhere, even back up.
    else if (entry.isFile()) yield path;
  }
}
