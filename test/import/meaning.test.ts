import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Span, spanEvents } from '../../src/adapters/import/pieces/span-events.ts';
import {
  conversation,
  type Event,
  type Imported,
  type ImportOptions,
  openReprise,
  type Reprise,
  type Session,
  summary,
} from '../../src/index.ts';
import { samplePath } from './samples.ts';
import { claudeFork, claudeLine, claudeWork, pieces, sources } from './sources.ts';

let reprise: Reprise;
beforeAll(async () => {
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(() => reprise.close());

let count = 0;
async function told(text: string, options: ImportOptions = {}): Promise<Imported> {
  for await (const each of reprise.importAll(pieces(text), { session: `s${++count}`, ...options })) {
    if ('error' in each) throw each.error;
    return each;
  }
  throw new Error('nothing was told');
}

async function session(text: string, options: ImportOptions = {}): Promise<Session> {
  return reprise.session((await told(text, options)).session);
}

const sourceOf = (format: string, index = 0): string => sources[format]?.[index]?.text ?? '';

async function saidOn(found: Session, at = 'main'): Promise<string[]> {
  const { messages } = await found.at(at).fold(conversation);
  return messages.map(({ message }) => `${String(message?.['role'])}: ${textIn(message?.['content']).slice(0, 30)}`);
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = content as { type: string; text?: string; toolName?: string; output?: unknown }[];
  return parts.map((part) => part.text ?? part.toolName ?? String(part.output)).join('+');
}

async function eventsOf(found: Session, ...types: string[]): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of found.replay({ filter: { types } })) events.push(event);
  return events;
}

describe('Claude Code', () => {
  test('two prompts after one message are a fork at that message; the line between them makes no fork', async () => {
    const { branches, session: id } = await told(claudeFork);
    expect(branches).toHaveLength(2);
    const found = await reprise.session(id);
    const [, other = ''] = branches;
    expect((await saidOn(found)).at(-1)).toBe('assistant: Done.');
    expect(await saidOn(found, other)).toEqual([
      'user: Why does the build fail?',
      'assistant: The connection pool is exhaust',
      'user: Only explain it.',
      'assistant: It is the pool.',
    ]);
    expect((await found.at(other).fold(conversation)).openCalls).toEqual([]);
    // Each response ends on the branch that it is on.
    expect((await found.fold(conversation)).openCalls).toEqual([]);
    expect((await found.fold(summary)).spending.outputTokens).toBe(5 + 3);
    expect((await found.at(other).fold(summary)).spending.outputTokens).toBe(5 + 4);
  });

  test('two responses of different ids after one message are a fork; the lines of one response make no fork', async () => {
    const said = (uuid: string, parent: string, id: string, text: string): object =>
      claudeLine('assistant', uuid, parent, {
        message: { id, model: 'claude-sonnet-4', role: 'assistant', content: [{ type: 'text', text }], usage: {} },
      });
    const lines = [
      claudeLine('user', 'u1', null, { message: { role: 'user', content: 'Why?' } }),
      said('a1', 'u1', 'm1', 'Because'),
      said('a2', 'a1', 'm1', 'of that.'),
      said('b1', 'u1', 'm2', 'Nobody knows.'),
    ];
    const { branches, session: id } = await told(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    const found = await reprise.session(id);
    expect(await Promise.all(branches.map((branch) => saidOn(found, branch)))).toEqual([
      ['user: Why?', 'assistant: Because', 'assistant: of that.'],
      ['user: Why?', 'assistant: Nobody knows.'],
    ]);
  });

  test('parallel tool calls and progress lines share parents and are no forks; results pair with their calls', async () => {
    const { branches, session: id } = await told(claudeWork);
    expect(branches).toEqual(['main']);
    const found = await reprise.session(id);
    const ends = await eventsOf(found, 'call.ended');
    expect(ends.filter(({ data }) => data['kind'] === 'tool').map(({ data }) => [data['call'], data['name']])).toEqual([
      ['t1', 'Read'],
      ['t2', 'Bash'],
      ['t3', 'Edit'],
    ]);
    expect(ends.every(({ cause }) => cause !== undefined)).toBe(true);
  });

  test('usage counts once a response, from its last line, and has its price', async () => {
    const { spending } = await (await session(claudeWork)).fold(summary);
    expect(spending).toMatchObject({ inputTokens: 4 * 1107, outputTokens: 90 + 20 + 3 + 6 });
    expect(spending.cost).toBeGreaterThan(0);
  });

  test('the tokens of a real session are those of the last lines of its responses', async () => {
    const path = samplePath('claude-code/edits.jsonl');
    if (path === undefined) return console.warn('There are no real files beside this checkout.');
    const last = new Map<string, number>();
    for (const line of (await readFile(path, 'utf8')).trim().split('\n')) {
      const { message, isSidechain } = JSON.parse(line) as {
        message?: { id?: string; usage?: { output_tokens: number } };
        isSidechain?: boolean;
      };
      if (isSidechain !== true && message?.id !== undefined) last.set(message.id, message.usage?.output_tokens ?? 0);
    }
    const found = await reprise.import(path, { session: `s${++count}` });
    const { spending } = await found.fold(summary);
    expect(spending.outputTokens).toBe([...last.values()].reduce((sum, tokens) => sum + tokens, 0));
  });

  test('title, git branch and agents fill a listing', async () => {
    const found = await (await session(claudeWork)).fold(summary);
    expect(found).toMatchObject({
      title: 'Fix the pool.',
      git: { branch: 'main' },
      agents: ['ab12', 'claude-code'],
      startedAt: '2026-01-14T01:05:01.000Z',
    });
  });

  test('after a compaction the conversation is what the model saw', async () => {
    expect(await saidOn(await session(claudeWork))).toEqual([
      'user: So far: The connection pool is',
      'assistant: It works.',
    ]);
  });

  test('an edit is a patched file with the contents that the transcript carries, and a test command is one', async () => {
    const found = await session(claudeWork);
    const [patched] = await eventsOf(found, 'file.patched');
    expect(patched?.data).toMatchObject({ path: '/app/pool.ts', before: 'export const size = 1;\n'.repeat(4) });
    expect(patched?.data['patch']).toContain('+export const size = 2;');
    expect((await eventsOf(found, 'tests.ran')).map(({ data }) => [data['command'], data['exitCode']])).toEqual([
      ['npm test', 1],
    ]);
  });

  test('what the source repeats is kept once: the file that a tool showed has holes for its text', async () => {
    const [shown] = (await eventsOf(await session(claudeWork), 'call.ended')).filter(
      ({ data }) => data['call'] === 't1',
    );
    const text = JSON.stringify(shown?.data['foreign']);
    expect(text).not.toContain('milliseconds');
    expect(text).toContain('unnumbered');
  });

  test('an unknown type is kept with a warning, and found by its foreign type, whatever its letters', async () => {
    const odd = JSON.stringify(claudeLine('Ärger/new type 😀', 'z1', 'a2', {}));
    const { session: id, kept, warnings } = await told(`${claudeFork}${odd}\n`);
    expect([kept, warnings]).toEqual([2, [{ file: '', at: 7, message: 'its type "Ärger/new type 😀" is not known' }]]);
    const fields = [{ key: 'foreign.type', pattern: '^Ärger' }];
    expect(await (await reprise.session(id)).find({ fields })).toBeDefined();
  });

  test('a unit whose id was used before is kept, and one whose meaning cannot be stored as well', async () => {
    const twice = claudeFork.split('\n')[1] ?? '';
    const half = JSON.stringify(claudeLine('user', 'z1', 'a3', { message: { role: 'user', content: '\ud83d' } }));
    const text = `${claudeFork}${twice}\n${half}\n`;
    const { session: id, warnings } = await told(text);
    expect(warnings.map(({ at, message }) => [at, message.replace(/:.*/, '')])).toEqual([
      [7, 'its id "a1" was used before'],
      [8, 'its meaning was not stored'],
    ]);
    expect(await reprise.at(id).export({ format: 'claude-code' }).text()).toBe(text);
  });
});

describe('others', () => {
  test('a rollback of Codex is a rewind, and its compaction replaces the messages', async () => {
    const found = await session(sourceOf('codex'));
    const compacted = await found.find({ fields: [{ key: 'foreign.type', pattern: '^compacted$' }] });
    const { seq } = (await compacted?.locate()) ?? { seq: 0 };
    const before = await saidOn(found, `main@${seq - 1}`);
    expect(before.filter((line) => line.startsWith('user'))).toEqual([
      'user: <environment_context>\n  <cwd>/',
      'user: Fix the pool.',
      'user: Thank you.',
    ]);
    expect(await saidOn(found)).toEqual(['user: Fix the pool.', 'user: The connection pool is exhaust']);
    expect((await found.fold(summary)).git).toEqual({ branch: 'main', sha: 'd002f64f' });
  });

  test('a rollout of Codex that begins in a different file says so', async () => {
    const base = { thread_id: 'codex-0', end_ordinal_exclusive: 9 };
    const [meta = '', ...rest] = sourceOf('codex').split('\n');
    const first: unknown = JSON.parse(meta, (key, value: object) =>
      key === 'payload' ? { ...value, id: 'codex-forked', history_base: base } : value,
    );
    const { warnings, session: id } = await told([JSON.stringify(first), ...rest].join('\n'));
    const message = 'the messages before it are in the file of the session "codex-0", not here';
    expect(warnings).toContainEqual({ file: '', at: 0, message });
    expect(await (await reprise.session(id)).metadata()).toMatchObject({ continues: 'codex-0' });
  });

  test('the tokens of Codex count once, however often they are written', async () => {
    const { spending } = await (await session(sourceOf('codex'))).fold(summary);
    expect(spending).toMatchObject({ inputTokens: 300, outputTokens: 50 });
  });

  test('a rewind of Gemini takes a message back', async () => {
    expect((await saidOn(await session(sourceOf('gemini-cli', 1)))).filter((line) => line.startsWith('user'))).toEqual([
      'user: Add a line to notes.txt.',
      'user: No, two more.',
    ]);
  });

  test('a unit without a time has that of the one before it; the first have that of the source', async () => {
    for (const format of ['pi', 'copilot-cli', 'gemini-cli', 'claude-code']) {
      const times: string[] = [];
      for await (const { time } of (await session(sourceOf(format))).replay()) times.push(time);
      expect(
        times.every((time) => time.startsWith('2026-01-14T01:05:')),
        format,
      ).toBe(true);
    }
  });

  test('a tree of pi forks where two prompts follow one message; a compaction keeps the last messages', async () => {
    const { session: id, branches } = await told(sourceOf('pi'));
    expect(branches).toHaveLength(2);
    const found = await reprise.session(id);
    expect(await saidOn(found, branches[1])).toEqual([
      'user: The pool was fixed.',
      'assistant: Fixed.',
      'user: Explain it.',
    ]);
  });

  test('the result of a task of Bernstein is the result of its end, and the task can be retried', async () => {
    const found = await session(sourceOf('bernstein', 1));
    const [ended] = await eventsOf(found, 'task.ended');
    expect(ended?.data).toMatchObject({ task: 'T-1', outcome: 'ok', result: 'Fixed.' });
    const { original, branch } = await found.retry(async ({ prompt }) => String(prompt?.content), { task: 'T-1' });
    expect(original).toMatchObject({ task: 'T-1', text: 'Fixed.' });
    const again: Event[] = [];
    for await (const event of found.at(branch).replay({ filter: { types: ['task.ended'] } })) again.push(event);
    expect(String(again.at(-1)?.data['result'])).toContain('The connection pool is exhausted');
  });

  test('spans become runs, model calls with their messages, and tool calls', async () => {
    const found = await session(sourceOf('otlp'));
    const [asked] = await eventsOf(found, 'call.started');
    expect(asked?.data).toMatchObject({ kind: 'model', name: 'gpt-4o', request: { messages: [{ role: 'user' }] } });
    expect((await eventsOf(found, 'call.ended')).map(({ data }) => [data['kind'], data['outcome']])).toEqual([
      ['model', 'ok'],
      ['tool', 'ok'],
    ]);
  });

  test('many spans inside one, and spans many levels deep, take no more than a look at each', () => {
    const many = 20_000;
    const spans = (parent: (at: number) => string): Span[] =>
      Array.from({ length: many }, (_, at) => ({ id: `${at}`, parent: parent(at), kind: 'tool', name: 'look' }));
    const wide = spanEvents(spans((at) => (at === 0 ? '' : '0')));
    const deep = spanEvents(spans((at) => `${at - 1}`));
    for (const events of [wide, deep]) expect([events.length, events.at(-1)?.data?.['call']]).toEqual([2 * many, '0']);
    expect(deep[many]?.data?.['call']).toBe(`${many - 1}`);
  });

  test('a session of spans begins when its first span does, however its time is written', async () => {
    for (const startTime of [[1770131992, 242000000], 1770131992242000000, '2026-02-03T15:19:52.242Z']) {
      const span = { name: 'chat', spanContext: { traceId: 't', spanId: 's' }, attributes: {}, startTime };
      const found = await session(JSON.stringify([span]));
      const [imported] = await eventsOf(found, 'session.imported');
      expect(imported?.time).toBe('2026-02-03T15:19:52.242Z');
    }
  });
});
