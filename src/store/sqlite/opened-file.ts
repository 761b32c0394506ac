import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { RepriseError } from '../../core/error.ts';

/**
 * The file that a connection has open. SQLite keeps writing into a file that was removed or moved away, where no one
 * finds it again; so the store compares the file at its path with the one it opened before it acknowledges anything.
 */
export class OpenedFile {
  readonly #path: string;
  readonly #isImmutable: boolean;
  readonly #identity: string;
  readonly #state: string;

  constructor(path: string, { isImmutable }: { readonly isImmutable: boolean }) {
    this.#path = path;
    this.#isImmutable = isImmutable;
    this.#identity = identityOf(path);
    this.#state = isImmutable ? stateOf(path) : '';
  }

  /** Where a different connection opens it. */
  get location(): { readonly location: string; readonly isUrl: boolean } {
    return this.#isImmutable
      ? { location: immutableLocation(this.#path).href, isUrl: true }
      : { location: this.#path, isUrl: false };
  }

  /** Throws if the file at the path is not the one that was opened: a commit went where no one finds it. */
  checkWritten(): void {
    if (identityOf(this.#path) === this.#identity) return;
    throw new RepriseError(
      'store.moved',
      `Cannot acknowledge a change: the file "${this.#path}" was moved, removed or replaced while it was open`,
      {
        hint: 'Close the store and open it where it is now; move a store only while no program has it open.',
        details: { path: this.#path },
      },
    );
  }

  /** Throws if a reader that cannot use the log would read a file that has changed since it was opened. */
  checkReadable(): void {
    if (!this.#isImmutable || stateOf(this.#path) === this.#state) return;
    throw new RepriseError(
      'store.moved',
      `Cannot read the store "${this.#path}": it has changed since it was opened in a directory that cannot be written`,
      {
        hint: 'Open it again. A reader with the right to write the directory follows changes.',
        details: { path: this.#path },
      },
    );
  }
}

/** Returns the device and number of the file at a path; empty if there is none. */
function identityOf(path: string): string {
  const held = statSync(path, { throwIfNoEntry: false });
  return held === undefined ? '' : `${held.dev}:${held.ino}`;
}

function stateOf(path: string): string {
  const held = statSync(path, { throwIfNoEntry: false, bigint: true });
  return `${identityOf(path)} ${held?.size} ${held?.mtimeNs} ${existsSync(`${path}-wal`)}`;
}

/** Returns the location of a file that is read without its log: no process has it open, so nothing is in the log. */
export function immutableLocation(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url;
}
