/** Returns why something could not be read, in the words of our own messages. */
export function readFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'it is a directory';
  return message
    .replace(/^Cannot parse JSON text: /, '')
    .replace(/^Cannot parse (the number \S+): it would/, '$1 would');
}
