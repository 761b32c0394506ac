const write = process.stdout.write.bind(process.stdout);

/** Writes the answer of a command to stdout; returns false if the reader is slow. */
export function writeAnswer(answer: string | Uint8Array): boolean {
  return write(answer);
}

/**
 * Sends everything else that is written to stdout to stderr, for the rest of the program. A command runs code of its
 * user (a configuration, an agent), which may print at any time; stdout has only the answer.
 */
export function keepStdout(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
}
