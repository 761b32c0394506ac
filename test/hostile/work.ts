import { Session } from 'node:inspector/promises';

/** How often each block of our own code ran, by its place. */
type Work = ReadonlyMap<string, number>;

const inspector = new Session();

const sources = new URL('../../src/', import.meta.url).href;

/** Returns true if a script is code under test. */
function isOurs({ url }: { readonly url: string }): boolean {
  return url.startsWith(sources);
}

/** Starts to count. Only code that is loaded afterwards is counted block by block, so nothing of it may be loaded yet. */
export async function startCounting(): Promise<void> {
  inspector.connect();
  const loaded: string[] = [];
  inspector.on('Debugger.scriptParsed', ({ params }) => {
    if (isOurs(params)) loaded.push(params.url);
  });
  await inspector.post('Debugger.enable');
  await inspector.post('Debugger.disable');
  if (loaded.length > 0)
    throw new Error(`Cannot count: ${loaded.length} files, such as ${loaded[0]}, were loaded before`);
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
}

/** Counts the work of something, whatever the machine is busy with: how often each block of our own code runs. */
async function workOf(run: () => Promise<unknown>): Promise<Work> {
  await inspector.post('Profiler.takePreciseCoverage');
  await run();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const counts = new Map<string, number>();
  // The first range is the function itself, whose calls are not counted once it is optimized.
  for (const { url, functions } of result.filter(isOurs))
    for (const { functionName, ranges } of functions)
      for (const { startOffset, count } of ranges.slice(1)) {
        const place = `${functionName || 'a function'} (${url.split(sources).at(-1)}:${startOffset})`;
        counts.set(place, (counts.get(place) ?? 0) + count);
      }
  return counts;
}

/** How the work of something grew with its size. */
export interface Growth {
  /** How many times as often the block ran whose count grew most: 2 for twice the size if all is linear, 4 for a square. */
  readonly times: number;
  /** That block. */
  readonly where: string;
}

/**
 * Does the same for half a size, the size and twice the size, and finds the block whose count grew most. A block that
 * runs less than once for each of the largest size does not matter. A block whose count happens to be that of its function
 * is not reported. A square is an inner block, which is reported at every size, and takes four times at each step: so the
 * smaller of both steps counts.
 */
export async function growthOf(
  size: number,
  workAt: (size: number) => Promise<() => Promise<unknown>>,
): Promise<Growth> {
  const runs = [await workAt(size / 2), await workAt(size), await workAt(size * 2)];
  // Once before it counts: code that is loaded or kept on first use does not grow.
  for (const run of runs) await run();
  const counts: Work[] = [];
  for (const run of runs) counts.push(await workOf(run));
  let found: Growth = { times: 0, where: 'nothing' };
  for (const [where, count] of counts[2] ?? []) {
    const [first = 0, second = 0] = counts.map((work) => work.get(where));
    if (second === 0) continue;
    const times = Math.min(count / Math.max(second, size), second / Math.max(first, size / 2));
    if (count >= size * 2 && times > found.times) found = { times, where };
  }
  return found;
}
