import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { given } from '../../core/json.ts';
import { parseRef, refText } from '../../core/ref.ts';
import type { BundleManifest } from '../../engine/bundling/bundle-manifest.ts';
import type { ExportedPiece } from '../../engine/importing/export.ts';
import type { DifferingUnit } from '../../engine/importing/export-units.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { readSigningKey } from '../../node/signing-key.ts';
import { placeFolder } from '../../node/tool-places.ts';
import type { ExportPreview } from '../../server/studio/exported-page.ts';
import { bytesText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import { projectionNamed } from '../answering/node-projections.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { collect, flagOption, listOption, type OptionValues, textOption } from '../option-values.ts';

/** An exported history, as `reprise export --json` prints it. */
export interface ExportAnswer {
  readonly ref: string;
  readonly format: string;
  /** The file; null if the text was printed. */
  readonly to: string | null;
  readonly bytes: number;
  /** The exported text; null if it was written to a file. */
  readonly text: string | null;
  /** The units of the source that differ from it, and why. */
  readonly differs: readonly DifferingUnit[];
  /** The bundle that was written; null with a format. */
  readonly bundle: BundleAnswer | null;
  /** Only of a page: the payloads that were left out, or would be; at most 200 of them. */
  readonly leftOut?: ExportPreview['leftOut'];
}

/** A bundle that was written. */
interface BundleAnswer {
  readonly session: string;
  readonly events: number;
  readonly branches: BundleManifest['branches'];
  readonly root: string;
  readonly redacted: BundleManifest['redacted'];
  /** The public key that signed it; null if it is not signed. */
  readonly key: string | null;
}

/** `reprise export`. */
export const exportRun: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: [
    new Option(
      '--format <format>',
      'format to write: shipit, atif, otlp, json, jsonl, markdown, html (a page that opens without a server), or that of the source (default: a bundle)',
    ),
    new Option(
      '--to <path>',
      'file to write (default: stdout); of a bundle the new folder, or the file if it ends with .tgz',
    ),
    new Option('--resume', 'write it where its tool resumes it: claude-code, codex or pi; overwrites nothing'),
    new Option(
      '--redact <rules>',
      'of a bundle or a page: take payloads out and keep the proof: all, secrets, an event type, agent:NAME, tool:NAME, field:PATH, pattern:REGEX, text:WORDS; commas between, or repeated',
    ).argParser(collect),
    new Option('--dry-run', 'of a page: write nothing, and list the payloads that would be taken out'),
    new Option('--sign [key]', "of a bundle: sign it with this user's key, or with the one in a file"),
    new Option('--projection <name>', 'of a bundle: include the value of a projection; may be repeated').argParser(
      collect,
    ),
  ],
  examples: [
    'reprise export demo --to demo.tgz',
    'reprise export demo/careful --to careful --redact secrets,message.added',
    'reprise export demo --format shipit',
    'reprise export demo/careful@20 --format shipit --to careful.json',
    'reprise export demo --format markdown',
    'reprise export demo --format html --redact tool:refund --dry-run',
  ],
  run: async (context, [text = ''], options) => {
    const format = textOption(options, 'format');
    if (format === 'html') return exportPage(context, text, options);
    if (flagOption(options, 'dryRun'))
      throw new RepriseError('option.invalid', 'Cannot use --dry-run here: it is about pages', {
        hint: 'Add --format html, or leave it out.',
      });
    if (format !== undefined) await context.formats();
    const ref = refText((await context.at(text)).ref);
    const reprise = await context.open();
    if (format === undefined) return bundle(context, reprise, { ref, isWhole: !/[/@]/.test(text) }, options);
    refuseBundleOptions(options);
    return options['resume'] === true
      ? handBack(context, reprise, ref, format)
      : print(context, reprise, { ref, format, to: textOption(options, 'to') ?? null });
  },
};

function refuseBundleOptions(options: OptionValues): void {
  const name = ['redact', 'sign', 'projection'].find((each) => options[each] !== undefined);
  if (name === undefined) return;
  throw new RepriseError('option.invalid', `Cannot use --${name} with --format: it is about bundles`, {
    hint: 'Leave out --format for a bundle.',
  });
}

/** Writes a bundle. */
async function bundle(
  { out }: Context,
  reprise: Reprise,
  { ref, isWhole }: { readonly ref: string; readonly isWhole: boolean },
  options: OptionValues,
): Promise<number> {
  const to = textOption(options, 'to');
  if (to === undefined || options['resume'] === true)
    throw new RepriseError(
      'export.invalid',
      `Cannot export ${ref}: neither a format nor a place for a bundle is named`,
      {
        hint: 'Write --to DIR or --to FILE.tgz for a bundle, or --format for a format of a different system.',
      },
    );
  const rules = listOption(options, 'redact').flatMap(rulesIn);
  const sign = options['sign'] === undefined ? undefined : readSigningKey(textOption(options, 'sign')).sign;
  const projections = listOption(options, 'projection').map((name) => projectionNamed(name).projection);
  const { session } = parseRef(ref);
  // A session writes all of its branches, a look its own history alone.
  const history = isWhole ? await reprise.session(session) : reprise.at(ref);
  const { bytes, events, manifest, key } = await history.exportBundle({
    to,
    ...given({ sign }),
    ...(rules.length === 0 ? {} : { redact: rules }),
    ...(projections.length === 0 ? {} : { projections }),
  });
  const { branches, root, redacted } = manifest;
  const answer: BundleAnswer = { session, events, branches, root, redacted, key };
  if (out.json !== undefined)
    await out.value({
      ref,
      format: 'bundle',
      to,
      bytes,
      text: null,
      differs: [],
      bundle: answer,
    } satisfies ExportAnswer);
  else {
    await out.line(`root ${root}`);
    const taken =
      redacted === null ? '' : `, ${plural(redacted.events.flatMap(({ seqs }) => seqs).length, 'payload')} taken out`;
    out.say(
      `Wrote ${plain(to)}: ${plural(events, 'event')}, ${bytesText(bytes)}${taken}${key === null ? '' : ', signed'}.`,
    );
    out.next(`reprise verify ${to}`);
  }
  return done;
}

/** Splits rules at commas. A text or a pattern to look for may contain commas if it comes last, and no rule after one. */
function rulesIn(text: string): readonly string[] {
  const at = /(?:^|,)(?:text|pattern):/.exec(text);
  if (at === null) return text.split(',').map((rule) => rule.trim());
  const before = text
    .slice(0, at.index)
    .split(',')
    .filter((rule) => rule !== '');
  const last = text.slice(at.index).replace(/^,/, '');
  const swallowed = /,\s*(all|secrets|(?:agent|tool|field|text|pattern):.*)$/s.exec(last)?.[1];
  if (swallowed !== undefined)
    throw new RepriseError('option.invalid', `Cannot redact: ${JSON.stringify(last)} may be one rule or several`, {
      hint: `Give each rule its own --redact; a comma of a pattern can be written as \\x2c.`,
    });
  return [...before.map((rule) => rule.trim()), last];
}

async function print(
  { out }: Context,
  reprise: Reprise,
  { ref, format, to }: { readonly ref: string; readonly format: string; readonly to: string | null },
): Promise<number> {
  const pieces = reprise.at(ref).export({ format });
  const written = to === null ? await printed(out, pieces) : await writeFiles(to, pieces);
  const { bytes, text, differs, others } = written;
  if (out.json !== undefined)
    await out.value({ ref, format, to, bytes, text, differs, bundle: null } satisfies ExportAnswer);
  else if (to !== null) out.say(`Wrote ${plain(to)}, ${bytesText(bytes)}.`);
  if (out.json === undefined && to === null && others > 0)
    out.say(`The source has ${plural(others, 'more file')}; --to writes them next to it.`);
  if (out.json === undefined && differs.length > 0) {
    const shown = differs
      .slice(0, 5)
      .map(({ file, at, why }) => `${file === '' ? '' : `${file} `}${at ?? 'around the units'} (${why})`);
    out.say(
      `${plural(differs.length, 'place')} of the source differ: ${plain(shown.join(', '))}${differs.length > 5 ? ', …' : ''}`,
    );
  }
  return done;
}

/** Writes a history where its tool looks for sessions. */
async function handBack({ out }: Context, reprise: Reprise, ref: string, format: string): Promise<number> {
  const { place, path, text, id } = await reprise.at(ref).handBack({ format });
  const to = join(placeFolder(place), path);
  if (existsSync(to))
    throw new RepriseError('export.invalid', `Cannot write ${JSON.stringify(to)}: there is such a file`, {
      hint: 'Export it with --to to a place of your own.',
    });
  mkdirSync(dirname(to), { recursive: true });
  writeFile(to, new TextEncoder().encode(text), 'wx');
  const bytes = Buffer.byteLength(text);
  if (out.json !== undefined)
    await out.value({ ref, format, to, bytes, text: null, differs: [], bundle: null } satisfies ExportAnswer);
  else {
    out.say(`Wrote ${plain(to)}, ${bytesText(bytes)}.`);
    await out.line(id);
  }
  return done;
}

/** An export that was written or printed. */
interface WrittenPieces {
  /** The bytes of the main file. */
  readonly bytes: number;
  /** The text of the main file, if it is part of the answer. */
  readonly text: string | null;
  readonly differs: readonly DifferingUnit[];
  /** The number of the other files. */
  readonly others: number;
}

/** Prints the main file piece by piece; as a part of a JSON answer, it is held. */
async function printed(out: Context['out'], pieces: AsyncIterable<ExportedPiece>): Promise<WrittenPieces> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const [held, differing, others]: [string[], DifferingUnit[], Set<string>] = [[], [], new Set()];
  let bytes = 0;
  for await (const { file, bytes: piece, differs } of pieces) {
    differing.push(...differs);
    if (file !== '') others.add(file);
    else {
      bytes += piece.length;
      // A pipe takes the bytes of the source, which need not be text; a terminal and a JSON answer take text.
      if (out.json === undefined && process.stdout.isTTY !== true) await out.bytes(piece);
      else {
        const text = decoder.decode(piece, { stream: true });
        if (out.json === undefined) await out.jsonFile(text);
        else held.push(text);
      }
    }
  }
  return { bytes, text: out.json === undefined ? null : held.join(''), differs: differing, others: others.size };
}

/** Writes the main file piece by piece, and the others of the source next to it. */
async function writeFiles(to: string, pieces: AsyncIterable<ExportedPiece>): Promise<WrittenPieces> {
  const [differing, written]: [DifferingUnit[], Set<string>] = [[], new Set()];
  let bytes = 0;
  for await (const { file, bytes: piece, differs } of pieces) {
    differing.push(...differs);
    const path = file === '' ? to : besidePath(to, file);
    writeFile(path, piece, written.has(path) ? 'a' : 'w');
    written.add(path);
    if (file === '') bytes += piece.length;
  }
  return { bytes, text: null, differs: differing, others: written.size - 1 };
}

/** Returns the path of a different file of a source, next to the main one. A name from a store is not a path to trust. */
function besidePath(to: string, file: string): string {
  if (file.split(/[/\\]/).some((part) => part === '..' || part === '') || file.startsWith('/'))
    throw new RepriseError('export.invalid', `Cannot write ${JSON.stringify(file)}: it leads out of the folder`);
  const path = join(dirname(to), file);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

function writeFile(path: string, bytes: Uint8Array, flag: 'w' | 'wx' | 'a'): void {
  try {
    writeFileSync(path, bytes, { flag });
  } catch (error) {
    throw new RepriseError('store.failed', `Cannot write ${JSON.stringify(path)}: ${(error as Error).message}`, {
      hint: 'Choose a file in a writable directory.',
      cause: error,
    });
  }
}

/** Writes a page, and says first what it leaves out. */
async function exportPage(context: Context, text: string, options: OptionValues): Promise<number> {
  const { out } = context;
  const to = textOption(options, 'to');
  const isDry = flagOption(options, 'dryRun');
  if (to === undefined && !isDry)
    throw new RepriseError('option.invalid', 'Cannot print a page: it is one large file', { hint: 'Add --to FILE.' });
  const { preparePage } = await import('../running/page-export.ts');
  const page = await preparePage(context, text, listOption(options, 'redact').flatMap(rulesIn));
  const { ref, events, leftOut, total } = page.preview;
  if (out.json === undefined) out.say(leftOutText(page.preview));
  const written = isDry || to === undefined ? undefined : page.text();
  if (written !== undefined && to !== undefined) writeFile(to, new TextEncoder().encode(written), 'w');
  const bytes = written === undefined ? 0 : Buffer.byteLength(written);
  const about = { ref, format: 'html', to: isDry ? null : (to ?? null), bytes, text: null, differs: [], bundle: null };
  const answer: ExportAnswer = { ...about, leftOut };
  if (out.json !== undefined) await out.value(answer);
  else if (isDry)
    await out.lines(leftOut.map(({ branch, seq, type, rule }) => plain(`${branch}@${seq}  ${type}  ${rule}`)));
  else out.say(`Wrote ${plain(to ?? '')}, ${bytesText(bytes)}: ${plural(events, 'event')}, ${total} left out.`);
  return done;
}

function leftOutText({
  rules,
  total,
}: {
  readonly rules: Readonly<Record<string, number>>;
  readonly total: number;
}): string {
  if (total === 0) return 'Leaves out nothing.';
  const each = Object.entries(rules).map(([rule, count]) => `${count} by ${plain(rule)}`);
  return `Leaves out ${plural(total, 'payload')}: ${each.join(', ')}.`;
}
