import type { Rule } from '../tree.ts';

const bytesMax = 256 * 1024;

/** Files that programs write: the lock file grows with the dependencies. */
const exempt = new Set(['package-lock.json']);

/** No file is over 256 KiB. */
export const rule: Rule = (tree) =>
  tree.files
    .filter((file) => file.bytes > bytesMax && !exempt.has(file.path))
    .map((file) => ({ file: file.path, message: `has ${file.bytes} bytes, at most ${bytesMax} are allowed` }));
