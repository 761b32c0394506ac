import { diffStrictly, type StrictDiff, type StrictEvent } from '../../core/comparing/diff-strict.ts';
import { RepriseError } from '../../core/error.ts';
import type { ForeignFormat, ToolPlace } from '../../core/recording/foreign-format.ts';
import { type Ref, refText } from '../../core/ref.ts';
import type { Engine } from '../context/engine.ts';
import { filesAt } from './export-files.ts';
import type { DifferingUnit } from './export-units.ts';
import { textOf } from './file-out.ts';

/** A history in the files of a foreign format. */
export interface Exported {
  readonly format: string;
  readonly files: readonly ExportedFile[];
  /** The units of the source that differ from it, and why. */
  readonly differs: readonly DifferingUnit[];
}

/** An exported file. */
export interface ExportedFile {
  /** Its path below the main file; empty for that one. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** A piece of an exported file. */
export interface ExportedPiece extends ExportedFile {
  /** The units of the source in this piece that differ from it, and why. */
  readonly differs: readonly DifferingUnit[];
}

/** The bytes of a piece, about; one with a longer unit is longer. */
const pieceBytes = 262_144;

/**
 * Writes the view of a place in a foreign format, piece by piece: memory does not grow with an unchanged source,
 * nor with a new file. The pieces of a file follow each other, those of the main one first.
 */
export async function* exportPieces(
  engine: Engine,
  ref: Ref,
  format: string,
): AsyncGenerator<ExportedPiece, void, undefined> {
  yield* piecesAt(engine, ref, formatNamed(engine, format), false);
}

async function* piecesAt(
  engine: Engine,
  ref: Ref,
  format: ForeignFormat,
  isAlone: boolean,
): AsyncGenerator<ExportedPiece, void, undefined> {
  const files = await filesAt(engine, ref, format, isAlone);
  if (files.length === 0) refuseWriting(format, ref);
  for (const out of files) {
    const { file } = out;
    let [held, length, differing]: [(string | Uint8Array)[], number, DifferingUnit[]] = [[], 0, []];
    for await (const { pieces, differs } of textOf(out)) {
      if (differs !== undefined) differing.push(differs);
      for (const piece of pieces) {
        held.push(piece);
        length += piece.length;
      }
      if (length < pieceBytes) continue;
      yield { file, bytes: encoded(held), differs: differing };
      [held, length, differing] = [[], 0, []];
    }
    yield { file, bytes: encoded(held), differs: differing };
  }
}

/** Writes the view of a place in a foreign format. An unchanged source comes back byte for byte. */
export async function exportFiles(engine: Engine, ref: Ref, format: string): Promise<Exported> {
  return exported(engine, ref, formatNamed(engine, format), false);
}

/** Joins the pieces of an export. `isAlone` asks for a file that continues no other. */
async function exported(engine: Engine, ref: Ref, format: ForeignFormat, isAlone: boolean): Promise<Exported> {
  const files = new Map<string, Uint8Array[]>();
  const differs: DifferingUnit[] = [];
  for await (const piece of piecesAt(engine, ref, format, isAlone)) {
    const own = files.get(piece.file) ?? [];
    files.set(piece.file, own);
    own.push(piece.bytes);
    differs.push(...piece.differs);
  }
  return {
    format: format.name,
    files: [...files].map(([file, pieces]) => ({ file, bytes: encoded(pieces) })),
    differs,
  };
}

/** Writes the view of a place in a foreign format, as the text of its main file. */
export async function exportText(engine: Engine, ref: Ref, format: string): Promise<string> {
  const { files } = await exportFiles(engine, ref, format);
  const [main] = files;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(main?.bytes ?? new Uint8Array());
  } catch (error) {
    throw new RepriseError('export.invalid', `Cannot export ${refText(ref)} as text: its source is not UTF-8`, {
      hint: 'Use export({ format }).files(), or `reprise export --to`, which write bytes.',
      cause: error,
    });
  }
}

function formatNamed(engine: Engine, name: string): ForeignFormat {
  const found = engine.formats.get(name);
  if (found !== undefined) return found;
  const formats = [...engine.formats.keys()];
  throw new RepriseError('export.invalid', `Cannot export: there is no format "${name}"`, {
    hint: `Formats: ${formats.join(', ')}.`,
    details: { formats },
  });
}

function refuseWriting({ name }: ForeignFormat, ref: Ref): never {
  throw new RepriseError(
    'export.invalid',
    `Cannot export ${refText(ref)} as ${name}: nothing of it can be written so`,
    {
      hint: 'A format that cannot be written gives back only what was imported from it.',
      details: { format: name },
    },
  );
}

function encoded(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) parts.push(encoder.encode(texts.join('')));
    texts = [];
  };
  for (const piece of pieces) {
    if (typeof piece === 'string') texts.push(piece);
    else {
      flush();
      parts.push(piece);
    }
  }
  flush();
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A session as its tool resumes it. */
export interface HandedBack {
  /** Where the tool keeps its sessions, and the path below it. */
  readonly place: ToolPlace;
  readonly path: string;
  readonly text: string;
  /** The new id of the session in its own system. */
  readonly id: string;
}

/** Writes the view of a place in the form from which its tool resumes it, under a new id. */
export async function handBack(engine: Engine, ref: Ref, format: string): Promise<HandedBack> {
  const found = formatNamed(engine, format);
  const [place] = found.places ?? [];
  if (found.resume === undefined || place === undefined)
    throw new RepriseError('export.invalid', `Cannot hand ${refText(ref)} back: nobody resumes from ${format}`, {
      hint: 'The formats claude-code, codex and pi are resumed from.',
      details: { format },
    });
  const { files } = await exported(engine, ref, found, true);
  const lines = new TextDecoder().decode(files[0]?.bytes).split('\n');
  const { platform } = engine;
  const id = platform.newId();
  const facts = { id, time: platform.now() };
  return {
    place,
    id,
    ...found.resume(
      lines.filter((line) => line.trim() !== ''),
      facts,
    ),
  };
}

/** Compares two places position by position, as a foreign format outlines their events. */
export async function compareOutlines(engine: Engine, left: Ref, right: Ref, format: string): Promise<StrictDiff> {
  const names = { left: refText(left), right: refText(right) };
  return diffStrictly(await outlineOf(engine, left, format), await outlineOf(engine, right, format), names);
}

/** Returns the units of a place as a format compares them, each with the seq of the event that it is written from. */
async function outlineOf(engine: Engine, ref: Ref, format: string): Promise<readonly StrictEvent[]> {
  const found = formatNamed(engine, format);
  const outline: StrictEvent[] = [];
  for (const { units } of await filesAt(engine, ref, found, false))
    for await (const { unit } of units())
      if (typeof unit?.text === 'string')
        outline.push({ seq: unit.seq, ...(found.outline?.(unit.text) ?? { type: 'unit', text: unit.text }) });
  return outline;
}
