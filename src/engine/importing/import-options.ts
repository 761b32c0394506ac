import type { JsonInput } from '../../core/json.ts';
import { type KnownKeys, optionKeys } from '../../core/known-keys.ts';
import type { Abort } from '../../core/store/event-store.ts';

/** A saved run: the path of its file or folder, its parsed content, or a stream of its text or bytes. */
export type ImportSource = string | JsonInput | AsyncIterable<string | Uint8Array>;

/** How to import. */
export interface ImportOptions {
  /** The name of the format; detected if left out. */
  readonly format?: string;
  /** The id of the session; the id in the source if left out. */
  readonly session?: string;
  /** Masks secrets in the events and in the kept source; the export then differs from the source. */
  readonly mask?: boolean;
  /** Keeps up with a file that is written, until the signal is aborted. */
  readonly follow?: boolean;
  readonly signal?: Abort;
  /** Called whenever something was stored. */
  readonly onProgress?: (progress: ImportProgress) => void;
}

/** How to import one of several sources. */
export interface SourceOptions extends ImportOptions {
  /** The id of the session if the source has none; that of its file if left out. */
  readonly stem?: string;
  /** The id that the session has if an import of this source alone made it. */
  readonly stemAlone?: string;
}

/** How far an import is. */
export interface ImportProgress {
  readonly session: string;
  /** The bytes of the source that were read. */
  readonly bytes: number;
  readonly units: number;
  /** The events that were appended. */
  readonly events: number;
}

/** Something about a source that a person should know. */
export interface ImportWarning {
  /** The file; empty for the main one. */
  readonly file: string;
  /** The place of the unit in its file, from 0. */
  readonly at: number;
  readonly message: string;
}

/** One imported source. */
export interface Imported {
  readonly session: string;
  readonly format: string;
  /** The path of the source; null for a value or a stream. */
  readonly path: string | null;
  /** `imported` into a new session, `extended` with what is new, `branched` where it differs, or `unchanged`. */
  readonly outcome: 'imported' | 'extended' | 'branched' | 'unchanged';
  /** The branches that have its units, `main` first. */
  readonly branches: readonly string[];
  /** The events that were appended. */
  readonly events: number;
  /** The units of the source, and of the history before it that was read from its bases. */
  readonly units: number;
  /** The units that were kept without a meaning. */
  readonly kept: number;
  readonly bytes: number;
  readonly warnings: readonly ImportWarning[];
  /** The warnings in all; `warnings` lists the first of them. */
  readonly warningCount: number;
  /** How many units contain a secret that masking finds, by rule. */
  readonly secrets: Readonly<Record<string, number>>;
}

/** A source that could not be imported. */
export interface ImportFailure {
  readonly path: string;
  readonly error: Error;
}

/** The options of an import. */
export const importKeys: KnownKeys = optionKeys<ImportOptions>(
  'import',
  { format: 'text', session: 'text', mask: 'flag', follow: 'flag', signal: 'signal', onProgress: 'function' },
  'an import',
);
