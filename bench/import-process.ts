/** Imports a file in a separate process and prints the time and the most memory that it took, as JSON. */
import { existsSync, readFileSync } from 'node:fs';
import { openReprise } from '../src/index.ts';
import { keepHeapSmall } from '../src/node/small-heap.ts';

/** The time and memory of one import. */
export interface ImportRun {
  readonly ms: number;
  /** The time that all its threads used a processor: on a machine that others use too, the time of one core. */
  readonly cpuMs: number;
  /** The most memory of the whole process, in bytes. */
  readonly memory: number;
  readonly outcome: string;
}

function held(): number {
  const status = '/proc/self/status';
  const own = existsSync(status) ? /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1] : undefined;
  return own === undefined ? process.memoryUsage().rss : Number(own) * 1_024;
}

async function importOnce(store: string, path: string): Promise<ImportRun> {
  await warmUp();
  await using reprise = await openReprise({ store, config: false, durability: 'process' });
  let most = held();
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  let outcome = '';
  const onProgress = (): void => {
    most = Math.max(most, held());
  };
  for await (const told of reprise.importAll(path, { onProgress })) {
    if ('error' in told) throw told.error;
    outcome = told.outcome;
  }
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - start, cpuMs: (user + system) / 1_000, memory: most, outcome };
}

/** Imports one line, so that loading the code is not a part of the time. */
async function warmUp(): Promise<void> {
  await using reprise = await openReprise({ store: 'memory:', config: false });
  const message = { role: 'user', content: 'Why?' };
  const about = { uuid: 'u1', parentUuid: null, sessionId: 'warm', timestamp: '2026-01-14T01:05:00.000Z' };
  const line = `${JSON.stringify({ ...about, type: 'user', message })}\n`;
  await reprise.import(
    (async function* () {
      yield line;
    })(),
  );
}

const [store = '', path = '', heap = ''] = process.argv.slice(2);
// As `reprise import` does.
if (import.meta.main && heap === 'small') keepHeapSmall();
if (import.meta.main) process.stdout.write(JSON.stringify(await importOnce(store, path)));
