/**
 * Replays a history in a separate process and prints how much memory that took, as JSON. Pages of the mapped store file
 * are left out where the system tells them apart: they are the system's to take back.
 */
import { existsSync, readFileSync } from 'node:fs';
import { open } from './workspace.ts';

/** The memory of a process in bytes: at the beginning, and the most in each tenth of the way. */
export interface Memory {
  readonly before: number;
  readonly tenths: readonly number[];
  readonly events: number;
}

function held(): number {
  const status = '/proc/self/status';
  const own = existsSync(status) ? /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1] : undefined;
  return own === undefined ? process.memoryUsage().rss : Number(own) * 1_024;
}

async function replayAll(path: string): Promise<Memory> {
  await using opened = await open(path, 'process');
  const { head } = await opened.session.locate();
  const before = held();
  const tenths: number[] = [];
  let events = 0;
  for await (const event of opened.session.replay()) {
    if (++events !== event.seq) throw new Error(`Event ${events} has seq ${event.seq}`);
    if (events % Math.ceil(head / 100) !== 0) continue;
    const tenth = Math.min(9, Math.floor((events * 10) / head));
    tenths[tenth] = Math.max(tenths[tenth] ?? 0, held());
  }
  return { before, tenths, events };
}

const [path] = process.argv.slice(2);
if (import.meta.main && path !== undefined) process.stdout.write(JSON.stringify(await replayAll(path)));
