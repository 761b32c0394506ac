/** Imports a file in a process of its own and prints the time and the most memory that it took, as JSON. */
import { existsSync, readFileSync } from 'node:fs';
import { openReprise } from '../src/index.ts';

/** The time and memory of one import. */
export interface ImportRun {
  readonly ms: number;
  /** The most memory of the process beyond that at the beginning, in bytes. */
  readonly memory: number;
  readonly outcome: string;
}

function held(): number {
  const status = '/proc/self/status';
  const own = existsSync(status) ? /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1] : undefined;
  return own === undefined ? process.memoryUsage().rss : Number(own) * 1_024;
}

async function importOnce(store: string, path: string): Promise<ImportRun> {
  await using reprise = await openReprise({ store, config: false, durability: 'process' });
  let most = held();
  const start = performance.now();
  let outcome = '';
  const onProgress = (): void => {
    most = Math.max(most, held());
  };
  for await (const told of reprise.importAll(path, { onProgress })) {
    if ('error' in told) throw told.error;
    outcome = told.outcome;
  }
  return { ms: performance.now() - start, memory: most, outcome };
}

const [store = '', path = ''] = process.argv.slice(2);
if (import.meta.main) process.stdout.write(JSON.stringify(await importOnce(store, path)));
