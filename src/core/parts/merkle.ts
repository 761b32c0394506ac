import type { Digest } from '../point.ts';

/** Returns the SHA-256 of bytes, as bytes; see `Platform.sha256Bytes`. */
export type HashBytes = (bytes: Uint8Array) => Uint8Array;

const hashBytes = 32;

/**
 * The leaves of a Merkle tree as RFC 6962 (section 2.1) defines it. A leaf is the digest of an event, so a leaf covers
 * the event and everything before it. It takes 32 bytes of memory for each leaf.
 */
export class MerkleTree {
  readonly #hash: HashBytes;
  #leaves = new Uint8Array(hashBytes * 1_024);
  #size = 0;

  constructor(hash: HashBytes) {
    this.#hash = hash;
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds the digest of the next event. */
  add(digest: Digest): void {
    this.addBytes(bytesOfHex(digest));
  }

  /** Adds a leaf of any bytes. */
  addBytes(bytes: Uint8Array): void {
    const at = this.#size * hashBytes;
    if (at === this.#leaves.length) {
      const grown = new Uint8Array(this.#leaves.length * 2);
      grown.set(this.#leaves);
      this.#leaves = grown;
    }
    this.#leaves.set(leafHash(this.#hash, bytes), at);
    this.#size++;
  }

  /** Returns the root over the first leaves; over all if no size is given. */
  root(size: number = this.#size): string {
    return hexOf(size === 0 ? this.#hash(new Uint8Array()) : this.#node(0, size));
  }

  /** Returns the hashes that lead from a leaf, counted from 0, to the root over the first leaves. */
  inclusion(index: number, size: number = this.#size): string[] {
    return this.#path(index, 0, size).map(hexOf);
  }

  /** Returns the hashes which show that the tree over more leaves extends the one over the first. */
  consistency(first: number, size: number = this.#size): string[] {
    return first === 0 || first === size ? [] : this.#extension(first, 0, size, true).map(hexOf);
  }

  #node(from: number, to: number): Uint8Array {
    if (to - from === 1) return this.#leaves.subarray(from * hashBytes, to * hashBytes);
    const middle = from + split(to - from);
    return nodeHash(this.#hash, this.#node(from, middle), this.#node(middle, to));
  }

  #path(index: number, from: number, to: number): Uint8Array[] {
    if (to - from === 1) return [];
    const middle = from + split(to - from);
    return index < middle
      ? [...this.#path(index, from, middle), this.#node(middle, to)]
      : [...this.#path(index, middle, to), this.#node(from, middle)];
  }

  /** `isOwn` says whether the first tree is exactly this one, whose root the verifier has. */
  #extension(first: number, from: number, to: number, isOwn: boolean): Uint8Array[] {
    if (first === to) return isOwn ? [] : [this.#node(from, to)];
    const middle = from + split(to - from);
    return first <= middle
      ? [...this.#extension(first, from, middle, isOwn), this.#node(middle, to)]
      : [...this.#extension(first, middle, to, false), this.#node(from, middle)];
  }
}

/**
 * The root of a Merkle tree that grows, without its leaves: it keeps the roots of its complete subtrees, so that its
 * memory does not grow with the history.
 */
export class MerkleFrontier {
  readonly #hash: HashBytes;
  readonly #subtrees: { readonly size: number; readonly root: Uint8Array }[];

  constructor(hash: HashBytes, from?: MerkleFrontier) {
    this.#hash = hash;
    this.#subtrees = from === undefined ? [] : [...from.#subtrees];
  }

  /** Adds a leaf of any bytes. */
  add(bytes: Uint8Array): void {
    let grown = { size: 1, root: leafHash(this.#hash, bytes) };
    for (let last = this.#subtrees.at(-1); last?.size === grown.size; last = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      grown = { size: grown.size * 2, root: nodeHash(this.#hash, last.root, grown.root) };
    }
    this.#subtrees.push(grown);
  }

  /** Returns the root over everything that was added. */
  root(): string {
    const [last, ...before] = this.#subtrees.toReversed();
    if (last === undefined) return hexOf(this.#hash(new Uint8Array()));
    return hexOf(before.reduce((root, subtree) => nodeHash(this.#hash, subtree.root, root), last.root));
  }
}

/** Returns the largest power of two below a size. */
function split(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

function leafHash(hash: HashBytes, bytes: Uint8Array): Uint8Array {
  const prefixed = new Uint8Array(bytes.length + 1);
  prefixed.set(bytes, 1);
  return hash(prefixed);
}

function nodeHash(hash: HashBytes, left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(1 + 2 * hashBytes);
  both[0] = 1;
  both.set(left, 1);
  both.set(right, 1 + hashBytes);
  return hash(both);
}

/** A leaf, its place in a tree, and the hashes that lead to the root. */
export interface Inclusion {
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly path: readonly string[];
}

/** Returns the root that a leaf and its path lead to; undefined if the path does not fit the place. */
export function includedRoot(hash: HashBytes, { leaf, index, size, path }: Inclusion): string | undefined {
  if (index < 0 || index >= size) return undefined;
  let [at, last, root] = [index, size - 1, leafHash(hash, leaf)];
  for (const text of path) {
    const next = hashOf(text);
    if (last === 0 || next === undefined) return undefined;
    if (at % 2 === 1 || at === last) {
      root = nodeHash(hash, next, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else root = nodeHash(hash, root, next);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? hexOf(root) : undefined;
}

/** Two trees, by size and root, and the hashes that connect them. */
export interface Extension {
  readonly first: { readonly size: number; readonly root: string };
  readonly second: { readonly size: number; readonly root: string };
  readonly path: readonly string[];
}

/** Returns true if the second tree has all leaves of the first one, in its order, and then more. */
export function isExtension(hash: HashBytes, { first, second, path }: Extension): boolean {
  if (first.size > second.size) return false;
  if (first.size === second.size) return path.length === 0 && first.root === second.root;
  // Every tree extends the empty one.
  if (first.size === 0) return path.length === 0 && first.root === hexOf(hash(new Uint8Array()));
  const isPower = split(first.size * 2) === first.size;
  const hashes = (isPower ? [first.root, ...path] : path).map(hashOf);
  const [start] = hashes;
  if (start === undefined || hashes.includes(undefined)) return false;
  let [at, last] = [first.size - 1, second.size - 1];
  while (at % 2 === 1) [at, last] = [(at - 1) / 2, Math.floor(last / 2)];
  let [old, now] = [start, start];
  for (const next of hashes.slice(1) as Uint8Array[]) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [old, now] = [nodeHash(hash, next, old), nodeHash(hash, next, now)];
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else now = nodeHash(hash, now, next);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && hexOf(old) === first.root && hexOf(now) === second.root;
}

/** Returns the bytes of hexadecimal text. */
export function bytesOfHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(text.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

function hashOf(text: string): Uint8Array | undefined {
  return /^[0-9a-f]{64}$/.test(text) ? bytesOfHex(text) : undefined;
}

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += digits[byte];
  return text;
}
