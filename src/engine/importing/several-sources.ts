import { given } from '../../core/json.ts';
import type { ForeignFiles } from '../../core/recording/foreign-files.ts';
import { type FoundSource, stemOf } from './found-sources.ts';
import type { SourceOptions } from './import-options.ts';
import type { OpenedSource } from './opened-source.ts';
import { lineBatches, type RawUnit } from './source-units.ts';

/** One source of several, and the ids of its session if the source names none. */
export interface NamedSource extends Pick<SourceOptions, 'stem' | 'stemAlone'> {
  readonly source: OpenedSource;
}

/** Returns true if each line of a source is a separate source. */
export const isSeveral = ({ format, path, text }: OpenedSource): boolean =>
  format.cut({ path, text }).kind === 'sources';

/** Reads the sources of a file in which each line is one, a line at a time. */
export async function* sourcesIn(
  files: ForeignFiles,
  whole: OpenedSource,
  { stem, stemAlone }: SourceOptions,
): AsyncGenerator<NamedSource> {
  const { path } = whole;
  const named = stem ?? (path === undefined ? undefined : stemOf(path));
  for (const file of whole.files)
    for await (const units of lineBatches(
      file.chunks(() => undefined),
      file.name,
    ))
      for (const raw of units)
        if (raw.text?.trim() !== '')
          yield {
            source: lineSource(files, whole, raw),
            ...given({ stem: lineStem(named, raw), stemAlone: lineStem(stemAlone, raw) }),
          };
}

/** Returns the id for a line. A file of one line is a separate source: its session stays when more lines follow. */
const lineStem = (stem: string | undefined, { at }: RawUnit): string | undefined =>
  stem === undefined || at === 0 ? stem : `${stem}-${at + 1}`;

function lineSource(
  files: ForeignFiles,
  { format, path, bases }: OpenedSource,
  { text, bytes, end = '\n' }: RawUnit,
): OpenedSource {
  const own = text === undefined ? (bytes ?? new Uint8Array()) : new TextEncoder().encode(`${text}${end}`);
  const digest = (): string => {
    const made = files.createDigest();
    made.update(own);
    return made.digest();
  };
  const main = {
    name: '',
    chunks: async function* (onEnd: (digest: string) => void) {
      yield own;
      onEnd(digest());
    },
    digest: async () => digest(),
  };
  return { format, path, text: text ?? '', files: [main], bases };
}

/**
 * Gives sources below a folder the ids that their sessions have if they name none: the name of the file, or
 * its path in the folder if a different source there has the same name.
 */
export function withStems(found: readonly FoundSource[], folder: string): readonly FoundSource[] {
  const alike = Map.groupBy(found, ({ path }) => stemOf(path));
  return found.map((source) => {
    if ((alike.get(stemOf(source.path))?.length ?? 0) < 2) return source;
    const below = source.path.startsWith(folder) ? source.path.slice(folder.length) : source.path;
    const stem = below.replace(/^[/\\.]+/, '').replace(/[/\\]+/g, '-');
    return { ...source, stem, ...given({ stemAlone: stemOf(source.path) }) };
  });
}
