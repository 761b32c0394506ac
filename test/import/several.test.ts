import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { conversation, type Imported, openReprise, type Reprise, summary } from '../../src/index.ts';
import { claudeLine } from './sources.ts';

let directory = '';
let reprise: Reprise;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-several-'));
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(async () => {
  await reprise.close();
  await rm(directory, { recursive: true, force: true });
});

async function written(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  return directory;
}

async function imported(path: string): Promise<Imported[]> {
  const told: Imported[] = [];
  for await (const each of reprise.importAll(path)) {
    if ('error' in each) throw each.error;
    told.push(each);
  }
  return told;
}

const lines = (...values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const talk = (text: string): object => ({ messages: [{ role: 'user', content: text }] });
const action = (id: number, content: string): object => ({
  id,
  timestamp: `2026-01-14T01:05:${10 + id}.000000`,
  source: id === 0 ? 'user' : 'agent',
  action: 'message',
  args: { content },
});

async function textsOf(session: string): Promise<unknown[]> {
  const { messages } = await (await reprise.session(session)).fold(conversation);
  return messages.map(({ message }) => message?.['content']);
}

test('a file in which each line is a source becomes a session a line; together they give the file back', async () => {
  const sources = {
    'talks.jsonl': [lines(talk('One?'), talk('Two?'), talk('Three?')), 'messages', ['talks', 'talks-2', 'talks-3']],
    'output.jsonl': [
      lines(
        { instance_id: 'case-1', history: [action(0, 'One?'), action(1, 'Yes.')] },
        { instance_id: 'case-2', history: [action(0, 'Two?')] },
      ),
      'openhands',
      ['case-1', 'case-2'],
    ],
  } as const;
  for (const [name, [text, format, sessions]] of Object.entries(sources)) {
    const path = join(await written({ [name]: text }), name);
    expect((await imported(path)).map(({ session, outcome }) => [session, outcome])).toEqual(
      sessions.map((session) => [session, 'imported']),
    );
    const texts = await Promise.all(sessions.map((session) => reprise.at(session).export({ format }).text()));
    expect(texts.join('')).toBe(text);
    expect((await imported(path)).map(({ outcome }) => outcome)).toEqual(sessions.map(() => 'unchanged'));
    await expect(reprise.import(path)).rejects.toMatchObject({ code: 'import.invalid' });
  }
  expect(await textsOf('talks-2')).toEqual(['Two?']);
  expect(await textsOf('case-1')).toEqual(['One?', 'Yes.']);
});

test('a file in which each line is a source is followed line by line', async () => {
  const path = join(await written({ 'followed.jsonl': lines(talk('One?'), talk('Two?')) }), 'followed.jsonl');
  const stop = new AbortController();
  const told: unknown[] = [];
  for await (const each of reprise.importAll(path, { follow: true, signal: stop.signal })) {
    told.push('error' in each ? each.error.message : [each.session, each.outcome]);
    if (told.length === 2) stop.abort();
  }
  expect(told).toEqual([
    ['followed', 'imported'],
    ['followed-2', 'imported'],
  ]);
});

test('the events of OpenHands that are files of their own are one session for each conversation', async () => {
  const events = (name: string): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: 12 }, (_, id) => [
        `runs/${name}/events/${id}.json`,
        JSON.stringify(action(id, `${name} ${id}`)),
      ]),
    );
  await written({
    ...events('first'),
    ...events('second'),
    'runs/first/event_cache/0-2.json': JSON.stringify([action(0, 'first 0'), action(1, 'first 1')]),
  });
  const told = await imported(join(directory, 'runs'));
  expect(told.map(({ session, outcome, kept }) => [session, outcome, kept])).toEqual([
    ['first', 'imported', 2],
    ['second', 'imported', 0],
  ]);
  expect(await textsOf('second')).toEqual(Array.from({ length: 12 }, (_, id) => `second ${id}`));
});

test('sources of a folder that share a name and have no id of their own are no branches of each other', async () => {
  const trace = (id: string): string =>
    JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: id, spanId: id, name: id }] }] }] });
  await written({
    'same/a/trace.json': trace('a1'),
    'same/b/trace.json': trace('b1'),
    'same/b/other.json': trace('c'),
  });
  const told = await imported(join(directory, 'same'));
  expect(told.map(({ session, outcome }) => [session, outcome])).toEqual([
    ['a-trace.json', 'imported'],
    ['other', 'imported'],
    ['b-trace.json', 'imported'],
  ]);
});

test('a source that was imported under its own name stays that session when a folder has a second one of its name', async () => {
  const runs = await written({
    'grown/a/run.json': JSON.stringify(talk('One?')),
    'grown/a/all.jsonl': lines(talk('Two?'), talk('Three?')),
  });
  const told = async (): Promise<readonly unknown[]> =>
    (await imported(join(runs, 'grown'))).map(({ session, outcome }) => [session, outcome]);
  expect(await told()).toEqual([
    ['all', 'imported'],
    ['all-2', 'imported'],
    ['run', 'imported'],
  ]);
  await written({
    'grown/b/run.json': JSON.stringify(talk('Four?')),
    'grown/b/all.jsonl': lines(talk('Five?'), talk('Six?')),
  });
  const second = [
    ['all', 'unchanged'],
    ['all-2', 'unchanged'],
    ['run', 'unchanged'],
    ['b-all.jsonl', 'imported'],
    ['b-all.jsonl-2', 'imported'],
    ['b-run.json', 'imported'],
  ];
  expect(await told()).toEqual(second);
  expect(await told()).toEqual(second.map(([session]) => [session, 'unchanged']));
  expect([await textsOf('all'), await textsOf('b-all.jsonl'), await textsOf('b-run.json')]).toEqual([
    ['Two?'],
    ['Five?'],
    ['Four?'],
  ]);
});

test('a file whose name cannot be an id has one session, however often it is imported', async () => {
  const text = JSON.stringify(talk('One?'));
  for (const name of ['latest.json', 'list.json', 'odd\nname.json', `${'long'.repeat(60)}.json`]) {
    const path = join(await written({ [name]: text }), name);
    const [first, again] = [await imported(path), await imported(path)];
    expect([first[0]?.outcome, again[0]?.outcome]).toEqual(['imported', 'unchanged']);
    expect(first[0]?.session).toMatch(/^(?:latest|list|odd-name|long(?:long)+)-[0-9a-f]{12}$/);
  }
});

test('of a folder, JSON that only has some words of a format is passed over', async () => {
  const folder = 'project';
  const files: Readonly<Record<string, unknown>> = {
    'users.json': { users: [{ name: 'Ada', role: 'admin' }], page: { content: 'x' } },
    'openapi.json': { paths: { '/u': { get: { content: { schema: { properties: { role: {} } } } } } } },
    'one.json': { trace_id: 'abc', msg: 'x' },
    'numbers.json': { service: 'x', events: [1, 2] },
    'weather.json': { observations: [1, 2] },
    'job.json': { run_type: 'nightly', start_time: '10:00' },
    'place.json': { spanId: '1', traceId: '2', attributes: {} },
    'config.json': { log: { level: 'info' }, entries: [1] },
    'event.json': { kind: 'MessageEvent', llm_message: { role: 'user', content: 'Hi' } },
    'talk.json': talk('Hi'),
  };
  for (const [name, value] of Object.entries(files)) await written({ [`${folder}/${name}`]: JSON.stringify(value) });
  const log = lines({ level: 'info', trace_id: 'abc' }, { level: 'info', trace_id: 'abd' });
  await written({ [`${folder}/app.jsonl`]: log, [`${folder}/x.yml`]: 'interactions: []\nrequest: x\n' });
  expect((await imported(join(directory, folder))).map(({ session }) => session)).toEqual(['talk']);
});

test('text around the units of a document that cannot be read gives a warning', async () => {
  const path = join(await written({ 'odd.json': `${JSON.stringify(talk('One?'), null, 1)}\nand more\n` }), 'odd.json');
  const [told] = await imported(path);
  expect(told?.warnings).toEqual([
    { file: '', at: 1, message: 'the text around its units was not read: it is not JSON' },
  ]);
});

test('a sub-agent of Claude Code whose lines are in a file and in lines of progress spoke once', async () => {
  const said = { id: 'm1', model: 'claude-opus-4-5', role: 'assistant', content: [{ type: 'text', text: 'Found.' }] };
  const message = { ...said, usage: { input_tokens: 10, output_tokens: 5 } };
  const inner = { type: 'assistant', uuid: 'x1', timestamp: '2026-01-14T01:05:02.000Z', message };
  const name = 'claude/sub.jsonl';
  await written({
    [name]: lines(
      claudeLine('user', 'u1', null, { sessionId: 'sub', message: { role: 'user', content: 'Look.' } }),
      claudeLine('progress', 'p1', 'u1', {
        sessionId: 'sub',
        data: { type: 'agent_progress', agentId: 'ab1', message: inner },
      }),
    ),
    'claude/sub/subagents/agent-ab1.jsonl': lines(
      claudeLine('assistant', 'x1', null, { sessionId: 'sub', isSidechain: true, agentId: 'ab1', message }),
    ),
  });
  const [told] = await imported(join(directory, name));
  const { spending, agents } = await (await reprise.session(told?.session ?? '')).fold(summary);
  expect([spending.outputTokens, agents]).toEqual([5, ['ab1', 'claude-code']]);
});
