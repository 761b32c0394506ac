import { RepriseError } from '../core/error.ts';
import { given } from '../core/json.ts';

const blockBytes = 512;

/** Returns the header of a plain file in an archive, always the same for a name and a size. */
export function tarHeader(name: string, bytes: number): Uint8Array {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100, 'utf8');
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Returns the zeros that fill the last block of a file. */
export function tarPadding(bytes: number): Uint8Array {
  return new Uint8Array((blockBytes - (bytes % blockBytes)) % blockBytes);
}

/** The end of an archive. */
export const tarEnd: Uint8Array = new Uint8Array(2 * blockBytes);

function checksum(header: Uint8Array): number {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte;
  return sum;
}

/** A plain file in an archive. */
export interface TarEntry {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Reads the files of an archive one after the other. Everything that is not a plain file is refused. */
export async function* tarEntries(input: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const bytes = new ByteReader(input[Symbol.asyncIterator]());
  for (;;) {
    const header = await bytes.take(blockBytes);
    if (header.every((byte) => byte === 0)) {
      await bytes.onlyZeros();
      return;
    }
    const { name, size } = readHeader(header);
    const file = bytes.part(size);
    yield { name, chunks: file };
    // Passes over what the reader left.
    for await (const _ of file);
    await bytes.take(tarPadding(size).length);
  }
}

function readHeader(header: Uint8Array): { readonly name: string; readonly size: number } {
  const field = (from: number, length: number): string =>
    Buffer.from(header.subarray(from, from + length))
      .toString('utf8')
      .replace(/\0.*$/s, '')
      .trim();
  const name = `${field(345, 155) === '' ? '' : `${field(345, 155)}/`}${field(0, 100)}`;
  if (Number.parseInt(field(148, 8), 8) !== checksum(header))
    throw damaged('the header of a file does not match its sum');
  const type = String.fromCharCode(header[156] ?? 0);
  if (type !== '0' && type !== '\0') throw damaged(`${JSON.stringify(name)} is not a plain file`, name);
  const digits = field(124, 12);
  if (!/^[0-7]{1,11}$/.test(digits)) throw damaged(`${JSON.stringify(name)} has no size`, name);
  return { name, size: Number.parseInt(digits, 8) };
}

/** Reads exact numbers of bytes from a stream. */
class ByteReader {
  readonly #input: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(input: AsyncIterator<Uint8Array>) {
    this.#input = input;
  }

  /** Returns exactly so many bytes. */
  async take(count: number): Promise<Uint8Array> {
    const taken = Buffer.alloc(count);
    let at = 0;
    for await (const chunk of this.part(count)) {
      taken.set(chunk, at);
      at += chunk.length;
    }
    return taken;
  }

  /** Yields exactly so many bytes as they come; of a second reading, what the first one left. */
  part(count: number): AsyncIterable<Uint8Array> {
    let left = count;
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      if (left === 0) return { done: true, value: undefined };
      if (this.#held.length === 0) await this.#fill();
      const value = this.#held.subarray(0, Math.min(left, this.#held.length));
      this.#held = this.#held.subarray(value.length);
      left -= value.length;
      return { done: false, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** Refuses bytes after the end of the archive. */
  async onlyZeros(): Promise<void> {
    for (;;) {
      if (this.#held.some((byte) => byte !== 0)) throw damaged('something follows the end of the archive');
      const { done, value } = await this.#input.next();
      if (done === true) return;
      this.#held = value;
    }
  }

  async #fill(): Promise<void> {
    const { done, value } = await this.#input.next();
    if (done === true) throw damaged('the archive is cut off');
    this.#held = value;
  }
}

function damaged(why: string, file?: string): RepriseError {
  return new RepriseError('bundle.damaged', `Cannot read the bundle: ${why}`, {
    hint: 'Ask for it again where it comes from: it was damaged or changed on the way.',
    details: given({ file }),
  });
}
