import { RepriseError } from '../../core/error.ts';
import type { ForeignFiles } from '../../core/recording/foreign-files.ts';
import type { Bundles } from '../../core/store/bundles.ts';

/** The files of an engine that has none: every read is refused. */
export const noFiles: ForeignFiles = {
  read: refuse,
  head: refuse,
  kindOf: refuse,
  list: refuse,
  createDigest: () => refuse(''),
};

/** The bundles of an engine that has no files. */
export const noBundles: Bundles = {
  isBundle: async () => false,
  read: refuse,
  write: refuse,
  openScratch: () => refuse('bundle:'),
  createDigest: () => refuse('bundle:'),
  isSigned: () => false,
};

function refuse(path: string): never {
  throw new RepriseError('import.invalid', `Cannot read "${path}": this engine has no files`, {
    hint: 'Pass the content, or a stream of it.',
  });
}
