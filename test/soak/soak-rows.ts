import { readFileSync, writeFileSync } from 'node:fs';
import { load, machine } from '../../bench/machine.ts';
import { atMost, forTheRecord, type Row } from '../../bench/measure.ts';
import { lineOf, withSoak } from '../../bench/report.ts';
import type { SoakFigures } from './soak-run.ts';

const benchmarks = new URL('../../bench/BENCHMARKS.md', import.meta.url);

/** The figures of a soak, as rows of the report. */
export function rowsOf(
  figures: SoakFigures,
  {
    store,
    seconds,
    writers,
    followers,
    more,
  }: {
    readonly store: string;
    readonly seconds: number;
    readonly writers: number;
    readonly followers: number;
    readonly more: string;
  },
): Row[] {
  const { events, acknowledged, branches, faults, errors, stallMs, appendMs } = figures;
  const name = (what: string): string => `soak on ${store}, ${seconds} s: ${what}`;
  const wrong = Object.entries(faults)
    .map(([kind, count]) => `${kind} ${count}×`)
    .join(', ');
  const row = (what: string, value: number, detail: string, cause: string): Row =>
    atMost({ name: name(what), value, limit: 0, unit: '', detail, cause });
  const crew = `${acknowledged.toLocaleString('en')} events acknowledged, ${events.toLocaleString('en')} stored; ${writers} writing processes of 4 writers each, half of them on one branch, half on ${branches - 1}`;
  return [
    row(
      'acknowledged and lost',
      figures.lost,
      crew,
      'events that were acknowledged are not where they were said to be',
    ),
    row('doubled', figures.doubled, wrong, 'the same event is stored more than once'),
    row(
      'followers that saw another order',
      figures.misled,
      `${followers} following processes on ${branches} branches each, started again after the last event they had seen`,
      'a follower saw something else than what is stored',
    ),
    row('branches that do not verify', figures.unverified, `of ${branches}`, 'verify fails'),
    forTheRecord(
      name('longest stall'),
      `${(stallMs / 1_000).toFixed(1)} s`,
      `in which no writer was told anything; the longest append took ${(appendMs / 1_000).toFixed(1)} s; ${errors} times a process gave up waiting and tried again${more}`,
    ),
  ];
}

/** Prints what a soak found, and keeps it in `BENCHMARKS.md` if it went on for as long as it should. */
export function report(store: string, rows: readonly Row[], isWhole: boolean): void {
  for (const row of rows) process.stdout.write(`${lineOf(row)}\n`);
  if (!isWhole) return;
  const { cores, processor, memory, system, node } = machine() as Record<
    'cores' | 'processor' | 'memory' | 'system' | 'node',
    string
  >;
  const facts = {
    command: 'npm run soak',
    date: new Date().toISOString().slice(0, 10),
    machine: `${cores} cores, ${processor}, ${memory}, ${system}, Node.js ${node}, load ${load()}`,
  };
  writeFileSync(benchmarks, withSoak(readFileSync(benchmarks, 'utf8'), store, rows, facts));
}
