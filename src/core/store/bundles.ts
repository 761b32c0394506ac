import type { RunningDigest } from '../recording/foreign-files.ts';
import type { EventStore } from './event-store.ts';
import type { Platform } from './platform.ts';

/** A file of a bundle as it is read. */
export interface BundleEntry {
  readonly name: string;
  /** Its bytes, piece by piece; to be read before the next entry. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The size and digest of a file of a bundle. */
export interface BundleFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A bundle that is being written. It is at its path only after {@link finish}. */
export interface BundleWriter {
  /** Writes one file. */
  file(name: string, texts: AsyncIterable<string>): Promise<BundleFile>;
  /** Puts the bundle in its place, with its files in this order, and returns its size in bytes. */
  finish(names: readonly string[]): Promise<number>;
  /** Removes everything that was written; harmless after {@link finish}. */
  discard(): Promise<void>;
}

/** A signature of text by an Ed25519 key. */
export interface BundleSignature {
  /** The public key: `ed25519:` and its 32 bytes in base64url. */
  readonly key: string;
  /** The signature in base64url. */
  readonly signature: string;
}

/** The services of the machine that bundles need: files, a store to lay them out in, and signatures. */
export interface Bundles {
  /** Returns true if a bundle is at a path. */
  isBundle(path: string): Promise<boolean>;
  /** Yields the files of a bundle in their order there, the manifest first. */
  read(path: string): AsyncGenerator<BundleEntry, void, undefined>;
  /** Starts a bundle: a folder, or an archive if the path ends with `.tgz`. Nothing that exists is overwritten. */
  write(path: string): Promise<BundleWriter>;
  /** Opens an empty store that closing removes. */
  openScratch(platform: Platform): Promise<EventStore>;
  /** Starts a running digest. */
  createDigest(): RunningDigest;
  /** Returns true if the signature of a string is good. */
  isSigned(text: string, signature: BundleSignature): boolean;
}
