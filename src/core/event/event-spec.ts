import type { JsonObject, JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import type { GistWriter } from './gist-writer.ts';

/** The JSON type a field must have. */
export type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'any';

/**
 * How a field counts when histories are compared: behaviour counts; an id counts only by where it was used first; noise
 * (clocks, latencies, provider ids) does not count.
 */
export type FieldRole = 'behaviour' | 'id' | 'noise';

/** How a field is stored: inline, as a separate part, as a linked list of parts, or as a raw body. */
export type FieldStorage = 'inline' | 'part' | 'list' | 'body';

/** One field of a type's data. */
export interface FieldSpec {
  readonly about: string;
  readonly type: FieldType;
  readonly role: FieldRole;
  readonly storage: FieldStorage;
  /** The bytes from which its value becomes a part; a smaller one stays inline. */
  readonly partBytesMin: number;
  readonly required: boolean;
  /**
   * The version of the type's data that declares the field. Events of an earlier version are read as if the catalogue
   * did not have it: it is not checked, not stored apart, and does not count in a fingerprint or a diff.
   */
  readonly since: number;
}

/** One fault of an event's data. */
export interface FieldFault {
  /** The dotted path of the field. */
  readonly field: string;
  readonly why: string;
}

/** Types that `rewind(…, { only })` can take out of a view by themselves. */
export type EventGroup = 'beliefs';

/** Everything Reprise knows of an event type. */
export interface EventSpec {
  /** The current version of the type's data. */
  readonly version: number;
  /** One sentence for the reference. */
  readonly about: string;
  /** Fields by dotted path. */
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Whether the event changes how the history before it is read. */
  readonly structural: boolean;
  /** Returns the first fault of data whose fields have the right types; undefined if there is none. */
  readonly check?: (data: JsonObject) => FieldFault | undefined;
  /** Returns the keys that as-of reads and append conditions find the event by. */
  readonly keys?: (data: JsonObject, agent: string | undefined) => readonly string[];
  /** Returns whose lists and bodies continue each other within a run and an agent; all of the type's if left out. */
  readonly place?: (data: JsonObject) => string;
  /**
   * Returns what the event is about, apart from its type and agent. A diff shows two different events that are about
   * the same thing as one changed event.
   */
  readonly slot?: (data: JsonObject) => readonly (JsonValue | undefined)[];
  /** Describes the event in a line, the most telling piece first; all fields in order if left out. */
  readonly gist?: (data: JsonObject, write: GistWriter) => readonly string[];
  /** The type of event that this one completes. A revert of either takes out both. */
  readonly completes?: string;
  /** Types of events whose revert takes out the events of this type that they led to. */
  readonly goesWith?: readonly string[];
  /** The group that the type belongs to. */
  readonly group?: EventGroup;
  /** Whether an audit lists the events; it always lists structural ones. */
  readonly audited?: true;
  /** A worked example of the data. */
  readonly example: { readonly [key: string]: JsonValue };
}

/** The declaration of an entry of the catalogue. */
type Declaration = Omit<EventSpec, 'about' | 'version' | 'structural'> &
  Partial<Pick<EventSpec, 'version' | 'structural'>>;

/**
 * Returns an entry of the catalogue. Its version is that of the last field that was added, unless it says otherwise; an
 * entry whose existing fields changed meaning states its version and has upcasters.
 */
export function eventType(about: string, declared: Declaration): EventSpec {
  const version = Math.max(1, ...Object.values(declared.fields).map(({ since }) => since));
  return { version, structural: false, about, ...declared };
}

/** Describes a field; behaviour, inline, optional and there since version 1 unless said otherwise. */
export function field(
  type: FieldType,
  about: string,
  more: Partial<Omit<FieldSpec, 'type' | 'about'>> = {},
): FieldSpec {
  return {
    about,
    type,
    role: more.role ?? 'behaviour',
    storage: more.storage ?? 'inline',
    partBytesMin: more.partBytesMin ?? limits.partBytesMin,
    required: more.required ?? false,
    since: more.since ?? 1,
  };
}

/** Describes a required field. A field that is added to a released type is optional, so this takes no `since`. */
export function need(
  type: FieldType,
  about: string,
  more: Partial<Omit<FieldSpec, 'type' | 'about' | 'required' | 'since'>> = {},
): FieldSpec {
  return field(type, about, { ...more, required: true });
}
