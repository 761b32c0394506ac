import { hasCode, messageOf, RepriseError } from '../../core/error.ts';
import { isObject, type JsonInput } from '../../core/json.ts';
import { checkKeys, shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { FileReading } from '../../core/recording/foreign-files.ts';
import type { ForeignFormat, FoundFile } from '../../core/recording/foreign-format.ts';
import type { Engine } from '../context/engine.ts';
import {
  type Imported,
  type ImportFailure,
  type ImportOptions,
  type ImportSource,
  importKeys,
} from './import-options.ts';
import { importSource, type OpenedSource, type SourceFile } from './import-source.ts';

/** The bytes of a source by which its format is detected. */
const headBytes = 65_536;

/** How often an import is made again because a different one wrote the same session. */
const triesMax = 5;

/** Reads one source into a session, and tells what it held. */
export async function importOne(engine: Engine, source: ImportSource, options: ImportOptions): Promise<Imported> {
  checkKeys(options, importKeys);
  if (typeof source !== 'string') return importSource(engine, await openValue(engine, source, options), options);
  for (let tries = 1; ; tries++) {
    try {
      return await importSource(engine, await openPath(engine, source, options), options);
    } catch (error) {
      // A different import of the same session was faster: what it stored is known now.
      const isRace = hasCode(error, 'append.conflict') || hasCode(error, 'session.exists');
      if (!isRace || tries >= triesMax || (hasCode(error, 'session.exists') && tries > 1)) throw error;
    }
  }
}

/** Reads every source below a folder, or one file, one after the other; one that cannot be read does not stop the rest. */
export async function* importEach(
  engine: Engine,
  source: ImportSource,
  options: ImportOptions,
): AsyncGenerator<Imported | ImportFailure, void, undefined> {
  checkKeys(options, importKeys);
  if (typeof source !== 'string' || (await engine.files.kindOf(source)) !== 'folder') {
    yield await importOne(engine, source, options);
    return;
  }
  const found = await foundIn(engine, source, options);
  if (found.length === 0) refuseFormat(engine, options.format, source);
  if (options.session !== undefined && found.length > 1)
    throw new RepriseError(
      'import.invalid',
      `Cannot import ${found.length} sources into one session "${options.session}"`,
      {
        hint: 'Leave out the session, or import the files one by one.',
      },
    );
  for (const path of found) {
    try {
      yield await importOne(engine, path, options);
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      yield { path, error: error instanceof Error ? error : new Error(String(error)) };
    }
  }
}

/** Returns the main files of the sources below a folder. A file of no known format is none. */
async function foundIn(engine: Engine, folder: string, options: ImportOptions): Promise<readonly string[]> {
  const found: { readonly file: FoundFile; readonly format: ForeignFormat }[] = [];
  for await (const path of engine.files.list(folder)) {
    const file = { path, text: await headOf(engine, path) };
    const format = detected(engine, file, options.format);
    if (format !== undefined) found.push({ file, format });
    if (found.length > limits.importFilesMax)
      throw new RepriseError(
        'limit.exceeded',
        `Cannot import ${JSON.stringify(folder)}: it has more than ${limits.importFilesMax} files ("importFilesMax")`,
        {
          hint: 'Import its folders one by one.',
          details: { limit: 'importFilesMax', max: limits.importFilesMax },
        },
      );
  }
  // A file that belongs to a different one of its folder is read with that one.
  const isPart = ({ file, format }: (typeof found)[number]): boolean =>
    format.belongs !== undefined &&
    found.some((main) => main.format === format && main.file !== file && format.belongs?.(file, main.file) === true);
  return found.filter((each) => !isPart(each)).map(({ file }) => file.path);
}

async function headOf(engine: Engine, path: string): Promise<string> {
  // A character that is cut at the end becomes a replacement, which no format looks for.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await engine.files.head(path, headBytes));
}

function detected(
  engine: Engine,
  { path, text }: { path: string | undefined; text: string },
  name: string | undefined,
): ForeignFormat | undefined {
  if (text.trim() === '') return undefined;
  const formats = [...engine.formats.values()].filter((format) => name === undefined || format.name === name);
  return formats.find((format) => format.detect({ path, text }));
}

async function openPath(engine: Engine, path: string, options: ImportOptions): Promise<OpenedSource> {
  const { files } = engine;
  const kind = await files.kindOf(path);
  if (kind === 'folder') {
    const found = await foundIn(engine, path, options);
    const [only] = found;
    if (only === undefined) refuseFormat(engine, options.format, path);
    if (found.length === 1) return openPath(engine, only, options);
    throw new RepriseError(
      'import.invalid',
      `Cannot import ${JSON.stringify(path)} as one session: it holds ${found.length} sources`,
      {
        hint: 'Use importAll, or name one of the files.',
        details: { path },
      },
    );
  }
  const text = await readFailing(path, () => headOf(engine, path));
  const format = formatFor(engine, { path, text }, options.format);
  const reading: FileReading = {
    follow: options.follow === true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  const main = fileOf(engine, { name: '', path }, reading);
  const all = [main, ...(await partsOf(engine, format, { path, text }))];
  const names = format.order?.(all.map(({ name }) => name)) ?? all.map(({ name }) => name);
  const ordered = all.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  return { format, path, text, files: ordered };
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

/** Returns the other files of a source. */
async function partsOf(engine: Engine, format: ForeignFormat, main: FoundFile): Promise<SourceFile[]> {
  if (format.beside === undefined || format.belongs === undefined) return [];
  const parts: SourceFile[] = [];
  const base = main.path.slice(0, Math.max(main.path.lastIndexOf('/'), main.path.lastIndexOf('\\')) + 1);
  for (const folder of format.beside(main.path)) {
    for await (const path of engine.files.list(folder)) {
      if (path === main.path || !format.belongs({ path, text: await headOf(engine, path) }, main)) continue;
      const name = path.startsWith(base) ? path.slice(base.length) : path;
      if (!parts.some((part) => part.name === name)) parts.push(fileOf(engine, { name, path }, {}));
    }
  }
  return parts;
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
async function openValue(
  engine: Engine,
  source: Exclude<ImportSource, string>,
  options: ImportOptions,
): Promise<OpenedSource> {
  const chunks = isStream(source) ? source[Symbol.asyncIterator]() : valueChunks(source);
  const first: (string | Uint8Array)[] = [];
  let bytes = 0;
  while (bytes < headBytes) {
    const next = await chunks.next();
    if (next.done === true) break;
    first.push(next.value);
    bytes += next.value.length;
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const text = first
    .map((chunk) => (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })))
    .join('');
  const format = formatFor(engine, { path: undefined, text: text.slice(0, headBytes) }, options.format);
  const main: SourceFile = {
    name: '',
    chunks: async function* () {
      yield* first;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    },
    digest: async () => undefined,
  };
  return { format, path: undefined, text: text.slice(0, headBytes), files: [main] };
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

function refuseFormat(engine: Engine, name: string | undefined, folder: string | undefined): never {
  const formats = [...engine.formats.keys()];
  const isUnknown = name !== undefined && !engine.formats.has(name);
  const where =
    folder === undefined
      ? 'the file is of no known format'
      : `${JSON.stringify(folder)} holds no file of a known format`;
  throw new RepriseError(
    'import.invalid',
    isUnknown ? `Cannot import: there is no format "${name}"` : `Cannot import: ${where}`,
    { hint: `Formats: ${formats.join(', ')}.`, details: { formats } },
  );
}
