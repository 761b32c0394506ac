import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const report = join(root, 'bench/BENCHMARKS.md');
const directory = mkdtempSync(join(tmpdir(), 'reprise-bench-test-'));

function bench(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bench/run.ts'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, REPRISE_BENCH_DIR: directory, NODE_OPTIONS: '' },
  });
  return { status, output: stdout + stderr };
}

/** The subjects of the goals. The figures of a quick run mean nothing, so the tests ignore the verdicts. */
const subjects = [
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
  /beliefsAt any turn of .* commitments, 1,000 active/,
  /beliefsAt any turn of .* commitments, 1,000 active, 1 % of them late/,
  /run forward of .*: turns that ran, of all/,
  /run forward of .*: time against running everything/,
  /PostgreSQL: beliefsAt any turn/,
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

describe('npm run bench', () => {
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  // Every group in one go takes minutes on a machine that is busy with other things.
  it('--quick measures every row, leaves no file behind and keeps the last report', { timeout: 900_000 }, () => {
    const before = readFileSync(report, 'utf8');
    const { status, output } = bench('--quick');
    expect(output).toMatch(/\d+ of \d+ goals met/);
    for (const subject of subjects) expect(output).toMatch(subject);
    expect(output).not.toMatch(/NaN|Infinity|undefined/);
    expect(status).toBe(0);
    expect(readdirSync(directory)).toEqual([]);
    expect(readFileSync(report, 'utf8')).toBe(before);
  });

  it('runs only the groups that are named, and says which there are', () => {
    const { status, output } = bench('--quick', 'disk');
    expect(output).toMatch(/disk an event/);
    expect(output).not.toMatch(/LangGraph/);
    expect(status).toBe(0);
    const unknown = bench('--quick', 'dsik');
    expect(unknown.output).toMatch(/There is no group "dsik".*append, durable/);
    expect(unknown.status).toBe(2);
  });

  it('the kept report names its machine, its date and its command', () => {
    const text = readFileSync(report, 'utf8');
    expect(text).toMatch(/Written by `npm run bench` on \d{4}-\d\d-\d\d/);
    for (const fact of ['cores', 'processor', 'memory', 'node', 'sqlite']) expect(text).toContain(`| ${fact} |`);
    for (const subject of subjects) expect(text).toMatch(subject);
  });
});
