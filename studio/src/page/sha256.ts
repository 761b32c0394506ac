import type { Sha256 } from '../../../src/core/parts/digest.ts';

// All numbers are of 32 bits with a sign, and nothing is made for a single hash: opening a page hashes every event.

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const constants = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
/** The same of the square roots of the first 8 primes. */
const initial = Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

function primes(count: number): number[] {
  const found: number[] = [];
  for (let number = 2; found.length < count; number++)
    if (found.every((prime) => number % prime !== 0)) found.push(number);
  return found;
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

const encoder = new TextEncoder();
const state = new Int32Array(8);
const words = new Int32Array(64);
/** Room for a string, a bit, and its length; it grows with the longest string. */
let room = new Uint8Array(4_096);
let view = new DataView(room.buffer);

/** Returns the SHA-256 of a string. The browser's own only answers later, and a chain is computed at once. */
export const sha256: Sha256 = (text) => {
  const end = fill(text);
  state.set(initial);
  for (let from = 0; from < end; from += 64) addBlock(from);
  for (let i = 0; i < 8; i++) writeHex(at(state, i), i * 8);
  return String.fromCharCode(...hex) as ReturnType<Sha256>;
};

const digits = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** The codes of a digest in hex. Joining strings of two digits takes longer. */
const hex: number[] = Array.from({ length: 64 }, () => 0);

function writeHex(word: number, from: number): void {
  for (let i = 0; i < 8; i++) hex[from + i] = digits[(word >>> (28 - i * 4)) & 15] as number;
}

/** Writes a string, a 1 bit, zeros, and the length in bits; returns where they end. */
function fill(text: string): number {
  // A character of a string takes three bytes at most.
  if (room.length < text.length * 3 + 72) {
    room = new Uint8Array(text.length * 3 + 72);
    view = new DataView(room.buffer);
  }
  const { written } = encoder.encodeInto(text, room);
  const end = Math.ceil((written + 9) / 64) * 64;
  room.fill(0, written, end);
  room[written] = 0x80;
  view.setUint32(end - 8, Math.floor(written / 2 ** 29));
  view.setUint32(end - 4, (written * 8) >>> 0);
  return end;
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

const at = (list: Int32Array, index: number): number => list[index] as number;

function addBlock(from: number): void {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(from + i * 4);
  for (let i = 16; i < 64; i++) {
    const early = at(words, i - 15);
    const late = at(words, i - 2);
    const low = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const high = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[i] = (at(words, i - 16) + low + at(words, i - 7) + high) | 0;
  }
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let i = 0; i < 64; i++) {
    const mixed = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + mixed + (g ^ (e & (f ^ g))) + at(constants, i) + at(words, i)) | 0;
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (c & (a | b)))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] = at(state, 0) + a;
  state[1] = at(state, 1) + b;
  state[2] = at(state, 2) + c;
  state[3] = at(state, 3) + d;
  state[4] = at(state, 4) + e;
  state[5] = at(state, 5) + f;
  state[6] = at(state, 6) + g;
  state[7] = at(state, 7) + h;
}
