import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  conversation,
  defineFormat,
  type Imported,
  type ImportOptions,
  limits,
  openReprise,
  type Reprise,
} from '../../src/index.ts';
import { samplePath } from './samples.ts';
import { claudeFork, claudeLine, claudeWork, sources } from './sources.ts';
import { textsLeft } from './stored-forms.ts';

let directory = '';
let reprise: Reprise;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reprise-port-'));
  reprise = await openReprise({ store: 'memory:', config: false });
});
afterAll(async () => {
  await reprise.close();
  await rm(directory, { recursive: true, force: true });
});

async function* pieces(text: string | Uint8Array): AsyncGenerator<string | Uint8Array> {
  yield text;
}

let count = 0;
async function told(
  source: string | Uint8Array,
  options: ImportOptions = {},
  on: Reprise = reprise,
): Promise<Imported> {
  for await (const each of on.importAll(pieces(source), { session: `s${++count}`, ...options })) {
    if ('error' in each) throw each.error;
    return each;
  }
  throw new Error('nothing was told');
}

async function bytesOf(session: string, format: string): Promise<Buffer> {
  return Buffer.from((await reprise.at(session).export({ format }).files()).files[0]?.bytes ?? []);
}

describe('lossless', () => {
  test.each([
    'claude-code/compaction.jsonl',
    'claude-code/edits.jsonl',
    'codex/rollout-0.40.jsonl',
    'codex/rollout-0.14x.jsonl',
    'gemini-cli/session.json',
    'pi/session-head.jsonl',
    'openhands/demo1.json',
    'swe-agent/function_calling_simple.traj',
    'openinference/ai-sdk-v6-spans.json',
    'who-and-when/hand-crafted-1.json',
    'who-and-when/algorithm-generated-1.json',
    'llm-cassettes/TestExec_OpenAI.yaml',
    'llm-cassettes/TestExec_Anthropic_ToolCall.yaml',
    'llm-cassettes/TestMCP_MultiAgent.yaml',
    'shipit/demo-trace.json',
  ])('the real file %s comes back byte for byte', async (name) => {
    const path = samplePath(name);
    if (path === undefined) {
      console.warn('There are no real files beside this checkout.');
      return;
    }
    const before = (await reprise.import(path)).id;
    const [folder = ''] = name.split('/');
    const others: Record<string, string> = {
      openinference: 'otlp',
      'who-and-when': 'messages',
      'llm-cassettes': 'vcr',
    };
    expect(await bytesOf(before, others[folder] ?? folder)).toEqual(await readFile(path));
    expect((await (await reprise.session(before)).verify()).ok).toBe(true);
  });

  test('random sources of every format come back byte for byte', async () => {
    const names = Object.keys(sources);
    const bytes = fc.uint8Array({ maxLength: 40 });
    const unit = fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.constant('{"type":"user"}'), fc.constant(''));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.nat(),
        fc.array(unit, { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        fc.constantFrom('\n', '\r\n'),
        bytes,
        async (format, which, units, places, end, tail) => {
          const list = sources[format] ?? [];
          const lines = (list[which % list.length]?.text ?? '').split('\n');
          // Odd units anywhere but before the first line, by which the format is detected.
          for (const [index, odd] of units.entries())
            lines.splice(1 + ((places[index] ?? 0) % lines.length), 0, odd.replace(/\n/g, ' '));
          const source = Buffer.concat([Buffer.from(lines.join(end)), Buffer.from(tail)]);
          const session = `r${++count}`;
          for await (const each of reprise.importAll(pieces(source), { format, session }))
            if ('error' in each) throw each.error;
          expect((await bytesOf(session, format)).equals(source)).toBe(true);
        },
      ),
      { numRuns: Number(process.env['REPRISE_RUNS'] ?? 60) },
    );
  });

  test('a line of 12 MB is kept and comes back; one over importUnitBytesMax is refused with its place', async () => {
    const line = (length: number): string =>
      `${claudeFork}${JSON.stringify(claudeLine('user', 'big', 'a3', { message: { role: 'user', content: 'x "y" '.repeat(length / 6) } }))}\n`;
    const text = line(12_000_000);
    const { session, warningCount } = await told(text);
    expect(warningCount).toBe(0);
    expect((await bytesOf(session, 'claude-code')).toString()).toBe(text);
    await expect(told(line(limits.importUnitBytesMax + 600))).rejects.toMatchObject({
      code: 'limit.exceeded',
      details: { limit: 'importUnitBytesMax' },
    });
  });

  test('of many warnings the first importWarningsMax are listed, and all are counted', async () => {
    const { warnings, warningCount } = await told(`${claudeFork}${'{"cut\n'.repeat(limits.importWarningsMax + 7)}`);
    expect([warnings.length, warningCount]).toEqual([limits.importWarningsMax, limits.importWarningsMax + 7]);
  });
});

describe('again', () => {
  test('a source that grew, was cut off, or differs from a place on', async () => {
    const lines = claudeFork.trimEnd().split('\n');
    const path = join(directory, 'grows.jsonl');
    const outcome = async (): Promise<string> => {
      for await (const each of reprise.importAll(path, { session: 'grows' }))
        return 'outcome' in each ? each.outcome : String(each.error);
      return '';
    };
    await writeFile(path, `${lines.slice(0, 3).join('\n')}\n`);
    expect([await outcome(), await outcome()]).toEqual(['imported', 'unchanged']);
    await writeFile(path, `${lines.slice(0, 5).join('\n')}\n`);
    expect(await outcome()).toBe('extended');
    await writeFile(path, claudeFork);
    // The file itself forks there: its second prompt after one message is a branch.
    expect(await outcome()).toBe('branched');
    expect((await bytesOf('grows', 'claude-code')).toString()).toBe(claudeFork);
    const changed = `${[...lines.slice(0, 4), JSON.stringify(claudeLine('user', 'u9', 'u2', { message: { role: 'user', content: 'Stop.' } }))].join('\n')}\n`;
    await writeFile(path, changed);
    expect([await outcome(), await outcome()]).toEqual(['branched', 'unchanged']);
    expect((await bytesOf('grows', 'claude-code')).toString()).toBe(claudeFork);
    const { children } = await (await reprise.session('grows')).tree();
    const own = children.find(({ reason }) => reason?.includes('differs'))?.branch ?? '';
    expect((await bytesOf(`grows/${own}`, 'claude-code')).toString()).toBe(changed);
  });

  test('an import that died goes on, wherever it died, to the same events', async () => {
    const whole = await told(claudeWork, { session: 'whole' });
    for (let died = 1; died < 6; died++) {
      const session = `died-${died}`;
      const broken = (async function* () {
        yield claudeWork.slice(0, Math.floor((claudeWork.length * died) / 6));
        throw new Error('the machine went away');
      })();
      await expect(reprise.import(broken, { session, format: 'claude-code' })).rejects.toThrow('went away');
      await told(claudeWork, { session });
      expect((await bytesOf(session, 'claude-code')).toString()).toBe(claudeWork);
      const { head } = await (await reprise.session(session)).locate();
      expect(head).toBe(whole.events);
    }
  });

  test('two imports of one source at once store each unit once', async () => {
    const path = join(directory, 'twice.jsonl');
    await writeFile(path, claudeWork);
    await Promise.all([reprise.import(path, { session: 'twice' }), reprise.import(path, { session: 'twice' })]);
    expect((await bytesOf('twice', 'claude-code')).toString()).toBe(claudeWork);
    expect((await (await reprise.session('twice')).verify()).ok).toBe(true);
  });

  test('follow keeps up with a file that is written', async () => {
    const path = join(directory, 'followed.jsonl');
    const lines = claudeFork.trimEnd().split('\n');
    await writeFile(path, `${lines.slice(0, 2).join('\n')}\n`);
    const stop = new AbortController();
    let written = 2;
    const { id } = await reprise.import(path, {
      session: 'followed',
      follow: true,
      signal: stop.signal,
      onProgress: ({ units }) => {
        if (units < written) return;
        const next = lines[written++];
        if (next === undefined) stop.abort();
        else void appendFile(path, `${next}\n`);
      },
    });
    expect((await bytesOf(id, 'claude-code')).toString()).toBe(claudeFork);
  });
});

describe('secrets', () => {
  const text = `${JSON.stringify(claudeLine('user', 'u1', null, { message: { role: 'user', content: `Use the key sk-ant-api03-${'abcdEFGH1234'.repeat(8)}-AA please` } }))}\n`;

  test('are kept as they are and counted by rule', async () => {
    const { session, secrets } = await told(text);
    expect(Object.values(secrets)).toEqual([1]);
    expect((await bytesOf(session, 'claude-code')).toString()).toBe(text);
  });

  test('are masked in meaning and source with mask, and the export says which units differ', async () => {
    const { session, secrets } = await told(text, { mask: true });
    expect(Object.values(secrets), 'the prompt is two events of one unit').toEqual([1]);
    const { files, differs } = await reprise.at(session).export({ format: 'claude-code' }).files();
    expect(Buffer.from(files[0]?.bytes ?? []).toString()).toContain('[masked ');
    expect(Buffer.from(files[0]?.bytes ?? []).toString()).not.toContain('abcdEFGH1234abcd');
    expect(differs).toEqual([{ file: '', at: 0, why: 'masked' }]);
  });

  test('around the units are counted and masked too, and a second import knows the source again', async () => {
    const key = `sk-ant-api03-${'abcdEFGH1234'.repeat(8)}-AA`;
    const source = JSON.stringify({
      trace_id: key,
      metadata: { agent_name: 'a', note: `Use ${key}`, password: 'hunter2hunter2' },
      events: [{ type: 'run_started', message: 'Go', payload: { prompt: 'Hi' } }],
      config: { password: 'correct-horse', text: key },
    });
    expect((await told(source)).secrets).toEqual({ 'anthropic-key': 1, 'secret-field': 1 });
    const { session, secrets } = await told(source, { mask: true });
    expect(secrets).toEqual({ 'anthropic-key': 1, 'secret-field': 1 });
    const events = await Array.fromAsync((await reprise.session(session)).replay({ history: 'raw' }));
    const held = JSON.stringify(events.map(({ data }) => ({ ...data, source: '' })));
    const { files, differs } = await reprise.at(session).export({ format: 'shipit' }).files();
    const written = Buffer.from(files[0]?.bytes ?? []).toString();
    expect(differs).toEqual([{ file: '', at: null, why: 'masked' }]);
    for (const secret of [key.slice(20), 'hunter2', 'correct-horse']) expect(`${held}${written}`).not.toContain(secret);
    expect((await told(source, { mask: true, session })).outcome).toBe('unchanged');
  });

  test('in a unit that is no text are counted, masked, and taken out of a bundle', async () => {
    const key = `sk-ant-api03-${'abcdEFGH1234'.repeat(8)}-AA`;
    const odd = Buffer.concat([Buffer.from(claudeFork), Buffer.from([0xff, 0xe9]), Buffer.from(` Use ${key}, é\n`)]);
    const { session, secrets } = await told(odd);
    expect(secrets).toEqual({ 'anthropic-key': 1 });
    for (const rule of [`text:${key}`, 'secrets', 'pattern:sk-ant']) {
      const to = join(directory, `odd-${++count}`);
      const { manifest } = await (await reprise.session(session)).exportBundle({ to, redact: [rule] });
      expect(manifest.redacted?.events, rule).toHaveLength(1);
    }
    const masked = await told(odd, { mask: true });
    expect(masked.secrets).toEqual({ 'anthropic-key': 1 });
    const { files, differs } = await reprise.at(masked.session).export({ format: 'claude-code' }).files();
    expect(differs).toEqual([{ file: '', at: 7, why: 'masked' }]);
    const written = Buffer.from(files[0]?.bytes ?? []).toString('latin1');
    expect(written).toMatch(/\n\u00ff\u00e9 Use \[masked anthropic-key [0-9a-f-]+\], \u00c3\u00a9\n$/);
  });
});

describe('again', () => {
  test('with nothing new, the report names the branches that hold the source', async () => {
    const path = join(directory, 'forked.jsonl');
    await writeFile(path, claudeFork);
    const reports: Imported[] = [];
    for (let times = 0; times < 2; times++)
      for await (const each of reprise.importAll(path, { session: 'forked' }))
        if (!('error' in each)) reports.push(each);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['imported', 'unchanged']);
    expect(reports[1]?.branches).toEqual(reports[0]?.branches);
    expect(reports[0]?.branches).toHaveLength(2);
  });

  test('a session that was chosen is extended once the source names its own', async () => {
    const [first = '', ...rest] = claudeWork.split('\n');
    await told(`${first}\n`, { session: 'chosen', format: 'claude-code' });
    const { outcome } = await told([first, ...rest].join('\n'), { session: 'chosen' });
    expect(outcome).toBe('extended');
    expect((await bytesOf('chosen', 'claude-code')).toString()).toBe(claudeWork);
    expect((await told(claudeWork, { session: 'chosen' })).outcome).toBe('unchanged');
    await expect(told(claudeFork, { session: 'chosen' })).rejects.toMatchObject({ code: 'session.exists' });
  });
});

/** Fields with the names and ids of things, which an erasure leaves. */
const names: ReadonlySet<string> = new Set(['foreign', 'call', 'name', 'toolCallId', 'toolName', 'path', 'cwd']);

/** Returns the texts of a value. */
function plainTexts(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 16 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, held]) => (names.has(key) ? [] : plainTexts(held)));
}

test('after any erasure the text is nowhere in the file', async () => {
  const all = Object.entries(sources).flatMap(([format, list]) => list.map(({ text }) => ({ format, text })));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...all), fc.nat(), async ({ format, text }, which) => {
      const file = join(directory, `erased-${++count}.db`);
      let erased: string[] = [];
      {
        await using own = await openReprise({ store: `sqlite:${file}`, config: false });
        const session = await own.import(pieces(text), { format, session: 's' });
        const events: { readonly branch: string; readonly seq: number; readonly texts: string[] }[] = [];
        for await (const { branch, seq, data } of session.replay())
          if (plainTexts(data).length > 0) events.push({ branch, seq, texts: plainTexts(data) });
        const one = events[which % events.length];
        if (one !== undefined) await session.erase({ branch: one.branch, seq: one.seq });
        // A longer text of a different event may hold the words too, and is not erased.
        const others = events.flatMap(({ texts }) => texts).filter((each) => !one?.texts.includes(each));
        const stretches = (one?.texts ?? []).flatMap((each) => each.match(/[A-Za-z0-9 .,]{16,}/g) ?? []);
        erased = stretches.filter((stretch) => !others.some((other) => other.includes(stretch)));
      }
      expect(await textsLeft(file, erased)).toEqual([]);
    }),
    { numRuns: Number(process.env['REPRISE_RUNS'] ?? 12) },
  );
});

describe('edits and folders', () => {
  test('an edited prompt shows in the export of its branch alone', async () => {
    const { session: id } = await told(claudeFork);
    const session = await reprise.session(id);
    await session.fork('main', { name: 'edited', prompt: 'Fix it, and test it.' });
    expect((await bytesOf(`${id}/edited`, 'claude-code')).toString()).toContain('"content":"Fix it, and test it."');
    expect((await bytesOf(id, 'claude-code')).toString()).toBe(claudeFork);
  });

  test('of a folder the files of known formats are read, and the broken ones are named', async () => {
    const folder = join(directory, 'folder');
    await mkdir(join(folder, 'inside/claude-1/subagents'), { recursive: true });
    await writeFile(join(folder, 'inside/claude-1.jsonl'), claudeFork);
    const sub = claudeLine('assistant', 'q1', null, {
      isSidechain: true,
      agentId: 'ab12',
      message: {
        id: 'm',
        model: 'claude-sonnet-4',
        role: 'assistant',
        content: [{ type: 'text', text: 'I am a sub-agent.' }],
        usage: {},
      },
    });
    await writeFile(join(folder, 'inside/claude-1/subagents/agent-ab12.jsonl'), `${JSON.stringify(sub)}\n`);
    await writeFile(join(folder, 'trace.json'), sources['shipit']?.[0]?.text ?? '');
    await writeFile(join(folder, 'broken.json'), '{"trace_id": 7, "events": []}');
    await writeFile(join(folder, 'notes.txt'), 'nothing of ours');
    const rows: string[] = [];
    for await (const each of reprise.importAll(folder))
      rows.push(
        'error' in each ? `${each.path.slice(folder.length)} ${each.error.message}` : `${each.session} ${each.format}`,
      );
    expect(rows).toEqual([
      '/broken.json Cannot read a shipit trace: its "trace_id" is not text',
      'claude-1 claude-code',
      't shipit',
    ]);
    const { files } = await reprise.at('claude-1').export({ format: 'claude-code' }).files();
    expect(files.map(({ file, bytes }) => [file, Buffer.from(bytes).toString()])).toEqual([
      ['', claudeFork],
      ['claude-1/subagents/agent-ab12.jsonl', `${JSON.stringify(sub)}\n`],
    ]);
    expect((await (await reprise.session('claude-1')).fold(conversation)).lanes.map(({ agent }) => agent)).toContain(
      'ab12',
    );
    await expect(reprise.import(folder)).rejects.toThrow('it contains 3 sources');
    expect(limits.importFilesMax).toBeGreaterThan(10_000);
  });

  test('a format of the configuration is known beside the built-in ones', async () => {
    const diary = defineFormat({
      name: 'diary',
      about: 'lines of { who, said }',
      detect: ({ text }) => text.startsWith('{"who"'),
      cut: () => ({ kind: 'lines' }),
      open: () => ({
        unit: ({ value }) => ({
          type: 'entry',
          drafts: [{ type: 'note.added', data: { text: JSON.stringify(value) } }],
        }),
      }),
    });
    await using own = await openReprise({ store: 'memory:', config: { formats: [diary] } });
    const { format, kept } = await told('{"who":"me","said":"hi"}\n', {}, own);
    expect([format, kept]).toEqual(['diary', 0]);
    expect(() => defineFormat({ ...diary, name: 'My Format' })).toThrow('use a different name');
  });
});
