import { RepriseError } from '../error.ts';
import type { Event, EventDraft } from '../event/event.ts';
import { isObject, type JsonObject, type JsonValue } from '../json.ts';

/** The beginning of a source, by which its format is detected. */
export interface SourceHead {
  /** The path of its file; undefined for a stream or a value. */
  readonly path: string | undefined;
  /** Its first bytes as text; of a short source, all of it. */
  readonly text: string;
}

/**
 * How a source is cut into units: its lines; the elements of an array, in the top object under the first of these names
 * that has one (the empty name is a top array); or the whole file as one unit. If each line is a separate source, the
 * file is cut into `sources`, and each of them is asked how it is cut.
 */
export type UnitCut =
  | { readonly kind: 'lines' }
  | { readonly kind: 'elements'; readonly of: readonly string[] }
  | { readonly kind: 'whole' }
  | { readonly kind: 'sources' };

/** One unit of a source. */
export interface ForeignUnit {
  /** The id of the base that has it, if it is part of the history before the source; see {@link SourceBase}. */
  readonly base?: string;
  /** The file of the source that has it: its path below the source's main file; empty for that file itself. */
  readonly file: string;
  /** Its place in the file, from 0. */
  readonly at: number;
  /** Its text, verbatim; undefined if its bytes are no text. */
  readonly text: string | undefined;
  /** Its bytes, if they are no text. */
  readonly bytes?: Uint8Array;
  /** Its parsed JSON; undefined if its text is not JSON, or has a number that JavaScript cannot carry exactly. */
  readonly value: JsonValue | undefined;
  /** Returns the value of a later unit of the same file, 1 for the next; undefined in a source of lines. */
  readonly later: (count: number) => JsonValue | undefined;
}

/** The meaning of a unit. */
export interface UnitMeaning {
  /** The type that the format gives it, whatever its letters and length. */
  readonly type: string;
  /** The id that the source gives it. */
  readonly id?: string;
  /** The id of the unit it follows; the unit before it in the file if left out. */
  readonly parent?: string;
  /**
   * Set if it begins a prompt or a response. Two prompts, or two responses of different ids, after one message are a
   * fork. A prompt begins a turn.
   */
  readonly begins?: { readonly kind: 'prompt' | 'response'; readonly id: string };
  /** Whether it is part of the talk. Nothing forks at a unit that is not, such as a progress line. */
  readonly isTalk?: boolean;
  /** The id of the last unit that stays: the source rewound to it. Empty for the beginning. */
  readonly rewindTo?: string;
  /** The events that it means; none if it means nothing here, and then it is kept as it is. */
  readonly drafts: readonly EventDraft[];
  /** Events that end what earlier units began, such as a response: they come before this unit's own. */
  readonly settled?: readonly EventDraft[];
  /** More about its place, which goes into `data.foreign`. */
  readonly place?: JsonObject;
  readonly warnings?: readonly string[];
}

/** Facts about a source that its reader is opened with. */
export interface ForeignSource extends SourceHead {
  /** The JSON around the elements, with the array empty; undefined for sources of lines, and if it cannot be parsed. */
  readonly document: JsonObject | undefined;
  /** The files of the source, the main one first. */
  readonly files: readonly string[];
}

/** Reads the units of one source in order. The meaning of one may depend on those before it. */
export interface ForeignReader {
  /** The id of the session in its own system; undefined if the source has none. */
  readonly session?: string | undefined;
  /** When the source begins; unknown if left out. */
  readonly startedAt?: string | undefined;
  /** The metadata that the session begins with. */
  readonly metadata?: JsonObject;
  /** Returns the meaning of a unit; undefined if this format has no such unit. */
  unit(unit: ForeignUnit): UnitMeaning | undefined;
  /** Returns what only the end of the source settles, such as a response that was not continued, or an open call. */
  end?(): { readonly drafts?: readonly EventDraft[]; readonly warnings?: readonly string[] };
}

/** Facts about a history that its writer is opened with. */
export interface WriterSource {
  readonly session: string;
  readonly metadata: JsonObject;
  /** The text of the source's first and of its last unit; left out if the history was not imported. */
  readonly first?: string;
  readonly last?: string;
}

/** Writes events in a format. */
export interface ForeignWriter {
  /** Returns the units of an event that was recorded here; none if the format cannot express it. */
  event(event: Event): readonly string[];
  /** Returns an imported unit whose events were edited since; undefined if the format cannot express it. */
  edited?(text: string, events: readonly Event[]): string | undefined;
  /** Returns the units that were held back for events which may follow, after the last one. */
  end?(): readonly string[];
  /** Returns the text around the units of a new file, after it has seen all events; each unit is a line if left out. */
  frame?(): UnitFrame;
}

/** The text around the units of a new file. */
export interface UnitFrame {
  readonly head: string;
  /** The text between two units. */
  readonly between: string;
  readonly tail: string;
  /** The whole file if it has no unit; the head and the tail if left out. */
  readonly empty?: string;
}

/** A place where a tool keeps its sessions. */
export interface ToolPlace {
  /** The folder of the tool: `~` is the home directory. */
  readonly home: string;
  /** The variable of the environment that names a different folder of the tool. */
  readonly variable?: string;
  /** The folder of its sessions below that one. */
  readonly below: string;
  /** The ending of the names of its files. */
  readonly ending: string;
}

/** A file of a folder, with its first bytes. */
export interface FoundFile {
  readonly path: string;
  readonly text: string;
}

/** How the files of a source belong together. */
export interface FileFamily {
  /** Matches the paths of files that may belong to a main file. No other file is opened to find out. */
  readonly parts: RegExp;
  /** Returns the folders that may contain more files of a source, by the path of its main file. */
  beside(path: string): readonly string[];
  /**
   * Returns the source that a file belongs to, and its rank: a file belongs to the one of the lowest rank. Undefined for a
   * file that is a whole source.
   */
  place(file: FoundFile): { readonly source: string; readonly rank: number } | undefined;
}

/** A unit of a base, by which a format decides whether it comes before a point. */
export interface BaseUnit {
  /** Its parsed JSON; undefined if it has none. */
  readonly value: JsonValue | undefined;
  /** The bytes of the base's file before the unit. */
  readonly from: number;
  /** The bytes of the base's file up to the end of the unit. */
  readonly to: number;
}

/** The point of a base that a source continues from. */
export interface BasePoint {
  /** The id of the base in its own system. */
  readonly source: string;
  /** Says where a unit of the base is: before the point, as the last one before it, or after it. */
  sideOf(unit: BaseUnit): 'before' | 'last' | 'after';
}

/**
 * How a source continues a different one, its base, whose file has the history before it. The engine looks for the
 * base and reads that history first.
 */
export interface SourceBase {
  /** Returns the point that a source continues from; undefined for a source that has all of its history. */
  pointOf(head: SourceHead): BasePoint | undefined;
  /** Returns the folders in which the file of a base may be, by the path of the file that continues it. */
  beside(path: string): readonly string[];
  /** Returns the id by which other sources name a file. `text` is left out for a file that was not opened yet. */
  idOf(file: { readonly path: string; readonly text?: string }): string | undefined;
  /** Returns the units of the bases and of the source, in order, as those of a source that has all of its history. */
  joined(units: readonly string[]): readonly string[];
}

/**
 * A format of saved runs. It says what one unit of a source means; the engine reads the source, keeps the text of every
 * unit, appends, follows and exports. The contract suite `formatContract` in `reprise/testing` proves a format.
 */
export interface ForeignFormat {
  readonly name: string;
  /** The tool that writes it, in a few words. */
  readonly about: string;
  /** Where the tool keeps its sessions. */
  readonly places?: readonly ToolPlace[];
  /** Tells from the beginning of a source whether it has this format. */
  detect(head: SourceHead): boolean;
  /** Says how a source is cut into units. */
  cut(head: SourceHead): UnitCut;
  /** Loads what reading a source needs, such as a parser that nothing else needs; the beginning tells what that is. */
  load?(head: SourceHead): Promise<void>;
  /** Opens a reader of one source; throws `import.invalid` if the source is not of this format after all. */
  open(source: ForeignSource): ForeignReader;
  /** How the files of a source belong together; left out if a source is one file. */
  readonly family?: FileFamily;
  /** How a source continues a different one; left out if every source has all of its history. */
  readonly base?: SourceBase;
  /** Puts the files of a source into the order in which they are read; the main one, whose name is empty, first if left out. */
  order?(names: readonly string[]): readonly string[];
  /** Opens a writer; a format without one cannot be written, but an import that was not changed comes back. */
  write?(source: WriterSource): ForeignWriter;
  /** Whether no source has the format, because it is only for writing. */
  readonly writeOnly?: true;
  /** Returns the type and text by which the format compares a unit. */
  outline?(unit: string): { readonly type: string; readonly text: string };
  /** Returns the path below the folder of its sessions, and the text, from which its tool resumes a session. */
  resume?(lines: readonly string[], facts: ResumeFacts): { readonly path: string; readonly text: string };
}

/** Facts about a history that is handed back to its tool. */
export interface ResumeFacts {
  /** A new id for the session in its own system. */
  readonly id: string;
  /** When it is handed back. */
  readonly time: string;
}

/**
 * Checks a format and returns it. Use it for a format of your own: `formats` in `reprise.config.ts` adds it.
 *
 * @example
 * ```ts
 * const diary = defineFormat({
 *   name: 'diary',
 *   about: 'lines of { who, said }',
 *   detect: ({ text }) => text.startsWith('{"who"'),
 *   cut: () => ({ kind: 'lines' }),
 *   open: () => ({
 *     unit: ({ value }) => ({
 *       type: 'entry',
 *       drafts: [{ type: 'message.added', data: { message: { role: 'user', content: JSON.stringify(value) } } }],
 *     }),
 *   }),
 * });
 * ```
 */
export function defineFormat(format: ForeignFormat): ForeignFormat {
  return checkFormat(format);
}

/** Takes a value as a format, or throws `config.invalid`. */
export function checkFormat(value: unknown): ForeignFormat {
  if (!isFormat(value))
    throw new RepriseError('config.invalid', 'Cannot use a format: it is not { name, about, detect, cut, open }', {
      hint: 'Make it with defineFormat({ name, about, detect, cut, open }).',
      details: { field: 'formats' },
    });
  if (!/^[a-z][a-z0-9-]*$/.test(value.name))
    throw new RepriseError(
      'config.invalid',
      `Cannot use the format ${JSON.stringify(value.name)}: use a different name`,
      {
        hint: 'Use small letters, digits and hyphens: my-format.',
        details: { field: 'formats' },
      },
    );
  return value;
}

function isFormat(value: unknown): value is ForeignFormat {
  if (!isObject(value)) return false;
  const held: Record<string, unknown> = value;
  const isText = (key: string): boolean => typeof held[key] === 'string' && held[key] !== '';
  return isText('name') && isText('about') && ['detect', 'cut', 'open'].every((key) => typeof held[key] === 'function');
}
