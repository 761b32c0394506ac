import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type Event, openReprise, type Reprise } from '../../src/index.ts';
import { claudeLine } from './sources.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-stretches-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const lineOf = (at: number, more: object = {}): string => {
  const text = `Line ${at} says that the pool waits for a connection that nobody gives back, ever, at all.`;
  const message =
    at % 2 === 0
      ? { role: 'user', content: text }
      : { id: `msg_${at}`, type: 'message', role: 'assistant', model: 'm-1', content: [{ type: 'text', text }] };
  const type = at % 2 === 0 ? 'user' : 'assistant';
  const line = claudeLine(type, `u${at}`, at === 0 ? null : `u${at - 1}`, { message, ...more }, at % 60);
  return `${JSON.stringify(line)}\n`;
};
const linesOf = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => lineOf(from + at)).join('');

async function eventsOf(reprise: Reprise, id: string): Promise<readonly Event[]> {
  return Array.fromAsync((await reprise.session(id)).replay());
}

async function exported(reprise: Reprise, id: string): Promise<string> {
  const { files } = await reprise.at(id).export({ format: 'claude-code' }).files();
  return Buffer.from(files[0]?.bytes ?? []).toString();
}

const textOf = ({ data }: Event): unknown => (data['foreign'] as JsonObject | undefined)?.['text'];
const usesStretch = (event: Event): boolean => {
  const text = textOf(event);
  return Array.isArray(text) && text.some((piece) => typeof piece === 'number');
};

test('a long source keeps what its units repeat once, on every branch, and comes back byte for byte', async () => {
  const path = join(directory, 'long.jsonl');
  // A second prompt after the first answer is a fork, far behind the units that the stretches were found in.
  const source = `${linesOf(0, 240)}${lineOf(240, { parentUuid: 'u1' })}${lineOf(241)}`;
  await writeFile(path, source);
  await using reprise = await openReprise({ store: 'memory:', config: false });
  const { id } = await reprise.import(path);
  const events = await eventsOf(reprise, id);
  expect(events.filter(({ data }) => Array.isArray(data['stretches']))).toHaveLength(1);
  expect(events.slice(0, 3).some(({ data }) => Array.isArray(data['stretches']))).toBe(true);
  expect(events.filter(usesStretch).length).toBeGreaterThan(100);
  const last = textOf(events.findLast(usesStretch) as Event);
  expect(JSON.stringify(last).length).toBeLessThan(160);
  expect(await exported(reprise, id)).toBe(source);
  const told = (await reprise.importAll(path).next()).value;
  expect(told).toMatchObject({ outcome: 'unchanged' });
  const branch = (await (await reprise.session(id)).toJSON()).branches
    .map(({ branch: name }) => name)
    .find((name) => name !== 'main');
  expect(await exported(reprise, `${id}/${branch}`)).toBe(
    [lineOf(0), lineOf(1), lineOf(240, { parentUuid: 'u1' }), lineOf(241)].join(''),
  );
});

test('a source that grew goes on with the stretches that it has', async () => {
  const path = join(directory, 'grown.jsonl');
  await writeFile(path, linesOf(0, 120));
  const store = `sqlite:${join(directory, 'grown.db')}`;
  {
    await using reprise = await openReprise({ store, config: false });
    await reprise.import(path);
  }
  await appendFile(path, linesOf(120, 150));
  await using reprise = await openReprise({ store, config: false });
  const { id } = await reprise.import(path);
  const events = await eventsOf(reprise, id);
  expect(events.filter(({ data }) => Array.isArray(data['stretches']))).toHaveLength(1);
  expect(events.slice(-20).some(usesStretch)).toBe(true);
  expect(await exported(reprise, id)).toBe(linesOf(0, 150));
  expect((await reprise.importAll(path).next()).value).toMatchObject({ outcome: 'unchanged' });
});

test('an erasure of a text that a stretch holds takes that stretch, and no unit comes back wrong', async () => {
  const path = join(directory, 'erased.jsonl');
  const file = join(directory, 'erased.db');
  const project = '/srv/the-project-of-alice';
  const source = linesOf(0, 140).replaceAll('/srv/app', project);
  await writeFile(path, source);
  {
    await using reprise = await openReprise({ store: `sqlite:${file}`, config: false });
    const session = await reprise.import(path);
    expect((await eventsOf(reprise, session.id)).filter(usesStretch).length).toBeGreaterThan(20);
    const [note] = await session.append({ type: 'note.written', data: { text: project } });
    await session.erase({ branch: 'main', seq: note?.seq ?? 0 });
    const left = await exported(reprise, session.id);
    for (const line of left.split('\n').filter((each) => each !== '')) expect(source).not.toContain(line);
  }
  expect(await readFile(file, 'latin1')).not.toContain(project);
});

test('a masked import keeps every text in view of the mask', async () => {
  const path = join(directory, 'masked.jsonl');
  const key = `sk-ant-api03-${'k3y'.repeat(12)}`;
  await writeFile(path, linesOf(0, 140).replaceAll('"gitBranch":"main"', `"gitBranch":"${key}"`));
  const file = join(directory, 'masked.db');
  {
    await using reprise = await openReprise({ store: `sqlite:${file}`, config: false });
    await reprise.import(path, { mask: true });
  }
  expect(await readFile(file, 'latin1')).not.toContain(key);
});
