import { AsyncLocalStorage } from 'node:async_hooks';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Compression } from '@connectrpc/connect/protocol';
import { compressionGzip } from '@connectrpc/connect-node';
import type { CountedBytes } from './body-budget.ts';

/** Messages that are unpacked at once: each may grow to the largest size before it can be counted. */
const unpackedAtOnce = 2;

/** The bytes of the request whose call runs; the framework does not say for which one it unpacks. */
const current = new AsyncLocalStorage<CountedBytes>();

/** Runs a call; messages that it unpacks count as bytes of its request. */
export function countingUnpacked<Answer>(bytes: CountedBytes, call: () => Answer): Answer {
  return current.run(bytes, call);
}

/** The compression of messages, which counts the bytes that they unpack to. */
export const countedGzip: Compression = {
  ...compressionGzip,
  decompress: async (packed, bytesMax) =>
    await counted(current.getStore(), () => compressionGzip.decompress(packed, bytesMax)),
};

const unpackBytes = promisify(gunzip);

/** Unpacks a body, and counts what it unpacks to. */
export async function unpacked(packed: Uint8Array, bytesMax: number, bytes: CountedBytes): Promise<Uint8Array> {
  return await counted(bytes, async () => await unpackBytes(packed, { maxOutputLength: bytesMax }));
}

let running = 0;
const waiting: (() => void)[] = [];

async function counted<Bytes extends Uint8Array>(
  bytes: CountedBytes | undefined,
  unpack: () => Promise<Bytes>,
): Promise<Bytes> {
  if (running >= unpackedAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    const found = await unpack();
    bytes?.take(found.byteLength);
    return found;
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
