/** A rollout of Codex may go on from a different one: `history_base` names that one, and the point. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { conversation, type Imported, limits, openReprise, type Reprise, summary } from '../../src/index.ts';

let directory = '';
let reprise: Reprise;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-base-'));
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterEach(async () => {
  await reprise.close();
  await rm(directory, { recursive: true, force: true });
});

interface Rollout {
  readonly id: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** The ordinal of its first line. */
  readonly from: number;
}

type Line = readonly [type: string, payload: object];

const message = (role: string, text: string): Line => [
  'response_item',
  { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
];
const counted = (tokens: number): Line => {
  const last_token_usage = { input_tokens: tokens, output_tokens: 1 };
  return [
    'event_msg',
    { type: 'token_count', info: { last_token_usage, total_token_usage: { input_tokens: tokens } } },
  ];
};
const turn = (asked: string, answered: string, tokens = 10): readonly Line[] => [
  message('user', asked),
  message('assistant', answered),
  counted(tokens),
  ['event_msg', { type: 'task_complete' }],
];

/** Writes a rollout that goes on from the first lines of a different one, as Codex numbers it. */
function rollout(id: string, lines: readonly Line[], base?: { readonly of: Rollout; readonly lines: number }): Rollout {
  const from = base === undefined ? 0 : base.of.from + base.lines;
  const end_byte_offset = Buffer.byteLength(
    base?.of.lines
      .slice(0, base.lines)
      .map((line) => `${line}\n`)
      .join('') ?? '',
  );
  const history_base = base && { thread_id: base.of.id, end_ordinal_exclusive: from, end_byte_offset };
  const meta = {
    id,
    cwd: '/srv/app',
    cli_version: '0.154.0',
    history_mode: 'paginated',
    ...(base ? { history_base } : {}),
  };
  const all: readonly Line[] = [['session_meta', meta], ['turn_context', { model: 'gpt-5-codex' }], ...lines];
  const texts = all.map(([type, payload], index) =>
    JSON.stringify({ timestamp: '2026-09-14T01:05:00.000Z', ordinal: from + index, type, payload }),
  );
  return { id, from, lines: texts, text: texts.map((line) => `${line}\n`).join('') };
}

const base = rollout('base', [...turn('One?', 'One.'), ...turn('Two?', 'Two.')]);
/** Goes on after the first turn. */
const fork = rollout('fork', turn('Three?', 'Three.', 7), { of: base, lines: 6 });

async function written({ id, text }: Rollout, below = ''): Promise<string> {
  const folder = join(directory, below);
  await mkdir(folder, { recursive: true });
  const path = join(folder, `rollout-2026-09-14T01-05-00-${id}.jsonl`);
  await writeFile(path, text);
  return path;
}

async function imported(source: string | AsyncIterable<string>, options = {}): Promise<Imported> {
  for await (const each of reprise.importAll(source, options)) {
    if ('error' in each) throw each.error;
    return each;
  }
  throw new Error('nothing was told');
}

async function* pieces(text: string): AsyncGenerator<string> {
  yield text;
}

async function said(ref: string): Promise<string> {
  const [id = '', branch = 'main'] = ref.split('/');
  const { messages } = await (await reprise.session(id)).at(branch).fold(conversation);
  return messages.map((each) => String(each.message?.['content'])).join(' ');
}

const lacks = (id: string): string => `the messages before it are in the file of the session "${id}", not here`;
const found = 'the messages before it were found: the session was read again, and they come first now';
const whole = 'One? One. Three? Three.';

test('its conversation begins with the messages of the base, up to the point, and both files come back', async () => {
  await written(base, 'sessions/2026/09/13');
  const told = await imported(await written(fork, 'sessions/2026/09/14'));
  expect(told).toMatchObject({ session: 'fork', outcome: 'imported', branches: ['main'], warnings: [], units: 12 });
  expect(await said('fork')).toBe(whole);
  expect(await reprise.at('fork').export({ format: 'codex' }).text()).toBe(fork.text);
  const { spending } = await (await reprise.session('fork')).fold(summary);
  expect(spending.inputTokens, 'the tokens of the base count in the base').toBe(7);
  expect(await (await reprise.session('fork')).verify()).toMatchObject({ ok: true });
  expect((await reprise.at('fork').export({ format: 'codex' }).files()).files.map(({ file }) => file)).toEqual(['']);
});

test('in one import of a folder, the order does not matter, and the names do not', async () => {
  await writeFile(join(directory, 'a.jsonl'), fork.text);
  await writeFile(join(directory, 'b.jsonl'), base.text);
  for await (const told of reprise.importAll(directory)) expect(told).toMatchObject({ warnings: [] });
  expect([await said('fork'), await said('base')]).toEqual([whole, 'One? One. Two? Two.']);
  expect(await reprise.at('base').export({ format: 'codex' }).text()).toBe(base.text);
});

test('the base may be in the store, have grown since, and be masked', async () => {
  const secret = rollout('secret', [
    ...turn('My key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789', 'So?'),
    ...turn('On.', 'Yes.'),
  ]);
  await imported(pieces(secret.text), { mask: true });
  await imported(pieces(rollout('child', turn('Then?', 'Then.'), { of: secret, lines: 6 }).text));
  expect(await said('child')).toMatch(/^My key is \S*\[.*So\? Then\? Then\.$/);
});

test('imported before its base, it is mended by the second import, which says so', async () => {
  const path = await written(fork);
  expect((await imported(path)).warnings).toEqual([{ file: '', at: 0, message: lacks('base') }]);
  expect(await said('fork')).toBe('Three? Three.');
  const before = await (await reprise.session('fork')).at('main@5').fold(conversation);
  expect((await imported(path)).outcome).toBe('unchanged');
  await imported(pieces(base.text));
  expect(await imported(path)).toMatchObject({
    outcome: 'extended',
    branches: ['main'],
    warnings: [{ file: '', at: 0, message: found }],
  });
  expect(await said('fork')).toBe(whole);
  expect(await (await reprise.session('fork')).at('main@5').fold(conversation)).toEqual(before);
  expect(await reprise.at('fork').export({ format: 'codex' }).text()).toBe(fork.text);
  expect((await imported(path)).outcome).toBe('unchanged');
  // It grows, and the base is gone: the session holds it.
  await (await reprise.session('base')).delete({ confirm: 'base' });
  const grown = rollout('fork', [...turn('Three?', 'Three.', 7), ...turn('Four?', 'Four.')], { of: base, lines: 6 });
  await writeFile(path, grown.text);
  expect(await imported(path)).toMatchObject({ outcome: 'extended', branches: ['main'], warnings: [] });
  expect(await said('fork')).toBe(`${whole} Four? Four.`);
  expect(await reprise.at('fork').export({ format: 'codex' }).text()).toBe(grown.text);
  expect((await (await reprise.session('fork')).verify()).ok).toBe(true);
});

test('somebody who went on after an import without the base keeps their work: the whole is a branch', async () => {
  const path = await written(fork);
  await imported(path);
  const session = await reprise.session('fork');
  await session.append([{ type: 'message.added', data: { message: { role: 'user', content: 'Mine.' } } }]);
  await written(base);
  const { outcome, branches } = await imported(path);
  expect(outcome).toBe('branched');
  expect([await said('fork'), await said(`fork/${branches.at(-1)}`)]).toEqual(['Three? Three. Mine.', whole]);
});

test('a chain of two, with a rollback and a compaction before the points, and a rollback into a base', async () => {
  const compacted: Line = [
    'compacted',
    {
      message: 'So far.',
      replacement_history: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Sum.' }] }],
    },
  ];
  const back = (num_turns: number): Line => ['event_msg', { type: 'thread_rolled_back', num_turns }];
  const first = rollout('first', [
    ...turn('A?', 'A.'),
    compacted,
    ...turn('B?', 'B.'),
    back(1),
    ...turn('C?', 'C.'),
    ...turn('Z?', 'Z.'),
  ]);
  const second = rollout('second', [...turn('D?', 'D.'), ...turn('Y?', 'Y.')], { of: first, lines: 16 });
  const third = rollout('third', turn('E?', 'E.'), { of: second, lines: 6 });
  const fourth = rollout('fourth', [back(2), ...turn('F?', 'F.')], { of: third, lines: 6 });
  await written(second);
  await written(third);
  // The first base is missing, and found later.
  const path = await written(fourth);
  expect((await imported(path)).warnings).toContainEqual({ file: '', at: 0, message: lacks('first') });
  expect(await said('fourth')).toBe('F? F.');
  await written(first);
  expect((await imported(path)).warnings).toContainEqual({ file: '', at: 0, message: found });
  expect(await said('fourth')).toBe('Sum. C? C. F? F.');
  await imported(await written(third));
  expect(await said('third')).toBe('Sum. C? C. D? D. E? E.');
  expect(await reprise.at('third').export({ format: 'codex' }).text()).toBe(third.text);
});

test('handed back, it stands alone, with ordinals that follow each other; so does one that was changed', async () => {
  await imported(pieces(base.text));
  await imported(pieces(fork.text));
  const session = await reprise.session('fork');
  await session.fork('main', { name: 'asked', prompt: 'Five?' });
  const { text } = await reprise.at('fork/asked').handBack({ format: 'codex' });
  const changed = await reprise.at('fork/asked').export({ format: 'codex' }).text();
  const inBase = (await (await session.find({ types: ['message.added'] }))?.locate())?.seq;
  for (const [name, handed] of Object.entries({
    changed,
    text,
    plain: (await reprise.at('fork').handBack({ format: 'codex' })).text,
  })) {
    const lines = handed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { ordinal: number; payload: object });
    expect(lines.map(({ ordinal }) => ordinal)).toEqual(lines.map((_, index) => index));
    expect(lines[0]?.payload).not.toHaveProperty('history_base');
    const { warnings } = await imported(pieces(handed), { session: name });
    expect(warnings).toEqual([]);
    expect(await said(name)).toBe(await said(name === 'plain' ? 'fork' : 'fork/asked'));
  }
  const early = await reprise.at(`fork@${inBase}`).handBack({ format: 'codex' });
  await imported(pieces(early.text), { session: 'early' });
  expect(await said('early')).toBe('One?');
});

test('a base that ends too early, that goes on from its own fork, or has no point is warned of', async () => {
  const short = rollout('base', turn('One?', 'One.').slice(0, 2));
  await written(short);
  const { warnings } = await imported(await written(fork));
  expect(warnings.map((each) => each.message)).toEqual([
    'the session "base", which it continues, ends before the point where it does',
  ]);
  expect(await said('fork')).toBe(whole);
  const round = rollout('round', turn('R?', 'R.'), { of: { ...base, id: 'round' }, lines: 6 });
  expect((await imported(await written(round))).warnings).toEqual([{ file: '', at: 0, message: lacks('round') }]);
  expect(limits.importBasesMax).toBeGreaterThan(10);
});

test('a base that was too short is read to its point once it is whole', async () => {
  const whole = rollout('fork', turn('Three?', 'Three.', 7), { of: base, lines: 10 });
  const path = await written(whole);
  await written({ ...base, text: base.lines.slice(0, 6).join('\n').concat('\n') });
  await imported(path);
  expect(await said('fork')).toBe('One? One. Three? Three.');
  await written(base);
  expect((await imported(path)).warnings.map((each) => each.message)).toEqual([found]);
  expect(await said('fork')).toBe('One? One. Two? Two. Three? Three.');
  expect(await reprise.at('fork').export({ format: 'codex' }).text()).toBe(whole.text);
  expect(await imported(path)).toMatchObject({ outcome: 'unchanged', events: 0 });
});

test('a second reading that is killed goes on: nothing of the base or the fork is missing', async () => {
  const long = rollout('long', Array.from({ length: 700 }, (_, at) => turn(`Q${at}`, `A${at}`)).flat());
  const own = rollout('own', Array.from({ length: 400 }, (_, at) => turn(`R${at}`, `B${at}`)).flat(), {
    of: long,
    lines: 2_402,
  });
  const path = await written(own);
  await imported(path);
  await written(long);
  let told = 0;
  const killed = imported(path, {
    onProgress: () => {
      if (++told === 28) throw new Error('killed');
    },
  });
  await expect(killed).rejects.toThrow('killed');
  await imported(path);
  const words = (await said('own')).split(' ');
  expect([words.length, new Set(words).size, words[0], words.at(-1)]).toEqual([2_000, 2_000, 'Q0', 'B399']);
  expect(await reprise.at('own').export({ format: 'codex' }).text()).toBe(own.text);
});

test('a session whose name of the source was erased with its run is still that of its file', async () => {
  const path = await written(base);
  await imported(path);
  const session = await reprise.session('base');
  const { seq } = (await (await session.find({ types: ['run.started'] }))?.locate()) ?? { seq: 1 };
  await session.erase(`main@${seq}`, { reason: 'asked for' });
  const names = await Array.fromAsync(session.replay({ filter: { types: ['session.imported'] }, history: 'raw' }));
  expect(names.map(({ erased }) => erased)).toEqual([true]);
  await written(rollout('base', [...turn('One?', 'One.'), ...turn('Two?', 'Two.'), ...turn('Four?', 'Four.')]));
  expect(await imported(path)).toMatchObject({ outcome: 'extended', branches: ['main'] });
  expect(await said('base')).toContain('Four? Four.');
  await expect(reprise.import(await written(fork), { session: 'base' })).rejects.toMatchObject({
    code: 'session.exists',
  });
});

test('a payload that was erased from the session of the base does not come back with its file', async () => {
  await imported(await written(base));
  const session = await reprise.session('base');
  const event = await (await session.find({ types: ['message.added'] }))?.locate();
  await session.erase(`main@${event?.seq ?? 1}`, { reason: 'asked for' });
  await imported(await written(fork));
  expect(await said('fork')).not.toContain('One?');
});

test('two files of one thread, the second gone back in the first, are two branches of its session', async () => {
  const reverted = rollout('base', turn('Other?', 'Other.'), { of: base, lines: 6 });
  await written(base);
  await writeFile(join(directory, 'rollout-2026-09-15T01-05-00-later.jsonl'), reverted.text);
  await imported(await written(base));
  const { branches } = await imported(join(directory, 'rollout-2026-09-15T01-05-00-later.jsonl'));
  expect(branches).toHaveLength(2);
  expect([await said('base'), await said(`base/${branches[1]}`)]).toEqual([
    'One? One. Two? Two.',
    'One? One. Other? Other.',
  ]);
  expect(await reprise.at('base').export({ format: 'codex' }).text()).toBe(base.text);
  expect(await reprise.at(`base/${branches[1]}`).export({ format: 'codex' }).text()).toBe(reverted.text);
});

test('a file that is followed has the messages of its base first', async () => {
  await written(base);
  const path = await written(fork);
  const stop = new AbortController();
  const told = await imported(path, {
    follow: true,
    signal: stop.signal,
    onProgress: ({ units }: { units: number }) => units >= 12 && stop.abort(),
  });
  expect([told.units, await said('fork')]).toEqual([12, whole]);
});
