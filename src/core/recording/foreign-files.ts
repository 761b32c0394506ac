/** How to read a file. */
export interface FileReading {
  /** Keeps reading what is appended to the file until the signal is aborted. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** A running SHA-256 over bytes. */
export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** Returns the digest of everything so far, in hexadecimal; more may follow. */
  digest(): string;
}

/** The files that an import reads. */
export interface ForeignFiles {
  /** Reads a file piece by piece. With `follow`, an empty piece says that everything there is now was read. */
  read(path: string, reading?: FileReading): AsyncIterable<Uint8Array>;
  /** Returns the first bytes of a file. */
  head(path: string, bytes: number): Promise<Uint8Array>;
  /** Tells what is at a path, `other` being a pipe or a device; undefined if there is nothing. */
  kindOf(path: string): Promise<'file' | 'folder' | 'other' | undefined>;
  /** Lists the files below a folder, sorted by path; none if there is no such folder. */
  list(folder: string): AsyncIterable<string>;
  /** Starts a running digest. */
  createDigest(): RunningDigest;
}
