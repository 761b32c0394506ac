import assert from 'node:assert/strict';
import type { Event } from '../../core/event/event.ts';
import type { ForeignFormat } from '../../core/recording/foreign-format.ts';
import type { BranchNode } from '../../core/session/session-log.ts';
import type { Imported } from '../../engine/importing/import-options.ts';
import type { Reprise } from '../../engine/reprise.ts';

/** A source in a format, to prove the format with. */
export interface FormatSource {
  readonly name: string;
  readonly text: string;
}

/** One guarantee of a format, on one source. It throws if the guarantee is broken. */
export interface FormatCase {
  readonly name: string;
  /** Runs on a fresh, empty store that knows the format. */
  run(open: () => Promise<Reprise>): Promise<void>;
}

/**
 * Lists what a format must guarantee for its sources: it detects them, its units mean something, the same bytes come
 * back, a second import adds nothing, a source that grew is extended, odd units are kept, and what is erased is gone.
 *
 * @example
 * ```ts
 * const list = defineFormat({
 *   name: 'list',
 *   about: 'lines of { said }',
 *   detect: ({ text }) => text.startsWith('{"said"'),
 *   cut: () => ({ kind: 'lines' }),
 *   open: () => ({ session: 'list', unit: ({ value }) => ({ type: 'said', drafts: [{ type: 'note.added', data: { text: JSON.stringify(value) } }] }) }),
 * });
 * for (const { name } of formatContract(list, [{ name: 'two lines', text: '{"said":1}\n{"said":2}\n' }])) console.log(name);
 * ```
 */
export function formatContract(format: ForeignFormat, sources: readonly FormatSource[]): readonly FormatCase[] {
  return sources.flatMap((source) => [
    aCase(format, source, 'is detected, and means something', meansSomething),
    aCase(format, source, 'comes back byte for byte, and its history verifies', comesBack),
    aCase(format, source, 'adds nothing when it is imported again', addsNothing),
    ...(isLines(format, source)
      ? [
          aCase(format, source, 'is extended when it has grown, and is the same as imported at once', grows),
          aCase(format, source, 'keeps lines that are not JSON, not text or cut off, and gives them back', keepsOdd),
        ]
      : []),
    aCase(format, source, 'gives nothing back of what was erased', forgets),
  ]);
}

type Check = (reprise: Reprise, format: ForeignFormat, source: FormatSource) => Promise<void>;

function aCase(format: ForeignFormat, source: FormatSource, what: string, check: Check): FormatCase {
  return {
    name: `${source.name} ${what}`,
    run: async (open) => {
      await using reprise = await open();
      await check(reprise, format, source);
    },
  };
}

const isLines = (format: ForeignFormat, { text }: FormatSource): boolean =>
  format.cut({ path: undefined, text }).kind === 'lines' && text.trim().split('\n').length > 1;

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  // Odd pieces, so that characters and lines are cut in the middle.
  for (let at = 0; at < bytes.length; at += 1_021) yield bytes.slice(at, at + 1_021);
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

async function imported(reprise: Reprise, format: ForeignFormat, bytes: Uint8Array, session = 's'): Promise<Imported> {
  for await (const told of reprise.importAll(chunks(bytes), { format: format.name, session })) {
    if ('error' in told) throw told.error;
    return told;
  }
  return assert.fail('the import told of nothing');
}

async function exported(reprise: Reprise, format: ForeignFormat, ref = 's'): Promise<string> {
  const { files } = await reprise.at(ref).export({ format: format.name }).files();
  return latin(files[0]?.bytes ?? new Uint8Array());
}

/** Returns bytes as text, one character for each byte, so that bytes that are not text can be compared. */
const latin = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

async function meansSomething(reprise: Reprise, format: ForeignFormat, { text }: FormatSource): Promise<void> {
  assert.ok(format.detect({ path: undefined, text }), 'the format does not detect the source');
  const { units, kept } = await imported(reprise, format, encode(text));
  assert.ok(units > 0, 'the source has no units');
  assert.ok(kept < units, 'no unit means anything');
}

async function comesBack(reprise: Reprise, format: ForeignFormat, { text }: FormatSource): Promise<void> {
  const bytes = encode(text);
  await imported(reprise, format, bytes);
  assert.equal(await exported(reprise, format), latin(bytes));
  assert.equal((await (await reprise.session('s')).verify()).ok, true);
}

async function addsNothing(reprise: Reprise, format: ForeignFormat, { text }: FormatSource): Promise<void> {
  const { branches } = await imported(reprise, format, encode(text));
  const again = await imported(reprise, format, encode(text));
  assert.deepEqual([again.outcome, again.events, again.branches], ['unchanged', 0, branches]);
}

async function grows(reprise: Reprise, format: ForeignFormat, { text }: FormatSource): Promise<void> {
  const lines = text.split('\n');
  const middle = Math.ceil(lines.length / 2);
  const once = await imported(reprise, format, encode(text), 'once');
  await imported(reprise, format, encode(`${lines.slice(0, middle).join('\n')}\n`));
  await imported(reprise, format, encode(text));
  assert.equal(await exported(reprise, format), latin(encode(text)));
  const parts = await contents(reprise, 's');
  const whole = await contents(reprise, 'once');
  // The end of a source may settle something that its middle settles too.
  const isInside = whole.every((content) => parts.includes(content));
  assert.ok(isInside, `events are missing: ${once.events} at once`);
}

/** Returns the type and data of every event on every branch, without the source. */
async function contents(reprise: Reprise, id: string): Promise<string[]> {
  const session = await reprise.session(id);
  const found: string[] = [];
  for (const branch of branchesOf(await session.tree()))
    for await (const event of session.at(branch).replay({ history: 'raw' })) found.push(contentOf(event));
  return [...new Set(found)].filter((content) => !/^(?:branch|session)\./.test(content));
}

function branchesOf({ branch, children }: BranchNode): string[] {
  return [branch, ...children.flatMap(branchesOf)];
}

function contentOf({ type, data }: Event): string {
  const { foreign: _, ...rest } = data;
  return `${type} ${JSON.stringify(rest)}`;
}

async function keepsOdd(reprise: Reprise, format: ForeignFormat, { text }: FormatSource): Promise<void> {
  const lines = text.trimEnd().split('\n');
  const odd = [
    '{"cut',
    '',
    '{"number":12345678901234567890}',
    '\u00a0',
    `{"deep":${'['.repeat(200)}${']'.repeat(200)}}`,
  ];
  const whole = encode(`${[lines[0], ...odd, ...lines.slice(1)].join('\r\n')}\n`);
  const bytes = new Uint8Array([...whole, 0x7b, 0xff, 0x80, 0x0a, 0x7b, 0x22]);
  const { warningCount } = await imported(reprise, format, bytes);
  assert.ok(warningCount >= 3, `odd lines are worth a warning, and there were ${warningCount}`);
  assert.equal(await exported(reprise, format), latin(bytes));
}

async function forgets(reprise: Reprise, format: ForeignFormat, { text }: FormatSource): Promise<void> {
  await imported(reprise, format, encode(text));
  const session = await reprise.session('s');
  const types = ['message.added', 'call.ended', 'note.added'];
  let found: Event | undefined;
  for await (const event of session.replay({ filter: { types } })) found ??= event;
  if (found === undefined) return;
  const secrets = longTexts(found.data);
  await session.erase({ branch: found.branch, seq: found.seq });
  const { files, differs } = await reprise.at('s').export({ format: format.name }).files();
  const left = files.map(({ bytes }) => new TextDecoder().decode(bytes)).join('\n');
  for (const secret of secrets)
    assert.ok(!left.includes(JSON.stringify(secret).slice(1, -1)), 'erased text is exported');
  assert.ok(
    differs.some(({ why }) => why === 'erased'),
    'the export does not tell that a unit was erased',
  );
}

/** Fields with the names and ids of things, which an erasure leaves. */
const names: ReadonlySet<string> = new Set(['foreign', 'call', 'name', 'toolCallId', 'toolName']);

function longTexts(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 16 ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, held]) => (names.has(key) ? [] : longTexts(held)));
}
