import { type ErrorCode, hasCode, RepriseError } from '../../core/error.ts';

// Primary result codes of SQLite: https://sqlite.org/rescode.html
const codes: Readonly<Record<number, { readonly code: ErrorCode; readonly what: string; readonly hint: string }>> = {
  5: busy('a different process is writing'),
  6: busy('a different connection holds a table'),
  8: {
    code: 'store.read-only',
    what: 'the store cannot be written',
    hint: 'Check the rights of the file and its directory, or open a store that may be written.',
  },
  10: {
    code: 'store.failed',
    what: 'the disk failed to read or write',
    hint: 'Check the disk and its mount; what was acknowledged before is on it.',
  },
  11: damaged('the file is damaged'),
  13: {
    code: 'store.full',
    what: 'there is no room left',
    hint: 'Make room where the store is kept and append again; nothing that was acknowledged is lost.',
  },
  14: {
    code: 'store.failed',
    what: 'the file cannot be opened',
    hint: 'Check that the directory exists and may be read and written.',
  },
  26: damaged('the file is not a database'),
};

function busy(what: string): (typeof codes)[number] {
  return { code: 'store.busy', what, hint: 'Try again when the other process is done, or allow a longer wait.' };
}

function damaged(what: string): (typeof codes)[number] {
  return {
    code: 'store.damaged',
    what,
    hint: 'Restore the file from a backup; "sqlite3 FILE .recover" may save part of it.',
  };
}

/** Turns an error of SQLite into the error that users see; returns every other error as it is. */
export function toStoreError(error: unknown): unknown {
  const { errcode, code } = (error ?? {}) as { readonly errcode?: unknown; readonly code?: unknown };
  // Reprise stores only numbers that JavaScript can carry, and only references that are JSON.
  if (code === 'ERR_OUT_OF_RANGE') return storeError(damaged('a number in it is too large'), error, 0);
  if (typeof errcode !== 'number') return error;
  const message = error instanceof Error ? error.message : String(error);
  if (message === 'malformed JSON') return storeError(damaged('a reference in it cannot be read'), error, errcode);
  if (/^no such (?:table|column)/.test(message))
    return storeError(damaged('a table in it has changed'), error, errcode);
  const known = codes[errcode & 0xff];
  if (known === undefined) {
    return new RepriseError('store.failed', `Cannot use the store: SQLite says "${message}"`, {
      hint: 'This is a mistake of Reprise unless a different program changed the file; please report it.',
      details: { sqlite: errcode },
      cause: error,
    });
  }
  return storeError(known, error, errcode);
}

function storeError({ code, what, hint }: (typeof codes)[number], cause: unknown, sqlite: number): RepriseError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new RepriseError(code, `Cannot use the store: ${what} (SQLite says "${message}")`, {
    hint,
    details: { sqlite },
    cause,
  });
}

/** Returns true if a different connection has the lock, so that a retry can help. */
export function isBusy(error: unknown): boolean {
  return hasCode(error, 'store.busy');
}
