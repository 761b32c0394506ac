/** What happens to sources and to machines while an import runs: one answer each. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Event, openReprise, type Reprise } from '../../src/index.ts';
import { watchConnections } from '../crash/connections.ts';
import { seedOfRun } from '../crash/random.ts';
import { mountSmallDisk } from '../crash/small-disk.ts';
import { Place } from '../e2e/cli/run.ts';
import { claudeLine } from './sources.ts';

let folder = '';
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-withstand-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns a session of Claude Code of so many turns; the one at `forkAt` has two answers. */
function long(turns: number): string {
  const lines: unknown[] = [];
  let parent: string | null = null;
  for (let turn = 0; turn < turns; turn++) {
    lines.push(
      claudeLine('user', `u${turn}`, parent, {
        message: { role: 'user', content: `Turn ${turn}: ${'why? '.repeat(90)}` },
      }),
    );
    const content = [{ type: 'text', text: `Because of ${turn}. ${'So it is. '.repeat(60)}` }];
    const usage = { input_tokens: 10, output_tokens: turn };
    const message = { id: `m${turn}`, model: 'claude-sonnet-4', role: 'assistant', content, usage };
    lines.push(claudeLine('assistant', `a${turn}`, `u${turn}`, { message }));
    if (turn % 50 === 49)
      lines.push(
        claudeLine('user', `x${turn}`, `a${turn - 10}`, { message: { role: 'user', content: 'The other way.' } }),
      );
    parent = `a${turn}`;
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

async function exported(reprise: Reprise, session: string): Promise<string> {
  const { files } = await reprise.exportFiles(session, { format: 'claude-code' });
  return Buffer.from(files[0]?.bytes ?? []).toString();
}

async function told(reprise: Reprise, path: string, session: string): Promise<string> {
  for await (const each of reprise.importAll(path, { session }))
    return 'outcome' in each ? each.outcome : each.error.message;
  return '';
}

/** Returns what counts of the events of every branch. */
async function eventsOf(reprise: Reprise, id: string): Promise<unknown[]> {
  const session = await reprise.session(id);
  const seen = new Map<string, unknown>();
  const { children } = await session.tree();
  for (const at of ['main', ...children.map(({ branch }) => branch)])
    for await (const { id: own, type, turn, data } of session.replay({ at, history: 'raw' }) as AsyncIterable<Event>)
      if (type !== 'branch.forked') seen.set(own, { type, turn, data });
  return [...seen].sort(([a], [b]) => (a < b ? -1 : 1));
}

const child = fileURLToPath(new URL('./import-child.ts', import.meta.url));
const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'reprise-compile-cache') };

/** Runs an import in a process of its own; kills it after so many reports of progress, if any. */
async function importIn(store: string, path: string, killAfter = Number.POSITIVE_INFINITY): Promise<string> {
  const process_ = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, store, path], { env });
  let [output, errors] = ['', ''];
  process_.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > killAfter) process_.kill('SIGKILL');
  });
  process_.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  await once(process_, 'close');
  return output.endsWith('done\n') ? 'done' : errors === '' ? 'killed' : errors;
}

describe('an import that is killed, or has company', () => {
  test('SIGKILL at random places, then again: the same events', async () => {
    const path = join(folder, 'killed.jsonl');
    const text = long(600);
    await writeFile(path, text);
    await using whole = await openReprise({ store: 'memory:', config: false });
    await told(whole, path, 'long');
    const store = `sqlite:${join(folder, 'killed.db')}`;
    const seed = seedOfRun();
    for (let round = 0; round < 3; round++) await importIn(store, path, 1 + ((seed + round * 7) % 6));
    expect(await importIn(store, path)).toBe('done');
    await using reprise = await openReprise({ store, config: false });
    expect(await eventsOf(reprise, 'long'), `seed ${seed}`).toEqual(await eventsOf(whole, 'long'));
    expect(await exported(reprise, 'long')).toBe(text);
    expect((await (await reprise.session('long')).verify({ deep: true })).ok).toBe(true);
  });

  test('two processes that import one session at once store each unit once', async () => {
    const path = join(folder, 'company.jsonl');
    const text = long(300);
    await writeFile(path, text);
    const store = `sqlite:${join(folder, 'company.db')}`;
    expect(await Promise.all([importIn(store, path), importIn(store, path)])).toEqual(['done', 'done']);
    await using reprise = await openReprise({ store, config: false });
    await using whole = await openReprise({ store: 'memory:', config: false });
    await told(whole, path, 'long');
    expect(await eventsOf(reprise, 'long')).toEqual(await eventsOf(whole, 'long'));
    expect(await exported(reprise, 'long')).toBe(text);
  });
});

describe('a file that changes while it is read', () => {
  test('grows, is cut off, or is written anew: the next import brings what is there then', async () => {
    await using reprise = await openReprise({ store: 'memory:', config: false });
    const text = long(900);
    const lines = text.trimEnd().split('\n');
    const more = long(905).slice(text.length);
    const changes: readonly (readonly [string, (path: string) => Promise<void>])[] = [
      ['grows', (path) => appendFile(path, more)],
      ['is cut off', (path) => truncate(path, lines.slice(0, 700).join('\n').length + 1)],
      ['is written anew', (path) => writeFile(path, `${lines.slice(0, 100).join('\n')}\n${more}`)],
    ];
    for (const [name, change] of changes) {
      const path = join(folder, `changing-${++count}.jsonl`);
      await writeFile(path, text);
      let changed: Promise<void> | undefined;
      const id = `changing-${count}`;
      await reprise.import(path, { session: id, onProgress: () => void (changed ??= change(path)) });
      await changed;
      expect(['extended', 'branched', 'unchanged'], name).toContain(await told(reprise, path, id));
      expect(await told(reprise, path, id), name).toBe('unchanged');
      const now = await readFile(path, 'utf8');
      const { children } = await (await reprise.session(id)).tree();
      const all = await Promise.all(
        ['main', ...children.map(({ branch }) => branch)].map((branch) => exported(reprise, `${id}/${branch}`)),
      );
      expect(
        all.some((each) => each === now || each.startsWith(now)),
        name,
      ).toBe(true);
      expect((await (await reprise.session(id)).verify()).ok).toBe(true);
    }
  });
});

describe('a full disk', () => {
  test('stops an import with store.full; with room again, it goes on to the same bytes', async () => {
    const path = join(folder, 'full.jsonl');
    const text = long(500);
    await writeFile(path, text);
    const seen = watchConnections();
    try {
      await using reprise = await openReprise({ store: `sqlite:${join(folder, 'full.db')}`, config: false });
      const [connection] = seen.open();
      connection?.exec('PRAGMA max_page_count = 60');
      await expect(reprise.import(path, { session: 'long' })).rejects.toMatchObject({ code: 'store.full' });
      connection?.exec('PRAGMA max_page_count = 1000000');
      expect(['extended', 'imported', 'branched']).toContain(await told(reprise, path, 'long'));
      expect(await exported(reprise, 'long')).toBe(text);
    } finally {
      seen.stop();
    }
  });

  test('stops the export of a bundle with store.full and leaves nothing behind', async (context) => {
    const disk = mountSmallDisk(400_000);
    if (typeof disk === 'string') return context.skip(disk);
    try {
      await using reprise = await openReprise({ store: 'memory:', config: false });
      const path = join(folder, 'bundled.jsonl');
      await writeFile(path, long(500));
      await told(reprise, path, 'long');
      for (const to of [join(disk.path, 'one'), join(disk.path, 'one.tgz')])
        await expect(reprise.exportBundle('long', { to })).rejects.toMatchObject({ code: 'store.full' });
      expect(await readdir(disk.path)).toEqual([]);
    } finally {
      disk[Symbol.dispose]();
    }
  });
});

test('of 10,000 files of which three are broken, the rest is imported, the three are named, and the exit code is 1', async () => {
  using place = new Place(undefined, { isFile: true });
  const runs = join(place.folder, 'runs');
  const broken = ['run-17.json', 'run-4711.json', 'run-9999.json'];
  for (let part = 0; part < 100; part++) {
    const at = join(runs, `${part}`);
    await mkdir(at, { recursive: true });
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const name = `run-${part * 100 + index}.json`;
        const good = {
          trace_id: name,
          metadata: {},
          events: [{ type: 'run_started', message: '', payload: { prompt: name } }],
        };
        const text = broken.includes(name) ? '{"trace_id": 7, "metadata": {}, "events": []}' : JSON.stringify(good);
        return writeFile(join(at, name), text);
      }),
    );
  }
  const { code, stdout, stderr } = await place.run(['import', 'runs', '--json=object'], {});
  const { imported, failed } = JSON.parse(stdout) as { imported: unknown[]; failed: { file: string }[] };
  expect([code, imported.length, stderr]).toEqual([1, 9_997, '']);
  expect(failed.map(({ file }) => file.replace(/.*\//, '')).sort()).toEqual(broken.sort());
});
