/** Why something could not be read, without what a parser or the system says around it. */
export function readFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  return message
    .replace(/^Cannot parse JSON text: /, '')
    .replace(/^Cannot parse (the number \S+): it would/, '$1 would');
}
