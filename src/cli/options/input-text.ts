import { closeSync, openSync, readSync } from 'node:fs';
import { RepriseError } from '../../core/error.ts';
import { checkLimit, limits } from '../../core/limits.ts';

const chunkBytes = 65_536;
const pauseMs = 20;

/**
 * Reads the text of a file; `-` is stdin, which may be a terminal or a slow pipe. Bytes that are not UTF-8 are refused
 * instead of replaced, and input that is too large to store is refused while it is read.
 */
export function inputText(file: string): string {
  const held = file === '-' ? 0 : openSync(file, 'r');
  try {
    return decoded(bytesOf(held), file);
  } finally {
    if (held !== 0) closeSync(held);
  }
}

function bytesOf(held: number): Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = Buffer.alloc(chunkBytes);
    const count = readSome(held, chunk);
    if (count === 0) return Buffer.concat(chunks);
    bytes += count;
    checkLimit('payloadBytesMax', bytes, 'read the input');
    chunks.push(chunk.subarray(0, count));
  }
}

/** Reads what is available. A terminal or a non-blocking pipe answers EAGAIN instead of waiting, so wait here. */
function readSome(held: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(held, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}

function decoded(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const where = file === '-' ? 'stdin' : JSON.stringify(file);
    throw new RepriseError('json.not-json', `Cannot read ${where}: it is not UTF-8`, {
      hint: `Save it as UTF-8 text of at most ${limits.payloadBytesMax} bytes.`,
      cause: error,
    });
  }
}
