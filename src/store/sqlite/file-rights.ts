import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';

/** Returns true if this user may write a store: the file, and the directory in which SQLite keeps its log. */
export function mayWrite(path: string): boolean {
  return isWritable(path) && mayWriteIn(dirname(path));
}

/** Returns true if this user may write in a directory. */
export function mayWriteIn(directory: string): boolean {
  return isWritable(directory);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
