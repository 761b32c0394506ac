import type { Where } from '../history/where.ts';
import { type Exported, type ExportedPiece, exportFiles, exportPieces, exportText } from './export.ts';
import { withFormats } from './formats.ts';

/**
 * A history that is written in the format of a different system, once it is read: as text, as the bytes of all its files,
 * or in pieces, so that a large history is never held.
 */
export class Exporting implements AsyncIterable<ExportedPiece> {
  readonly #where: Where;
  readonly #format: string;

  constructor(where: Where, format: string) {
    this.#where = where;
    this.#format = format;
  }

  /**
   * Returns the text of the main file; refused if its source is not UTF-8.
   *
   * @example
   * ```ts
   * const text = await session.export({ format: 'shipit' }).text();
   * ```
   */
  async text(): Promise<string> {
    const { engine } = this.#where;
    return exportText(await withFormats(engine), await this.#where.ref('export'), this.#format);
  }

  /**
   * Returns the bytes of all files, and the units that differ from their source because they were edited, erased or
   * masked.
   *
   * @example
   * ```ts
   * const { files, differs } = await session.export({ format: 'shipit' }).files();
   * console.log(files[0]?.bytes.length, differs.length);
   * ```
   */
  async files(): Promise<Exported> {
    const { engine } = this.#where;
    return exportFiles(await withFormats(engine), await this.#where.ref('export'), this.#format);
  }

  /**
   * Yields the files piece by piece. The pieces of a file follow each other, those of the main one first. Each lists the
   * units in it that differ from their source. A source that was changed since its import is held while it is written.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ExportedPiece, void, undefined> {
    const { engine } = this.#where;
    yield* exportPieces(await withFormats(engine), await this.#where.ref('export'), this.#format);
  }
}
