/** Imports withstand kills, company, full disks, and sources that change: one answer each. */
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
import { claudeLine } from './sources.ts';

let folder = '';
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-withstand-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns a session of Claude Code of so many turns; now and then its person goes back and asks something else. */
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
  const { files } = await reprise.at(session).export({ format: 'claude-code' }).files();
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
    for await (const { id: own, type, turn, data } of session.at(at).replay({ history: 'raw' }) as AsyncIterable<Event>)
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
    const text = long(320);
    await writeFile(path, text);
    await using whole = await openReprise({ store: 'memory:', config: false });
    await told(whole, path, 'long');
    const store = `sqlite:${join(folder, 'killed.db')}`;
    const seed = seedOfRun();
    for (let round = 0; round < 2; round++) await importIn(store, path, 1 + ((seed + round * 7) % 6));
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
    const text = long(330);
    const lines = text.trimEnd().split('\n');
    const more = long(335).slice(text.length);
    const changes: readonly (readonly [string, (path: string) => Promise<void>])[] = [
      ['grows', (path) => appendFile(path, more)],
      ['is cut off', (path) => truncate(path, lines.slice(0, 500).join('\n').length + 1)],
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
        await expect((await reprise.session('long')).exportBundle({ to })).rejects.toMatchObject({
          code: 'store.full',
        });
      expect(await readdir(disk.path)).toEqual([]);
    } finally {
      disk[Symbol.dispose]();
    }
  });
});

// 10,000 with REPRISE_RUNS set, as for the other long tests.
const manyFiles = process.env['REPRISE_RUNS'] === undefined ? 600 : 10_000;

test('of a folder of many files of which three are broken, the rest is imported and the three are named', async () => {
  const runs = join(folder, 'runs');
  const broken = [17, 311, manyFiles - 1].map((at) => `run-${at}.json`);
  for (let at = 0; at < manyFiles; at++) {
    const [name, part] = [`run-${at}.json`, join(runs, `${at % 20}`)];
    if (at < 20) await mkdir(part, { recursive: true });
    const events = [{ type: 'run_started', message: '', payload: { prompt: name } }];
    const bad = '{"trace_id": 7, "metadata": {}, "events": []}';
    await writeFile(
      join(part, name),
      broken.includes(name) ? bad : JSON.stringify({ trace_id: name, metadata: {}, events }),
    );
  }
  await using reprise = await openReprise({ store: 'memory:', config: false });
  const [named, done]: [string[], Set<string>] = [[], new Set()];
  for await (const each of reprise.importAll(runs)) {
    if ('error' in each) named.push(each.path.replace(/.*\//, ''));
    else done.add(each.session);
  }
  expect([done.size, named.sort()]).toEqual([manyFiles - 3, broken.sort()]);
});

test('an import that goes on after one that stored no unit stores what one alone would', async () => {
  const path = join(folder, 'begun.jsonl');
  await writeFile(path, long(120));
  async function* torn() {
    yield `${long(1)}{"half":"${'a line that does not end '.repeat(3_000)}`;
    throw new Error('The pipe broke.');
  }
  await using alone = await openReprise({ store: 'memory:', config: false });
  await using begun = await openReprise({ store: 'memory:', config: false });
  await expect(begun.import(torn(), { session: 'begun' })).rejects.toThrow('The pipe broke.');
  for (const reprise of [alone, begun]) await told(reprise, path, 'begun');
  expect(await eventsOf(begun, 'begun')).toEqual(await eventsOf(alone, 'begun'));
});

test('of a folder, empty and torn files beside the sources are named, and files of other kinds are passed over', async () => {
  const runs = join(folder, 'mixed');
  await mkdir(runs, { recursive: true });
  const events = [{ type: 'run_started', message: '', payload: { prompt: 'Why?' } }];
  const files = {
    'run.json': JSON.stringify({ trace_id: 'whole', metadata: {}, events }),
    'empty.json': '',
    'torn.json': '{"half": "of someth',
    'package.json': '{"name":"mine"}',
    'notes.md': 'Not a run.',
    'garbage.jsonl': 'No tool left a session of lines here.',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(runs, name), text);
  await using reprise = await openReprise({ store: 'memory:', config: false });
  const told: string[] = [];
  for await (const each of reprise.importAll(runs))
    told.push('error' in each ? each.error.message.replace(/"[^"]*\//, '"') : each.session);
  expect(told).toEqual([
    'whole',
    'Cannot import "empty.json": it is empty',
    'Cannot import "torn.json": it is not JSON',
  ]);
});

test.each([
  ['lines', `${JSON.stringify(claudeLine('user', 'u1', null, { message: { role: 'user', content: 'Süß?' } }))}\r\n`],
  ['a document', JSON.stringify({ trace_id: 'süß', metadata: {}, events: [] }, null, 2)],
])('an import counts the bytes of its file: %s', async (name, text) => {
  const path = join(folder, `${name.replace(' ', '-')}.json`);
  await writeFile(path, text);
  await using reprise = await openReprise({ store: 'memory:', config: false });
  for await (const each of reprise.importAll(path))
    expect(each).toMatchObject({ outcome: 'imported', bytes: Buffer.byteLength(text) });
  expect.assertions(1);
});
