import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs with a source of paths to fresh files, and takes the files away at the end. */
export async function onFreshFiles(run: (freshPath: () => string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'reprise-simulation-'));
  let count = 0;
  try {
    await run(() => join(directory, `${count++}.db`));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
