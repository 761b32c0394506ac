import { messageOf, RepriseError } from '../../core/error.ts';
import { isObject, type JsonInput } from '../../core/json.ts';
import { shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { FileReading } from '../../core/recording/foreign-files.ts';
import type { ForeignFormat, FoundFile } from '../../core/recording/foreign-format.ts';
import type { Engine } from '../context/engine.ts';
import { detected, foundIn, headBytes, headOf } from './found-sources.ts';
import type { ImportOptions, ImportSource } from './import-options.ts';
import { BaseFiles } from './source-bases.ts';
import type { FileBytes } from './source-receipt.ts';

/** A source to read: its format, its beginning, and its files. */
export interface OpenedSource {
  readonly format: ForeignFormat;
  readonly path: string | undefined;
  /** The first bytes as text. */
  readonly text: string;
  /** The files, the main one first; the name of that one is empty. */
  readonly files: readonly SourceFile[];
  /** Finds the files of the sources that it continues. */
  readonly bases: BaseFiles;
}

/** A file of a source. */
export interface SourceFile extends FileBytes {
  /** Reads the file; `onEnd` hears the digest of what was read. */
  readonly chunks: (onEnd: (digest: string) => void) => AsyncIterable<string | Uint8Array>;
}

/** Opens a source by its path. Its other files are looked for if they are not given. */
export async function openPath(
  engine: Engine,
  path: string,
  options: ImportOptions,
  bases: BaseFiles,
  parts?: readonly string[],
): Promise<OpenedSource> {
  const { files } = engine;
  const kind = await files.kindOf(path);
  if (kind === 'folder') {
    const { sources: found } = await foundIn(engine, path, options.format);
    const [only] = found;
    if (only === undefined) refuseFormat(engine, options.format, path);
    if (found.length === 1) return openPath(engine, only.path, options, bases, only.parts);
    throw new RepriseError(
      'import.invalid',
      `Cannot import ${JSON.stringify(path)} as one session: it holds ${found.length} sources`,
      {
        hint: 'Use importAll, or name one of the files.',
        details: { path },
      },
    );
  }
  // A pipe is read once, and a read of one without a writer never ends.
  if (kind === 'other')
    throw new RepriseError('import.invalid', `Cannot import ${JSON.stringify(path)}: it is not a regular file`, {
      hint: 'Read a pipe as a stream: `reprise import - < PATH`.',
      details: { path },
    });
  const text = await readFailing(path, () => headOf(engine, path));
  const format = formatFor(engine, { path, text }, options.format);
  const reading: FileReading = {
    follow: options.follow === true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  const main = fileOf(engine, { name: '', path }, reading);
  const others = parts ?? (await partsOf(engine, format, { path, text }));
  const all = [main, ...others.map((part) => fileOf(engine, { name: nameBeside(path, part), path: part }, {}))];
  const names = format.order?.(all.map(({ name }) => name)) ?? all.map(({ name }) => name);
  const ordered = all.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  return { format, path, text, files: ordered, bases };
}

async function readFailing<Value>(path: string, body: () => Promise<Value>): Promise<Value> {
  try {
    return await body();
  } catch (error) {
    throw new RepriseError('import.invalid', `Cannot import ${JSON.stringify(path)}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Returns the paths of the other files of a source. Only files whose path says that they may be one are opened. */
async function partsOf(engine: Engine, { family }: ForeignFormat, main: FoundFile): Promise<readonly string[]> {
  const own = family?.place(main);
  if (family === undefined || own === undefined) return [];
  const parts = new Set<string>();
  for (const folder of family.beside(main.path))
    for await (const path of engine.files.list(folder)) {
      if (path === main.path || parts.has(path) || !family.parts.test(path)) continue;
      const place = family.place({ path, text: await headOf(engine, path) });
      if (place?.source === own.source && place.rank > own.rank) parts.add(path);
    }
  return [...parts];
}

/** Returns the name of a file below the folder of the main one. */
function nameBeside(main: string, path: string): string {
  const base = main.slice(0, Math.max(main.lastIndexOf('/'), main.lastIndexOf('\\')) + 1);
  return path.startsWith(base) ? path.slice(base.length) : path;
}

function fileOf(engine: Engine, { name, path }: { name: string; path: string }, reading: FileReading): SourceFile {
  const { files } = engine;
  return {
    name,
    chunks: async function* (onEnd) {
      const digest = files.createDigest();
      try {
        for await (const chunk of files.read(path, reading)) {
          digest.update(chunk);
          yield chunk;
        }
      } catch (error) {
        throw new RepriseError('import.invalid', `Cannot import ${JSON.stringify(path)}: ${messageOf(error)}`, {
          cause: error,
        });
      }
      onEnd(digest.digest());
    },
    digest: async () => {
      const digest = files.createDigest();
      for await (const chunk of files.read(path)) digest.update(chunk);
      return digest.digest();
    },
  };
}

/** Opens a value or a stream; its format is detected from its first bytes. */
export async function openValue(
  engine: Engine,
  source: Exclude<ImportSource, string>,
  options: ImportOptions,
): Promise<OpenedSource> {
  const chunks = isStream(source) ? source[Symbol.asyncIterator]() : valueChunks(source);
  const first: (string | Uint8Array)[] = [];
  let [length, hasLine, hasMore] = [0, false, false];
  while (length < headBytes || (!hasMore && length < limits.importUnitBytesMax)) {
    const next = await chunks.next();
    if (next.done === true) break;
    first.push(next.value);
    length += next.value.length;
    hasMore ||= hasLine;
    hasLine ||= typeof next.value === 'string' ? next.value.includes('\n') : next.value.includes(10);
    // A little more shows whether a second line follows.
    hasMore ||= hasLine && ![10, '\n'].includes(next.value.at(-1) ?? '');
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const all = first
    .map((chunk) => (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })))
    .join('');
  const text = all.slice(0, Math.max(headBytes, hasLine ? all.indexOf('\n') + 1_024 : all.length));
  const format = formatFor(engine, { path: undefined, text }, options.format);
  const main: SourceFile = {
    name: '',
    chunks: async function* () {
      yield* first;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    },
    digest: async () => undefined,
  };
  return { format, path: undefined, text, files: [main], bases: new BaseFiles(engine) };
}

async function* valueChunks(source: JsonInput): AsyncGenerator<string> {
  if (!isObject(source))
    throw new RepriseError('import.invalid', `Cannot import ${shownValue(source)}: it is not a saved run`, {
      hint: 'Pass the path of a file, its parsed content, or a stream.',
    });
  yield jsonText(source);
}

function jsonText(source: JsonInput): string {
  try {
    return `${JSON.stringify(source, null, 2)}\n`;
  } catch (error) {
    throw new RepriseError('import.invalid', `Cannot import a value: ${messageOf(error)}`, { cause: error });
  }
}

const isStream = (source: unknown): source is AsyncIterable<string | Uint8Array> =>
  typeof source === 'object' && source !== null && Symbol.asyncIterator in source;

function formatFor(
  engine: Engine,
  head: { readonly path: string | undefined; readonly text: string },
  name: string | undefined,
): ForeignFormat {
  if (head.text.trim() === '')
    throw new RepriseError('import.invalid', 'Cannot import: the source is empty', {
      hint: 'Check where it was written.',
    });
  const found = name === undefined ? detected(engine, head, undefined) : engine.formats.get(name);
  return found ?? refuseFormat(engine, name, undefined);
}

/** Refuses a name that no format has, or a source of no known format: the folder, or one file if it is left out. */
export function refuseFormat(engine: Engine, name: string | undefined, folder: string | undefined): never {
  const formats = [...engine.formats.values()].flatMap(({ name: known, writeOnly }) =>
    writeOnly === true ? [] : [known],
  );
  const isUnknown = name !== undefined && !engine.formats.has(name);
  const where =
    folder === undefined ? 'the file is of no known format' : `${JSON.stringify(folder)} has no file of a known format`;
  throw new RepriseError(
    'import.invalid',
    isUnknown ? `Cannot import: there is no format "${name}"` : `Cannot import: ${where}`,
    { hint: `Formats: ${formats.join(', ')}.`, details: { formats } },
  );
}
