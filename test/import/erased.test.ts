/** An erasure takes a text out of an imported session in every form in which the source was kept. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openReprise } from '../../src/index.ts';
import { claudeLine } from './sources.ts';
import { formsOf, textsLeft } from './stored-forms.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-erased-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const secret = 'Grüße aus dem "Pool":\nthe launch is on the ninth of May, and nobody knows';

describe('the search of these tests', () => {
  const nested = JSON.stringify({ inner: JSON.stringify({ deeper: JSON.stringify(secret) }) });
  const ascii = JSON.stringify(secret).replace(/[\u0080-\uffff]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  const base64 = (bytes: Uint8Array): string => JSON.stringify({ bytes: Buffer.from(bytes).toString('base64') });
  test.each([
    ['plain', secret],
    ['JSON in JSON in JSON', nested],
    ['ASCII JSON', ascii],
    ['base64', base64(Buffer.from(secret))],
    ['a deflated blob', deflateRawSync(secret)],
    ['a gzip blob', gzipSync(nested)],
    ['a zstd blob', zstdCompressSync(secret)],
    ['deflated base64', base64(deflateRawSync(nested))],
  ])('finds a text that is stored as %s', (_, stored) => {
    expect([...formsOf(stored)].some((form) => form.includes(secret))).toBe(true);
  });
});

interface Source {
  readonly what: string;
  /** The line of the source that holds the text. */
  readonly line: string | Buffer;
  /** The text as it is erased; the secret itself if left out. */
  readonly said?: string;
}

const talk = (at: number, content: unknown, more: object = {}): object =>
  claudeLine(
    'user',
    `u${at}`,
    at === 0 ? null : `u${at - 1}`,
    { message: { role: 'user', content }, ...more },
    at % 60,
  );
const result = (content: string): object[] => [{ tool_use_id: 't1', type: 'tool_result', content, is_error: false }];
const flat = secret.replace('\n', ' ');
const numbered = secret
  .split('\n')
  .map((line, at) => `${String(at + 1).padStart(6)}→${line}`)
  .join('\n');
const json = JSON.stringify(talk(1, secret));

const kept: readonly Source[] = [
  { what: 'as a message', line: json },
  { what: 'as ASCII', line: json.replace(/[\u0080-\uffff]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`) },
  { what: 'in JSON in JSON', line: JSON.stringify(talk(1, JSON.stringify({ note: JSON.stringify({ secret }) }))) },
  { what: 'in a field without a meaning', line: JSON.stringify(talk(1, 'Why?', { remark: { secret } })) },
  {
    what: 'in a result and the file it read',
    line: JSON.stringify(talk(1, result(numbered), { toolUseResult: { file: { filePath: '/a', content: secret } } })),
  },
  { what: 'in a line without a meaning', line: JSON.stringify({ type: 'unheard-of', secret }) },
  { what: 'in a line that is not JSON', line: `{ ${flat}`, said: flat },
  {
    what: 'in a line that is no text',
    line: Buffer.concat([Buffer.from([0xff, 0xe9]), Buffer.from(flat)]),
    said: flat,
  },
];

/** The end of the text: it reads the same in a line with numbers and escapes. */
const words = 'the launch is on the ninth of May, and nobody knows';

test.each(kept)('I6 a text that is erased is in no form in the file: $what', async ({ what, line, said = secret }) => {
  const file = join(directory, `${what}.db`);
  const store = `sqlite:${file}`;
  const [before, after] = [JSON.stringify(talk(0, 'Hello')), JSON.stringify(talk(2, 'Bye'))];
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.concat([Buffer.from(`${before}\n`), Buffer.from(line), Buffer.from(`\n${after}\n`)]);
  }
  {
    await using reprise = await openReprise({ store, config: false });
    await reprise.import(source(), { format: 'claude-code', session: 's' });
  }
  expect(await textsLeft(file, [words])).toEqual([words]);
  {
    await using reprise = await openReprise({ store, config: false });
    const session = await reprise.session('s');
    // Numbered lines hold only pieces of the text, so the second note has a piece.
    for (const text of [said, words]) {
      const [note] = await session.append({ type: 'note.added', data: { text } });
      await session.erase({ branch: 'main', seq: note?.seq ?? 0 });
    }
    const { files, differs } = await reprise.at('s').export({ format: 'claude-code' }).files();
    expect(differs).toMatchObject([{ at: 1, why: 'erased' }]);
    expect(Buffer.from(files[0]?.bytes ?? []).toString()).toBe(`${before}\n${after}\n`);
    expect((await session.verify()).ok).toBe(true);
  }
  expect(await textsLeft(file, [words])).toEqual([]);
});

/** Imports lines of which the first is a message with a text, erases that text, and returns the export and the history. */
async function erasedFrom(said: string, lines: readonly (object | Buffer)[]) {
  await using reprise = await openReprise({ store: 'memory:', config: false });
  async function* source(): AsyncGenerator<Uint8Array> {
    for (const line of [talk(0, said), ...lines])
      yield Buffer.concat([Buffer.isBuffer(line) ? line : Buffer.from(JSON.stringify(line)), Buffer.from('\n')]);
  }
  const session = await reprise.import(source(), { format: 'claude-code', session: 's' });
  const events = await Array.fromAsync(session.replay());
  const found = events.find(({ data }) => JSON.stringify(data['message'])?.includes(JSON.stringify(said).slice(1, -1)));
  await session.erase({ branch: 'main', seq: found?.seq ?? 0 });
  const { files, differs } = await reprise.at('s').export({ format: 'claude-code' }).files();
  const left = Buffer.from(files[0]?.bytes ?? []).toString();
  return { left, differs: differs.map(({ at }) => at), events: await Array.fromAsync(session.replay()) };
}

describe('a short text that is erased', () => {
  const long = 'a text of a message that is so long that the text of its unit has a hole for it';

  test.each([
    ['in a text in one piece', 'Hello', 0],
    ['in a text with a hole', long, 0],
    ['in a text with a hole that is stored as a part', long, 900],
  ])('is gone where it is a whole string %s', async (_, content, count) => {
    const pad = Array.from({ length: count }, (__, at) => `pad ${at}`);
    const more = { city: 'Bergen', list: [{ type: 'x' }, 'Bergen'], json: '{"city":"Bergen"}' };
    const each = Object.entries(more).map(([key, value], at) =>
      talk(at + 1, `${at} ${content}`, { pad, [key]: value }),
    );
    const { left, differs } = await erasedFrom('Bergen', [...each, talk(4, 'Bye')]);
    expect(differs).toEqual([0, 1, 2, 3]);
    expect(left).toBe(`${JSON.stringify(talk(4, 'Bye'))}\n`);
  });

  test('stays where it is a name, a word of the model, or in a sentence', async () => {
    const lines = [{ Bergen: 1 }, { remark: { type: 'Bergen' } }, { remark: 'Bergen, says "Bergen", in Norway' }].map(
      (more, at) => talk(at + 1, `${at} ${long}`, more),
    );
    const { left, differs } = await erasedFrom('Bergen', lines);
    expect(differs).toEqual([0]);
    expect(left).toBe(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  });

  test('is gone from a unit of JSON with a byte that is no text', async () => {
    const line = Buffer.from(JSON.stringify(talk(1, 'odd byte: ?', { city: 'Bergen' })));
    line[line.indexOf('?')] = 0xff;
    const { left, differs } = await erasedFrom('Bergen', [line, talk(2, 'Bye')]);
    expect(differs).toEqual([0, 1]);
    expect(left).toBe(`${JSON.stringify(talk(2, 'Bye'))}\n`);
  });

  test('takes a stretch that has it, and leaves the messages of the units that named it', async () => {
    const lines = Array.from({ length: 160 }, (_, at) =>
      talk(at + 1, `${at} ${long}`, at < 20 || at % 2 === 0 ? { city: 'Bergen', port: 'of the ships' } : {}),
    );
    const { left, events } = await erasedFrom('Bergen', lines);
    expect(left).not.toContain('Bergen');
    const told = events.filter(({ data }) => JSON.stringify(data['message'])?.includes('a text of a message'));
    // The first hundred units keep their texts whole.
    expect(told.length).toBeGreaterThan(90);
    expect(JSON.stringify(events)).not.toContain('Bergen');
  });
});

test('a text that is JSON is gone from a unit that has it as JSON with a hole in it', async () => {
  const inner = { path: '/a', content: 'a text that is so long that it is a hole in the text of the unit that has it' };
  const lines = [talk(1, inner.content, { remark: inner }), talk(2, inner.content), talk(3, 'Bye')];
  const { left, differs } = await erasedFrom(JSON.stringify(inner), lines);
  expect(differs).toEqual([0, 1]);
  expect(left).toBe(
    `${lines
      .slice(1)
      .map((line) => JSON.stringify(line))
      .join('\n')}\n`,
  );
});
