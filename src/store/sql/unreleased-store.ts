import { RepriseError } from '../../core/error.ts';

/** Returns the error for a store that was written before the first release. Its events have forms that no release has. */
export function unreleasedStore(): RepriseError {
  return new RepriseError(
    'store.unsupported',
    'Cannot use the store: it was written before the first release of Reprise, and no release reads it',
    {
      hint: 'Name a new store, and record or import the histories again; nothing was changed.',
    },
  );
}
