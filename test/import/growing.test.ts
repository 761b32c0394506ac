import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversation, type Imported, openReprise, type Reprise, type Session } from '../../src/index.ts';
import { claudeLine, claudeWork, sources } from './sources.ts';

let directory = '';
let reprise: Reprise;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-growing-'));
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(async () => {
  await reprise.close();
  await rm(directory, { recursive: true, force: true });
});

async function read(session: string, text: string, format: string): Promise<Imported> {
  const path = join(directory, `${session}.jsonl`);
  await writeFile(path, text);
  for await (const each of reprise.importAll(path, { session, format })) {
    if ('error' in each) throw each.error;
    return each;
  }
  throw new Error('nothing was told');
}

const exported = async (ref: string, format: string): Promise<string> =>
  Buffer.from((await reprise.at(ref).export({ format }).files()).files[0]?.bytes ?? []).toString();

/** Returns how each branch behaved, and the bytes that the session exports. */
async function held(session: string, { branches, format }: Imported): Promise<readonly string[]> {
  const opened = await reprise.session(session);
  const prints = await Promise.all(branches.map((branch) => opened.at(branch).fingerprint()));
  return [...prints, await exported(session, format)];
}

/** Returns a text up to the end of each of its lines, and up to the middle of it. */
function lengthsOf(text: string): readonly string[] {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
  const halves = ends.map((end, line) => Math.ceil((end + (ends[line - 1] ?? 0)) / 2));
  // The first lines may not name the session yet.
  const some = [...ends, ...halves].filter((length) => length >= (ends[2] ?? 0));
  return some.sort((a, b) => a - b).map((length) => text.slice(0, length));
}

const inLines = Object.entries(sources).flatMap(([format, all]) =>
  all
    .filter(({ text }) => text.startsWith('{"'))
    .map(({ text }, index) => ({ format, text, name: `${format}-${index}` })),
);

test.each(inLines)('$name: read again and again while it is written, it is the same as read once', async (source) => {
  const { format, text, name } = source;
  const once = await read(`${name}-once`, text, format);
  let last = once;
  for (const part of lengthsOf(text)) last = await read(`${name}-often`, part, format);
  expect(await held(`${name}-often`, last)).toEqual(await held(`${name}-once`, once));
  expect((await read(`${name}-often`, text, format)).outcome).toBe('unchanged');
  expect((await (await reprise.session(`${name}-often`)).verify()).ok).toBe(true);
});

test('a line that was cut off is not written beside the whole one, also after an edit', async () => {
  await read('cut', claudeWork.slice(0, -40), 'claude-code');
  expect((await read('cut', claudeWork, 'claude-code')).outcome).toBe('extended');
  const message = { role: 'user', content: 'And now?' };
  await (await reprise.session('cut')).append([{ type: 'message.added', data: { message } }]);
  const text = await exported('cut', 'claude-code');
  expect([text.startsWith(claudeWork), text.includes('And now?')]).toEqual([true, true]);
});

describe('a source that differs', () => {
  const answer = (id: string, text: string): object =>
    claudeLine('user', id, 'a1', {
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
    });
  const tools = ['r1', 'r2', 'r3'].map((id) => ({ type: 'tool_use', id, name: 'Read', input: {} }));
  const usage = { input_tokens: 10, output_tokens: 5 };
  const beginning = [
    claudeLine('user', 'u1', null, { message: { role: 'user', content: 'Look.' } }),
    claudeLine('assistant', 'a1', 'u1', {
      message: { id: 'm1', role: 'assistant', model: 'm', content: tools, usage },
    }),
    answer('r1', 'one'),
  ];
  const text = (...lines: readonly object[]): string =>
    [...beginning, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');

  test('goes on on one branch, although its lines follow one before it, and ends there too', async () => {
    await read('differs', text(answer('r2', 'two'), answer('r3', 'three')), 'claude-code');
    const changed = text(answer('r2', 'TWO'), answer('r3', 'THREE'));
    const { branches } = await read('differs', changed, 'claude-code');
    expect(branches).toHaveLength(2);
    const own = branches[1] ?? '';
    expect(await exported(`differs/${own}`, 'claude-code')).toBe(changed);
    const once = await read('changed', changed, 'claude-code');
    const [print] = await held('changed', once);
    expect(await (await reprise.session('differs')).at(own).fingerprint()).toBe(print);
    // It goes on there when it is read a third time.
    const grown = `${changed}${JSON.stringify(answer('r4', 'four'))}\n`;
    expect((await read('differs', grown, 'claude-code')).outcome).toBe('extended');
    expect(await exported(`differs/${own}`, 'claude-code')).toBe(grown);
  });
});

test('a document that differs, also around its units, is a branch with all of it', async () => {
  const traceOf = (said: string): string => {
    const events = [
      { type: 'run_started', message: 'Go', payload: { prompt: said } },
      { type: 'run_completed', message: 'Done', payload: { output: said } },
    ];
    return JSON.stringify({ trace_id: 'd', metadata: { agent_name: 'a', said }, events });
  };
  await read('document', traceOf('Hi'), 'shipit');
  const { outcome, branches } = await read('document', traceOf('Ho'), 'shipit');
  expect([outcome, branches.length]).toEqual(['branched', 2]);
  expect(await exported('document', 'shipit')).toBe(traceOf('Hi'));
  expect(await exported(`document/${branches[1] ?? ''}`, 'shipit')).toBe(traceOf('Ho'));
});

describe('a source that goes on after a person changed its history here', () => {
  const asked = (at: number): object =>
    claudeLine('user', `u${at}`, at === 1 ? null : `a${at - 1}`, { message: { role: 'user', content: `Q${at}` } });
  const said = (at: number): object =>
    claudeLine('assistant', `a${at}`, `u${at}`, {
      message: { id: `m${at}`, role: 'assistant', model: 'm', content: [{ type: 'text', text: `A${at}` }] },
    });
  const upTo = (turns: number): string =>
    Array.from({ length: turns }, (_, at) => [asked(at + 1), said(at + 1)])
      .flat()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
  const talk = async (session: string, branch: string): Promise<string> =>
    JSON.stringify(
      (await (await reprise.session(session)).at(branch).fold(conversation)).messages.map((m) => m.message),
    );

  test.each([
    ['branched', 'a rewind', (session: Session) => session.rewind('@turn:1')],
    ['branched', 'a message', (session: Session) => session.append([ownMessage])],
    ['extended', 'a note', (session: Session) => session.append([{ type: 'note.added', data: { text: 'Hm.' } }])],
    [
      'extended',
      'a rewind that was undone',
      async (session: Session) => {
        await session.rewind('@turn:1');
        await session.redo();
      },
    ],
  ] as const)('is %s after %s, and no history mixes both', async (outcome, what, change) => {
    await read(what, upTo(2), 'claude-code');
    const session = await reprise.session(what);
    await change(session);
    const before = await talk(what, 'main');
    const grown = await read(what, upTo(3), 'claude-code');
    expect(grown.outcome).toBe(outcome);
    const last = grown.branches.at(-1) ?? '';
    await read(`${what}, whole`, upTo(4), 'claude-code');
    if (outcome === 'branched') expect(await talk(what, 'main')).toBe(before);
    // It goes on there.
    expect(await read(what, upTo(4), 'claude-code')).toMatchObject({ outcome: 'extended', branches: grown.branches });
    expect(await talk(what, last)).toBe(await talk(`${what}, whole`, 'main'));
    expect((await read(what, upTo(4), 'claude-code')).outcome).toBe('unchanged');
    if (outcome === 'branched') expect(await exported(`${what}/${last}`, 'claude-code')).toBe(upTo(4));
  });
});

const ownMessage = {
  type: 'message.added',
  agent: 'claude-code',
  data: { message: { role: 'user', content: 'And here?' } },
} as const;
