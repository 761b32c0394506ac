import { importBundle } from './bundling/import-bundle.ts';
import type { Engine } from './context/engine.ts';
import { withFormats } from './importing/formats.ts';
import * as importing from './importing/import.ts';
import type { Imported, ImportFailure, ImportOptions, ImportSource } from './importing/import-options.ts';

/** Imports one source into a session, or copies a bundle. */
export async function importOne(engine: Engine, source: ImportSource, options: ImportOptions): Promise<Imported> {
  if (await isBundle(engine, source)) return importBundle(engine, String(source), options);
  return importing.importOne(await withFormats(engine), source, options);
}

/** Imports every source of a folder. */
export async function* importEach(
  engine: Engine,
  source: ImportSource,
  options: ImportOptions,
): AsyncGenerator<Imported | ImportFailure, void, undefined> {
  if (await isBundle(engine, source)) yield await importOne(engine, source, options);
  else yield* importing.importEach(await withFormats(engine), source, options);
}

/** Returns true if a source is the path of a bundle. */
async function isBundle(engine: Engine, source: ImportSource): Promise<boolean> {
  return typeof source === 'string' && (await engine.bundles.isBundle(source));
}
