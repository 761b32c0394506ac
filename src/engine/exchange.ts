import { checkKeys } from '../core/known-keys.ts';
import type { Ref } from '../core/ref.ts';
import type { BundleOptions, ExportedBundle } from './bundling/write-bundle.ts';
import type { Engine } from './context/engine.ts';
import type { Exported, ExportedPiece, HandedBack } from './importing/export.ts';
import type { Imported, ImportFailure, ImportOptions, ImportSource } from './importing/import-options.ts';
import {
  exportFiles,
  exportPieces,
  exportText,
  handBack,
  importEach,
  importOne,
  prove,
  writeBundle,
} from './lazy-verbs.ts';
import type { ConsistencyProof, InclusionProof } from './proving/event-proof.ts';
import type { ProveOptions } from './proving/prove.ts';
import { exportKeys } from './reprise-options.ts';
import { Session } from './session.ts';

/** The verbs that bring histories in from files and take them out again. */
export abstract class Exchange {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Reads a ref; `latest` becomes the session last appended to. */
  abstract resolve(ref: string | Ref): Promise<Ref>;

  /**
   * Imports a saved run of a different system: from the path of its file, its parsed content, or a stream. The text of
   * every unit is kept, so that `export` returns the same bytes. A source that was imported before adds what is new.
   *
   * @example
   * ```ts
   * const saved = { trace_id: 'run-abc', metadata: {}, events: [{ type: 'run_started', message: '', payload: { prompt: 'Hi' } }] };
   * const imported = await reprise.import(saved, { format: 'shipit' });
   * const asked = await imported.stateAt('main', conversation); // its messages: one, from the user
   * ```
   */
  async import(source: ImportSource, options: ImportOptions = {}): Promise<Session> {
    return new Session(this.#engine, (await importOne(this.#engine, source, options)).session);
  }

  /**
   * Imports every source below a folder, or one source, and yields a report of each. A source that cannot be read yields
   * its error, and does not stop the rest.
   *
   * @example
   * ```ts
   * const list = [{ role: 'user', content: 'Where is order 7?' }, { role: 'assistant', content: 'On its way.' }];
   * for await (const told of reprise.importAll({ messages: list }, { session: 'talk' })) {
   *   console.log('error' in told ? told.error.message : [told.session, told.branches, told.events, told.warnings]);
   * }
   * ```
   */
  importAll(
    source: ImportSource,
    options: ImportOptions = {},
  ): AsyncGenerator<Imported | ImportFailure, void, undefined> {
    return importEach(this.#engine, source, options);
  }

  /**
   * Writes the view at a ref in the format of a different system, as the text of its main file.
   *
   * @example
   * ```ts
   * const text = await reprise.export('refund', { format: 'shipit' });
   * ```
   */
  async export(ref: string | Ref, options: { readonly format: string }): Promise<string> {
    checkKeys(options, exportKeys);
    return exportText(this.#engine, await this.resolve(ref), options.format);
  }

  /**
   * Writes the view at a ref in the format of a different system, as the bytes of all its files, and lists the units that
   * differ from their source because they were edited, erased or masked.
   *
   * @example
   * ```ts
   * const { files, differs } = await reprise.exportFiles('refund', { format: 'shipit' });
   * console.log(files[0]?.bytes.length, differs.length);
   * ```
   */
  async exportFiles(ref: string | Ref, options: { readonly format: string }): Promise<Exported> {
    checkKeys(options, exportKeys);
    return exportFiles(this.#engine, await this.resolve(ref), options.format);
  }

  /**
   * Writes the view at a ref in the format of a different system, piece by piece, so that a large history is never held.
   * The pieces of a file follow each other, those of the main one first. Each lists the units in it that differ from
   * their source. A source that was changed since its import is held while it is written.
   *
   * @example
   * ```ts
   * let length = 0;
   * for await (const { file, bytes } of reprise.exportPieces('refund', { format: 'jsonl' })) {
   *   if (file === '') length += bytes.length; // or write them to a file
   * }
   * console.log(length > 0);
   * ```
   */
  async *exportPieces(
    ref: string | Ref,
    options: { readonly format: string },
  ): AsyncGenerator<ExportedPiece, void, undefined> {
    checkKeys(options, exportKeys);
    yield* exportPieces(this.#engine, await this.resolve(ref), options.format);
  }

  /**
   * Returns the view at a ref in the form from which its own tool resumes it: `claude-code`, `codex` or `pi`.
   *
   * @example
   * ```ts
   * const { path, text } = await reprise.handBack('refund', { format: 'claude-code' });
   * ```
   */
  async handBack(ref: string | Ref, options: { readonly format: string }): Promise<HandedBack> {
    checkKeys(options, exportKeys);
    return handBack(this.#engine, await this.resolve(ref), options.format);
  }

  /**
   * Writes a session as a bundle: a folder, or an archive that ends with `.tgz`. A ref with a branch or a point gives its
   * history alone. The same history and options give the same bytes, wherever and whenever.
   *
   * @example
   * ```ts
   * const { manifest, events } = await reprise.exportBundle('refund', { to: 'refund.tgz' });
   * console.log(manifest.root, events);
   * await using bundle = await openReprise('bundle:refund.tgz'); // a store to read, with one session
   * ```
   */
  async exportBundle(ref: string | Ref, options: BundleOptions): Promise<ExportedBundle> {
    const isWhole = typeof ref === 'string' ? !/[/@]/.test(ref) : !('branch' in Object(ref)) && !('at' in Object(ref));
    return writeBundle(this.#engine, await this.resolve(ref), isWhole, options);
  }

  /**
   * Proves that the event at a ref is part of the history of its branch, so that it can be shown without the rest; with
   * `since`, that the history begins with the same events as an earlier one. `verifyProof` checks it.
   *
   * @example
   * ```ts
   * const proof = await reprise.prove('refund@3');
   * console.log(verifyProof(proof).ok); // true
   * ```
   */
  async prove(ref: string | Ref, options: ProveOptions = {}): Promise<InclusionProof | ConsistencyProof> {
    return prove(this.#engine, await this.resolve(ref), options);
  }
}
