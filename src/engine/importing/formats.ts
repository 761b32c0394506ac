import { checkKeys, type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Engine } from '../context/engine.ts';

const exportKeys: KnownKeys = optionKeys<{ format: true }>('export', { format: 'text' }, 'an export');

/** Refuses unknown options of an export. */
export function checkFormat(options: { readonly format: string }): void {
  checkKeys(options, exportKeys);
}

/** Returns an engine that has every format. */
export async function withFormats(engine: Engine): Promise<Engine> {
  const loaded = (await engine.loadFormats()).map((format) => [format.name, format] as const);
  return loaded.length === 0 ? engine : { ...engine, formats: new Map([...loaded, ...engine.formats]) };
}
