import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { readings } from '../../src/engine/erasing/stored-forms.ts';

/** How often a text may be packed inside a packed text. */
const depthMax = 4;

const unpackers: readonly ((bytes: Uint8Array) => Uint8Array)[] = [
  inflateRawSync,
  inflateSync,
  gunzipSync,
  brotliDecompressSync,
  zstdDecompressSync,
];

/** Yields what bytes say: as text, and after each way to open them as a compressed stream. */
function* formsOfBytes(bytes: Uint8Array, depth: number): Generator<string> {
  const text = Buffer.from(bytes).toString('utf8');
  yield text;
  if (depth === 0) return;
  yield* formsOfText(text, depth - 1);
  for (const unpack of unpackers) {
    let opened: Uint8Array;
    try {
      opened = unpack(bytes);
    } catch {
      continue;
    }
    yield* formsOfBytes(opened, depth - 1);
  }
}

/** Yields a text, the text without its JSON escapes, and the bytes of everything in it that may be base64 or hexadecimal. */
function* formsOfText(text: string, depth: number): Generator<string> {
  for (const reading of readings(text)) {
    yield reading;
    if (depth === 0) continue;
    for (const [run] of reading.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/g)) {
      yield* formsOfBytes(Buffer.from(run, 'base64'), depth - 1);
      if (/^[0-9a-f]+$/i.test(run)) yield* formsOfBytes(Buffer.from(run, 'hex'), depth - 1);
    }
  }
}

/** Yields a stored value in every form that it may have been packed from. */
export function* formsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield* formsOfText(value, depthMax);
  else if (value instanceof Uint8Array) yield* formsOfBytes(value, depthMax);
}

/** Yields every value of every table of a SQLite file. */
function* valuesIn(file: string): Generator<unknown> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const { name } of tables)
      for (const row of database.prepare(`SELECT * FROM "${String(name)}"`).all()) yield* Object.values(row);
  } finally {
    database.close();
  }
}

/** Returns which of these texts a closed SQLite file holds: in its bytes, or in a value in any form. */
export async function textsLeft(file: string, texts: readonly string[]): Promise<string[]> {
  const left = new Set<string>();
  const look = (form: string): void => {
    for (const text of texts) if (form.includes(text)) left.add(text);
  };
  const bytes = await readFile(file);
  look(bytes.toString('latin1'));
  look(bytes.toString('utf8'));
  for (const value of valuesIn(file)) for (const form of formsOf(value)) look(form);
  return [...left];
}
