import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Option } from 'commander';
import { RepriseError } from '../../core/error.ts';
import { refText } from '../../core/ref.ts';
import type { ExportedFile } from '../../engine/importing/export.ts';
import type { DifferingUnit } from '../../engine/importing/export-units.ts';
import type { Reprise } from '../../engine/reprise.ts';
import { placeFolder } from '../../node/tool-places.ts';
import { bytesText, plural } from '../../wording/amount.ts';
import { plain } from '../../wording/text.ts';
import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { done } from '../exit-code.ts';
import { textOption } from '../option-values.ts';

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
}

/** `reprise export`. */
export const exportRun: CommandSpec = {
  arguments: [{ name: '<ref>', about: 'history: session[/branch][@at]' }],
  options: [
    new Option(
      '--format <format>',
      'format to write: shipit, atif, otlp, json, jsonl, markdown, or that of the source',
    ).makeOptionMandatory(),
    new Option('--to <file>', 'file to write (default: stdout)'),
    new Option('--resume', 'write it where its tool resumes it: claude-code, codex or pi; overwrites nothing'),
  ],
  examples: [
    'reprise export demo --format shipit',
    'reprise export demo/careful@20 --format shipit --to careful.json',
    'reprise export demo --format markdown',
  ],
  run: async (context, [text = ''], options) => {
    const format = textOption(options, 'format') ?? '';
    const ref = refText((await context.at(text)).ref);
    const reprise = await context.open();
    return options['resume'] === true
      ? handBack(context, reprise, ref, format)
      : print(context, reprise, { ref, format, to: textOption(options, 'to') ?? null });
  },
};

async function print(
  { out }: Context,
  reprise: Reprise,
  { ref, format, to }: { readonly ref: string; readonly format: string; readonly to: string | null },
): Promise<number> {
  const { files, differs } = await reprise.exportFiles(ref, { format });
  const [main, ...others] = files;
  const bytes = main?.bytes ?? new Uint8Array();
  if (to !== null) writeFiles(to, bytes, others);
  const text = to === null ? new TextDecoder().decode(bytes) : null;
  if (out.json !== undefined)
    await out.value({ ref, format, to, bytes: bytes.length, text, differs } satisfies ExportAnswer);
  else if (to === null) await out.jsonFile(text ?? '');
  else out.say(`Wrote ${plain(to)}, ${bytesText(bytes.length)}.`);
  if (out.json === undefined && to === null && others.length > 0)
    out.say(`The source has ${plural(others.length, 'more file')}; --to writes them beside it.`);
  if (out.json === undefined && differs.length > 0) {
    const shown = differs.slice(0, 5).map(({ file, at, why }) => `${file === '' ? '' : `${file} `}${at} (${why})`);
    out.say(
      `${plural(differs.length, 'unit')} of the source differ: ${plain(shown.join(', '))}${differs.length > 5 ? ', …' : ''}`,
    );
  }
  return done;
}

/** Writes a history where its tool looks for sessions. */
async function handBack({ out }: Context, reprise: Reprise, ref: string, format: string): Promise<number> {
  const { place, path, text, id } = await reprise.handBack(ref, { format });
  const to = join(placeFolder(place), path);
  if (existsSync(to))
    throw new RepriseError('export.invalid', `Cannot write ${JSON.stringify(to)}: there is such a file`, {
      hint: 'Export it with --to to a place of your own.',
    });
  mkdirSync(dirname(to), { recursive: true });
  writeFile(to, new TextEncoder().encode(text), 'wx');
  const bytes = Buffer.byteLength(text);
  if (out.json !== undefined)
    await out.value({ ref, format, to, bytes, text: null, differs: [] } satisfies ExportAnswer);
  else {
    out.say(`Wrote ${plain(to)}, ${bytesText(bytes)}.`);
    await out.line(id);
  }
  return done;
}

/** Writes the main file, and the others of the source beside it. */
function writeFiles(to: string, main: Uint8Array, others: readonly ExportedFile[]): void {
  writeFile(to, main, 'w');
  for (const { file, bytes } of others) {
    // A name from a store is not a path to trust.
    if (file.split(/[/\\]/).some((part) => part === '..' || part === '') || file.startsWith('/'))
      throw new RepriseError('export.invalid', `Cannot write ${JSON.stringify(file)}: it leads out of the folder`);
    const path = join(dirname(to), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFile(path, bytes, 'w');
  }
}

function writeFile(path: string, bytes: Uint8Array, flag: 'w' | 'wx'): void {
  try {
    writeFileSync(path, bytes, { flag });
  } catch (error) {
    throw new RepriseError('store.failed', `Cannot write ${JSON.stringify(path)}: ${(error as Error).message}`, {
      hint: 'Choose a file in a writable directory.',
      cause: error,
    });
  }
}
