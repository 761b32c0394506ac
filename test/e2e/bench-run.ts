/** The benchmarks as a program that runs, and the rows that they print. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The kept report of the last whole run. */
export const report = join(root, 'bench/BENCHMARKS.md');

/** Runs the benchmarks on files in a directory. */
export function bench(
  directory: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bench/run.ts'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, REPRISE_BENCH_DIR: directory, NODE_OPTIONS: '' },
  });
  return { status, output: stdout + stderr };
}

/** The subjects of the goals. The figures of a quick run mean nothing, so the tests ignore the verdicts. */
export const subjects = [
  /append, 100 per transaction, NORMAL, against a raw insert/,
  /append, one per transaction, NORMAL, against a raw insert/,
  /64 concurrent durable appenders against one transaction each/,
  /single durable append against fdatasync/,
  /replay of .* events, raw, against JSONL/,
  /replay of .* events, parsed, against JSONL/,
  /replay of .* events, verified, against JSONL/,
  /disk an event/,
  /state at any of .* events against folding from zero/,
  /snapshots as a share of the log/,
  /durable commit of one operation against a plain SQLite transaction/,
  /durable commit of 10 operations against a plain SQLite transaction/,
  /get of a key of .* commits against a plain indexed SELECT/,
  /get as of any commit of .* commits against a plain indexed SELECT/,
  /get at any time of .* commits/,
  /replay of .* commits of state/,
  /context at any of .* events/,
  /export of a run of .* events/,
  /reading a report, vitest JSON/,
  /reading a report, JUnit XML/,
  /reading a report, TAP/,
  /a file rebuilt from .* patches/,
  /mistakes in the contexts of .* coding sessions/,
  /the largest context as a share of its transcript/,
  /durable commit of a belief, 100 agents against 5/,
  /durable commit of a belief on a topic of 10,000 claims against 10/,
  /durable commit of a belief against a durable commit of state/,
  /beliefs at any turn of .* commitments, 1,000 active/,
  /beliefs at any turn of .* commitments, 1,000 active, 1 % of them late/,
  /run forward of .*: turns that ran, of all/,
  /run forward of .*: time against running everything/,
  /PostgreSQL: beliefs at any turn/,
  /fork at .* events/,
  /growth of the file by a fork/,
  /events copied by a fork/,
  /replay through .* ancestors against a flat history/,
  /LangGraph.*: time a step/,
  /LangGraph.*: bytes on disk/,
  /LangGraph.*: whole history/,
  /LangGraph.*: fork in the middle/,
  /whole model requests as lists of messages/,
  /whole model requests as raw bodies/,
  /fork point of/,
  /alignment of .*: nothing in common/,
  /open, session and first 64 events/,
  /memory of a full replay/,
  /recording an agent of its own that streams: time/,
  /recording an agent of its own that streams: added to the first token/,
  /recording an AI SDK agent that streams: time/,
  /recording an AI SDK agent that streams: added to the first token/,
  /recording an agent of OpenAI Agents that streams: time/,
  /recording an agent of OpenAI Agents that streams: added to the first token/,
  /recording a LangGraph agent that streams: time/,
  /recording a LangGraph agent that streams: added to the first token/,
  /recording a call that takes no time/,
  /reprise --help: first print/,
  /reprise list: first print/,
  /reprise show: first print/,
];
