/**
 * `npm run bench` measures every group of rows and writes `BENCHMARKS.md`; `npm run bench -- append replay` only prints
 * those, `-- postgres` all whose names begin so; `--quick` goes through everything with tiny sizes, whose figures mean
 * nothing; `--long` scrubs in the studio for ten minutes.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchAncestors } from './ancestors.ts';
import { benchAppend } from './append.ts';
import { benchBeliefs } from './beliefs.ts';
import { benchCli } from './cli.ts';
import { benchCoding } from './coding.ts';
import { benchDiff } from './diff.ts';
import { benchDisk, benchGrowth } from './disk.ts';
import { benchDurable } from './durable.ts';
import { benchFork } from './fork.ts';
import { benchBundle, benchImport } from './import.ts';
import { benchLangGraph } from './langgraph.ts';
import { benchLooks } from './looks.ts';
import { load, machine } from './machine.ts';
import type { Row } from './measure.ts';
import { benchOpening } from './opening.ts';
import { benchPackage } from './package.ts';
import { benchPostgresAppend } from './postgres-append.ts';
import { benchPostgresBeliefs } from './postgres-beliefs.ts';
import { benchPostgresProcesses } from './postgres-processes.ts';
import { benchPostgresDisk, benchPostgresReads } from './postgres-reads.ts';
import { benchRecording } from './recording.ts';
import { benchReplay } from './replay.ts';
import { lineOf, markdownOf, soakOf, tally } from './report.ts';
import { benchServer } from './server.ts';
import { benchState } from './state.ts';
import { benchStateCommits } from './state-commits.ts';
import { benchSteady } from './steady.ts';
import { benchStudio } from './studio.ts';
import { fullSizes, quickSizes, Workspace } from './workspace.ts';

const groups: Readonly<Record<string, (workspace: Workspace) => Promise<Row[]>>> = {
  append: benchAppend,
  durable: benchDurable,
  replay: benchReplay,
  disk: benchDisk,
  state: benchState,
  'state-commits': benchStateCommits,
  beliefs: benchBeliefs,
  coding: benchCoding,
  fork: benchFork,
  ancestors: benchAncestors,
  langgraph: benchLangGraph,
  growth: benchGrowth,
  diff: benchDiff,
  import: benchImport,
  bundle: benchBundle,
  looks: benchLooks,
  opening: benchOpening,
  steady: benchSteady,
  'postgres-append': benchPostgresAppend,
  'postgres-reads': benchPostgresReads,
  'postgres-processes': benchPostgresProcesses,
  'postgres-disk': benchPostgresDisk,
  server: benchServer,
  'postgres-beliefs': benchPostgresBeliefs,
  recording: benchRecording,
  package: benchPackage,
  cli: benchCli,
  studio: benchStudio,
};

/** The groups that a word means: the one of that name, or all that begin with it. */
function groupsOf(word: string): string[] {
  const names = Object.keys(groups);
  return names.includes(word) ? [word] : names.filter((name) => name.startsWith(`${word}-`));
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const longScrubMs = 600_000;

async function run(
  chosen: readonly string[],
  { quick, long }: { readonly quick: boolean; readonly long: boolean },
): Promise<Row[]> {
  const sizes = quick ? quickSizes : fullSizes;
  using workspace = new Workspace(long ? { ...sizes, scrubMs: longScrubMs } : sizes);
  const rows: Row[] = [];
  for (const [name, bench] of Object.entries(groups)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const start = performance.now();
    const found = await bench(workspace);
    say(`\n${name}, ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    for (const row of found) say(lineOf(row));
    rows.push(...found);
  }
  return rows;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, long: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const unknown = positionals.filter((word) => groupsOf(word).length === 0);
  if (unknown.length > 0) {
    say(`There is no group "${unknown.join('", "')}". There are: ${Object.keys(groups).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  const before = load();
  const facts = machine();
  say(
    Object.entries(facts)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  );
  const rows = await run(positionals.flatMap(groupsOf), values);
  const busy = `${before} before, ${load()} after; this benchmark alone makes about 1`;
  say(`\n${tally(rows)}; load ${busy}`);
  // Only a whole run is worth keeping.
  if (values.quick || positionals.length > 0) return;
  const date = new Date().toISOString().slice(0, 10);
  const path = join(import.meta.dirname, 'BENCHMARKS.md');
  const report = markdownOf(rows, { machine: { ...facts, load: busy }, date, command: 'npm run bench' });
  const soak = existsSync(path) ? soakOf(readFileSync(path, 'utf8')) : '';
  writeFileSync(path, soak === '' ? report : `${report}\n${soak}`);
}

/** Garbage of one contender must not be collected on the next one's time. */
if (globalThis.gc === undefined) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', ...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else await main();
