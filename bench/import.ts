/** Imports of sessions of Claude Code compared with reading the same file in other ways; bundles. */
import { spawnSync } from 'node:child_process';
import { createReadStream, openSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openReprise, verifyBundle } from '../src/index.ts';
import type { ImportRun } from './import-process.ts';
import { writeSource } from './import-source.ts';
import { alternate, atLeast, atMost, bytes, forTheRecord, median, type Row, short, time } from './measure.ts';
import { remove, sessionId, settledBytes, type Workspace } from './workspace.ts';

/** Rows of imports. */
export async function benchImport(workspace: Workspace): Promise<Row[]> {
  return [...(await speedRows(workspace)), memoryRow(workspace)];
}

const perSecond = (size: number, ms: number): number => size / 1e6 / (ms / 1_000);

async function speedRows(workspace: Workspace): Promise<Row[]> {
  const { isQuick } = workspace.sizes;
  const path = workspace.path('session.jsonl');
  const size = writeSource(path, isQuick ? 1e6 : 64e6);
  const stores: string[] = [];
  const [elapsed, most]: [number[], number[]] = [[], []];
  const times = await alternate(isQuick ? 1 : 3, {
    import: () => {
      stores.push(workspace.path('import.db'));
      const { ms, cpuMs, memory } = runImport(stores.at(-1) ?? '', path, 'imported');
      elapsed.push(ms);
      most.push(memory);
      return cpuMs;
    },
    again: () => runImport(stores.at(-1) ?? '', path, 'unchanged').ms,
    readline: () => readLines(path),
    jq: () => runJq(path),
  });
  const [last = ''] = stores.slice(-1);
  const stored = settledBytes(last);
  const rate = (name: keyof typeof times): number => perSecond(size, median(times[name]));
  const detail = `${bytes(size)}: import ${time(median(times.import))} of a processor in ${time(median(elapsed))}, readline + JSON.parse ${time(median(times.readline))}, jq -c . ${Number.isNaN(rate('jq')) ? 'not there' : time(median(times.jq))}`;
  for (const store of stores) remove(store);
  return [
    atLeast({
      name: 'import of Claude Code with digests',
      value: rate('import'),
      limit: 40,
      unit: ' MB/s',
      detail,
      cause: 'parsing, canonical JSON, digests and rows of every event, on one core.',
    }),
    forTheRecord('  the same file through readline + JSON.parse', `${short(rate('readline'))} MB/s`, 'nothing is kept'),
    forTheRecord(
      '  the same file through jq -c .',
      Number.isNaN(rate('jq')) ? 'jq is not installed' : `${short(rate('jq'))} MB/s`,
      'written to nowhere',
    ),
    atLeast({
      name: 'import again with nothing new',
      value: rate('again'),
      limit: 150,
      unit: ' MB/s',
      detail: time(median(times.again)),
      cause: 'the digest of the file is read and compared with the receipt.',
    }),
    atMost({
      name: 'store of an import against its file',
      value: stored / size,
      limit: 1.1,
      unit: '×',
      detail: `${bytes(stored)} for ${bytes(size)}`,
      cause: 'text that no event of its unit holds, and the rows of events.',
    }),
    forTheRecord(
      '  memory of that import in a program of its own',
      `${short(median(most) / 1e6)} MB`,
      'with the heap as V8 lets it grow; about the same for a longer file',
    ),
  ];
}

const process_ = fileURLToPath(new URL('./import-process.ts', import.meta.url));

function runImport(store: string, path: string, outcome: string, heap: 'small' | 'usual' = 'usual'): ImportRun {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', process_, `sqlite:${store}`, path, heap],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  const run = JSON.parse(stdout) as ImportRun;
  if (run.outcome !== outcome) throw new Error(`The import was ${run.outcome}, not ${outcome}`);
  return run;
}

async function readLines(path: string): Promise<number> {
  const start = performance.now();
  for await (const line of createInterface({ input: createReadStream(path) })) JSON.parse(line);
  return performance.now() - start;
}

function runJq(path: string): number {
  const start = performance.now();
  const { error } = spawnSync('jq', ['-c', '.', path], { stdio: ['ignore', openSync('/dev/null', 'w'), 'ignore'] });
  return error === undefined ? performance.now() - start : Number.NaN;
}

function memoryRow(workspace: Workspace): Row {
  const path = workspace.path('large.jsonl');
  const size = writeSource(path, workspace.sizes.isQuick ? 2e6 : 1e9);
  const store = workspace.path('large.db');
  const { memory, ms } = runImport(store, path, 'imported', 'small');
  remove(store);
  remove(path);
  return atMost({
    name: `memory of "reprise import" of ${bytes(size)}`,
    value: memory / 1e6,
    limit: 200,
    unit: ' MB',
    detail: `the whole process, ${time(ms)}`,
    cause: 'a table of the ids of the source, and the garbage of a batch.',
  });
}

/** Rows of bundles. */
export async function benchBundle(workspace: Workspace): Promise<Row[]> {
  const { isQuick } = workspace.sizes;
  const events = isQuick ? 1_200 : 10_000;
  await using reprise = await openReprise({
    store: `sqlite:${await workspace.history(events)}`,
    durability: 'process',
  });
  const paths: string[] = [];
  const write = (ending: string) => async () => {
    const to = workspace.path(`bundle${ending}`);
    paths.push(to);
    const start = performance.now();
    await (await reprise.session(sessionId)).exportBundle({ to });
    return performance.now() - start;
  };
  const verify = async (): Promise<number> => {
    const start = performance.now();
    const { ok, reason } = await verifyBundle(paths.at(-1) ?? '');
    if (!ok) throw new Error(reason ?? '');
    return performance.now() - start;
  };
  const times = await alternate(isQuick ? 1 : 5, { folder: write(''), archive: write('.tgz'), verify });
  const row = (name: string, values: readonly number[], cause: string): Row =>
    atMost({
      name,
      value: median(values) / 1_000,
      limit: 2,
      unit: ' s',
      detail: `${events.toLocaleString('en')} events`,
      cause,
    });
  const rows = [
    row(
      'export of a bundle as a folder',
      times.folder,
      'events are read with their proofs, folded to a fingerprint and written.',
    ),
    row(
      'export of a bundle as an archive',
      times.archive,
      'the files are compressed in JavaScript, for the same bytes everywhere.',
    ),
    row(
      'verification of a bundle',
      times.verify,
      'the bundle is restored, and its chain, parts, index and fingerprints are computed again.',
    ),
  ];
  for (const path of paths) rmSync(path, { recursive: true, force: true });
  return rows;
}
