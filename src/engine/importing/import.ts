import { hasCode, messageOf, RepriseError } from '../../core/error.ts';
import { isObject, type JsonInput } from '../../core/json.ts';
import { checkKeys, shownValue } from '../../core/known-keys.ts';
import { limits } from '../../core/limits.ts';
import type { FileReading } from '../../core/recording/foreign-files.ts';
import type { ForeignFormat, FoundFile } from '../../core/recording/foreign-format.ts';
import type { Engine } from '../context/engine.ts';
import {
  detected,
  type FoundSource,
  foundIn,
  headBytes,
  headOf,
  refuseFollowing,
  refuseSeveral,
} from './found-sources.ts';
import {
  type Imported,
  type ImportFailure,
  type ImportOptions,
  type ImportSource,
  importKeys,
  type SourceOptions,
} from './import-options.ts';
import { importSource, type OpenedSource, type SourceFile } from './import-source.ts';
import { isSeveral, sourcesIn, withStems } from './several-sources.ts';
import { BaseFiles } from './source-bases.ts';

/** How often an import is made again because a different one wrote the same session. */
const triesMax = 5;

/** Reads one source into a session, and tells what it held. */
export async function importOne(engine: Engine, source: ImportSource, options: ImportOptions): Promise<Imported> {
  checkKeys(options, importKeys);
  return typeof source === 'string'
    ? importPath(engine, source, options, new BaseFiles(engine))
    : importSource(engine, await openValue(engine, source, options), options);
}

/** Reads one source by its path; its other files are looked for if they are not given. */
async function importPath(
  engine: Engine,
  path: string,
  options: SourceOptions,
  bases: BaseFiles,
  parts?: readonly string[],
): Promise<Imported> {
  return importAgain(engine, () => openPath(engine, path, options, bases, parts), options);
}

/** Imports a source, and tries again if a different import wrote the same session. */
async function importAgain(
  engine: Engine,
  open: () => Promise<OpenedSource>,
  options: SourceOptions,
): Promise<Imported> {
  for (let tries = 1; ; tries++) {
    try {
      return await importSource(engine, await open(), options);
    } catch (error) {
      // A different import of the same session was faster: what it stored is known now.
      const isRace = (['append.conflict', 'event.id-reused', 'session.exists'] as const).some((code) =>
        hasCode(error, code),
      );
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
    const opened = await opens(engine, source, options);
    if (isSeveral(opened)) yield* importSeveral(engine, opened, options);
    else
      yield await (typeof source === 'string'
        ? importPath(engine, source, options, new BaseFiles(engine))
        : importSource(engine, opened, options));
    return;
  }
  const { sources: found, broken, ids } = await foundIn(engine, source, options.format);
  if (found.length === 0) refuseFormat(engine, options.format, source);
  if (options.session !== undefined && found.length > 1)
    throw new RepriseError(
      'import.invalid',
      `Cannot import ${found.length} sources into one session "${options.session}"`,
      {
        hint: 'Leave out the session, or import the files one by one.',
      },
    );
  if (options.follow === true && found.length > 1) refuseFollowing(source, found.length);
  yield* importFound(engine, withStems(found, source), options, new BaseFiles(engine, ids));
  yield* broken;
}

function opens(engine: Engine, source: ImportSource, options: ImportOptions): Promise<OpenedSource> {
  return typeof source === 'string'
    ? openPath(engine, source, options, new BaseFiles(engine))
    : openValue(engine, source, options);
}

/** Reads the sources of a file in which each line is one; one that cannot be read does not stop the rest. */
async function* importSeveral(
  engine: Engine,
  whole: OpenedSource,
  options: SourceOptions,
): AsyncGenerator<Imported | ImportFailure, void, undefined> {
  if (options.session !== undefined) refuseSeveral(whole.path);
  for await (const { source, ...stems } of sourcesIn(engine.files, whole, options))
    yield await reported(whole.path ?? '-', options, () =>
      // The file is followed, and a line of it is whole.
      importAgain(engine, async () => source, { ...options, ...stems, follow: false }),
    );
}

/** Sources that are read at the same time, so that their appends share transactions. */
const atOnce = 8;

/** Reads sources a few at a time, and yields their reports in order. */
async function* importFound(
  engine: Engine,
  found: readonly FoundSource[],
  options: ImportOptions,
  bases: BaseFiles,
): AsyncGenerator<Imported | ImportFailure, void, undefined> {
  const started: Promise<readonly (Imported | ImportFailure)[]>[] = [];
  try {
    for (const [index, source] of found.entries()) {
      for (let next = started.length; next < Math.min(index + atOnce, found.length); next++)
        started.push(importReported(engine, found[next] ?? source, options, bases));
      yield* (await started[index]) ?? [];
    }
  } finally {
    // A caller that stops early must not leave work behind.
    await Promise.allSettled(started);
  }
}

/** Reads the sources of a file. */
async function importReported(
  engine: Engine,
  { path, parts, ...stems }: FoundSource,
  options: ImportOptions,
  bases: BaseFiles,
): Promise<readonly (Imported | ImportFailure)[]> {
  const told: (Imported | ImportFailure)[] = [];
  const one = await reported(path, options, async () => {
    const opened = await openPath(engine, path, options, bases, parts);
    if (!isSeveral(opened)) return importPath(engine, path, { ...options, ...stems }, bases, parts);
    for await (const each of importSeveral(engine, opened, { ...options, ...stems })) told.push(each);
    return undefined;
  });
  return one === undefined ? told : [...told, one];
}

async function reported<Told extends Imported | undefined>(
  path: string,
  options: ImportOptions,
  body: () => Promise<Told>,
): Promise<Told | ImportFailure> {
  try {
    return await body();
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    return { path, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

async function openPath(
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
  // A pipe is read once, and a read of one that nobody writes to never ends.
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
async function openValue(
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

function refuseFormat(engine: Engine, name: string | undefined, folder: string | undefined): never {
  const formats = [...engine.formats.values()].flatMap(({ name: known, writeOnly }) =>
    writeOnly === true ? [] : [known],
  );
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
