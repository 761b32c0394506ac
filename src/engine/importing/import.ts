import { hasCode, RepriseError } from '../../core/error.ts';
import { checkKeys } from '../../core/known-keys.ts';
import type { Engine } from '../context/engine.ts';
import { type FoundSource, foundIn, refuseFollowing, refuseSeveral } from './found-sources.ts';
import {
  type Imported,
  type ImportFailure,
  type ImportOptions,
  type ImportSource,
  importKeys,
  type SourceOptions,
} from './import-options.ts';
import { importSource } from './import-source.ts';
import { type OpenedSource, openPath, openValue, refuseFormat } from './opened-source.ts';
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
