import { RepriseError } from '../../core/error.ts';
import { limits } from '../../core/limits.ts';
import type { ForeignFormat, FoundFile } from '../../core/recording/foreign-format.ts';
import { utf8Length } from '../../core/utf8.ts';
import type { Engine } from '../context/engine.ts';
import type { ImportFailure, SourceOptions } from './import-options.ts';

/** The bytes of a source by which its format is detected; a first line that is longer counts as a whole. */
export const headBytes = 65_536;

/** The main file of a source below a folder, and its other files. */
export interface FoundSource extends Pick<SourceOptions, 'stem' | 'stemAlone'> {
  readonly path: string;
  readonly parts: readonly string[];
}

/** A file of a folder, and the source it belongs to. */
interface PlacedFile {
  readonly path: string;
  /** Undefined for a file that only belongs to others. */
  readonly format: ForeignFormat | undefined;
  /** The name of its source, with that of the format; its own path if it has neither. */
  readonly source: string;
  readonly rank: number;
  /** The id by which sources that continue it name it. */
  readonly id: string | undefined;
}

/** The sources of a folder, and its broken files. */
interface Found {
  readonly sources: readonly FoundSource[];
  /** Files that look like the sources next to them and contain nothing readable. */
  readonly broken: readonly ImportFailure[];
  /** The paths of files that other sources may continue, by the id that these name them by. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Returns the sources below a folder. A file of no known format is left out. Each file is opened once. */
export async function foundIn(engine: Engine, folder: string, format: string | undefined): Promise<Found> {
  const found: PlacedFile[] = [];
  const torn: ImportFailure[] = [];
  let count = 0;
  for await (const path of engine.files.list(folder)) {
    const file = { path, text: await headOf(engine, path) };
    const placed = placedFile(engine, file, format);
    if (placed === undefined) {
      const fault = isPartOfAny(engine, path) ? undefined : faultOf(file);
      if (fault !== undefined) torn.push({ path, error: brokenError(path, fault) });
      continue;
    }
    found.push(placed);
    if (placed.format !== undefined && ++count > limits.importFilesMax) refuseFolder(folder);
  }
  const families = Map.groupBy(found, ({ source }) => source);
  const sources = [...families.values()].flatMap(sourcesOf).sort((a, b) => (a.path < b.path ? -1 : 1));
  const kinds = new Set(sources.map(({ path }) => kindOf(path)));
  const ids = new Map(found.flatMap(({ id, path }) => (id === undefined ? [] : [[id, path] as const])));
  return { sources, ids, broken: torn.filter(({ path }) => kinds.has(kindOf(path))) };
}

/** Returns true if a file may belong to a source: such a file may well be empty. */
function isPartOfAny(engine: Engine, path: string): boolean {
  return formatsNamed(engine, undefined).some(({ family }) => family?.parts.test(path) === true);
}

/** Returns the folder and the ending of a file: those of one kind were written by one tool. */
function kindOf(path: string): string {
  return `${path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')))}\n${endingOf(path)}`;
}

const endingOf = (path: string): string => /\.[^./\\]*$/.exec(path)?.[0] ?? '';

const jsonEndings: ReadonlySet<string> = new Set(['.json', '.jsonl', '.traj', '.har']);

/** Returns why a file of no known format cannot be read; undefined if it can, so that it is something else. */
function faultOf({ path, text }: FoundFile): string | undefined {
  if (text.trim() === '') return 'it is empty';
  if (!jsonEndings.has(endingOf(path))) return undefined;
  const [first = ''] = text.split('\n', 1);
  // A character has up to four bytes, and the last one may be cut.
  const isWhole = utf8Length(text) < headBytes - 4;
  if (endingOf(path) === '.jsonl') return isJson(first) || (isWhole && isJson(text)) ? undefined : 'it is not JSON';
  return !isWhole || isJson(text) ? undefined : 'it is not JSON';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function brokenError(path: string, fault: string): RepriseError {
  return new RepriseError('import.invalid', `Cannot import ${JSON.stringify(path)}: ${fault}`, {
    hint: 'Check how it was written. The other files of its folder are imported.',
    details: { path },
  });
}

function placedFile(engine: Engine, file: FoundFile, name: string | undefined): PlacedFile | undefined {
  const { path } = file;
  const format = detected(engine, file, name);
  const isPartOf = ({ family }: ForeignFormat): boolean => family?.parts.test(path) === true;
  const owner = format ?? formatsNamed(engine, name).find(isPartOf);
  if (owner === undefined) return undefined;
  const place = owner.family?.place(file);
  const id = format?.base?.idOf(file);
  if (place !== undefined) return { path, format, source: `${owner.name}\n${place.source}`, rank: place.rank, id };
  return format === undefined ? undefined : { path, format, source: `\n${path}`, rank: 0, id };
}

/** Returns the sources among files that name the same one: each file of the lowest rank is the main one of a source. */
function sourcesOf(files: readonly PlacedFile[]): FoundSource[] {
  const known = files.filter(({ format }) => format !== undefined);
  const lowest = Math.min(...known.map(({ rank }) => rank));
  const mains = known.filter(({ rank }) => rank === lowest);
  const parts = files.filter((file) => !mains.includes(file)).map(({ path }) => path);
  // Of several main files with one name, the nearest one has a part.
  const ownerOf = (path: string): string | undefined =>
    mains.toSorted((a, b) => sharedLength(b.path, path) - sharedLength(a.path, path))[0]?.path;
  return mains.map(({ path }) => ({ path, parts: parts.filter((part) => ownerOf(part) === path) }));
}

function sharedLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}

/** Returns the name of a file without its ending. */
export function stemOf(path: string): string | undefined {
  return /([^/\\]+?)(?:\.traj\.json|\.[^./\\]*)?$/.exec(path)?.[1];
}

/** Refuses a file of several sources where one is asked for. */
export function refuseSeveral(path: string | undefined): never {
  const what = path === undefined ? 'the source' : JSON.stringify(path);
  throw new RepriseError('import.invalid', `Cannot import ${what} as one session: each of its lines is one`, {
    hint: 'Use importAll, or `reprise import` without --session.',
    details: { path: path ?? null },
  });
}

/** Refuses to follow anything but one file of lines: of `sources` sources, or of a file that is one document. */
export function refuseFollowing(path: string | undefined, sources = 1): never {
  const what = path === undefined ? 'the source' : JSON.stringify(path);
  const why =
    sources > 1
      ? `it holds ${sources} sources, and one file can be followed`
      : 'it cannot be followed, because its tool writes all of it again';
  throw new RepriseError('import.invalid', `Cannot import ${what}: ${why}`, {
    hint: sources > 1 ? 'Name one file.' : 'Import it again when it has changed. A file of lines can be followed.',
    details: { path: path ?? null },
  });
}

function refuseFolder(folder: string): never {
  throw new RepriseError(
    'limit.exceeded',
    `Cannot import ${JSON.stringify(folder)}: it has more than ${limits.importFilesMax} files ("importFilesMax")`,
    { hint: 'Import its folders one by one.', details: { limit: 'importFilesMax', max: limits.importFilesMax } },
  );
}

/** Returns the beginning of a file as text: its first bytes, or its first line if that is longer. */
export async function headOf(engine: Engine, path: string): Promise<string> {
  const first = await engine.files.head(path, headBytes);
  const isCut = first.length === headBytes && !first.includes(lineFeed);
  const bytes = isCut ? firstLineOf(await engine.files.head(path, limits.importUnitBytesMax)) : first;
  // A character that is cut at the end becomes a replacement, which no format looks for.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

const lineFeed = 10;

/** Returns a first line: one that contains an image names its session behind the image. */
function firstLineOf(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(lineFeed);
  // A little more shows whether a second line follows.
  return end < 0 ? bytes : bytes.subarray(0, Math.max(end + 1024, headBytes));
}

/** Returns the format that a source begins like; undefined if there is none. */
export function detected(
  engine: Engine,
  { path, text }: { path: string | undefined; text: string },
  name: string | undefined,
): ForeignFormat | undefined {
  if (text.trim() === '') return undefined;
  return formatsNamed(engine, name).find((format) => format.detect({ path, text }));
}

function formatsNamed(engine: Engine, name: string | undefined): readonly ForeignFormat[] {
  return [...engine.formats.values()].filter((format) => name === undefined || format.name === name);
}
