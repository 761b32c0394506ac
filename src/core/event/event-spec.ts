import type { JsonObject, JsonValue } from '../json.ts';

/** The JSON type a field must have. */
export type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'any';

/**
 * What a field means to those who compare histories: behaviour counts; an id counts only by where it was used first;
 * noise (clocks, latencies, provider ids) does not count.
 */
export type FieldRole = 'behaviour' | 'id' | 'noise';

/** How a field is stored: inline, as a part of its own, as a linked list of parts, or as a raw body. */
export type FieldStorage = 'inline' | 'part' | 'list' | 'body';

/** One field of a type's data. */
export interface FieldSpec {
  readonly about: string;
  readonly type: FieldType;
  readonly role: FieldRole;
  readonly storage: FieldStorage;
  readonly required: boolean;
}

/** What is wrong with a field of an event's data. */
export interface FieldFault {
  /** Its dotted path. */
  readonly field: string;
  readonly why: string;
}

/** What Reprise knows of an event type. */
export interface EventSpec {
  /** The current version of the type's data. */
  readonly version: number;
  /** One sentence for the reference. */
  readonly about: string;
  /** Fields by dotted path. */
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** Whether the event changes how the history before it is read. */
  readonly structural: boolean;
  /** What is wrong with data whose fields have the right types; undefined if nothing is. */
  readonly check?: (data: JsonObject) => FieldFault | undefined;
  /** What as-of reads and append conditions look the event up by. */
  readonly keys?: (data: JsonObject, agent: string | undefined) => readonly string[];
  /** Within a run and an agent: whose lists and bodies go on from each other. All of a type's if left out. */
  readonly place?: (data: JsonObject) => string;
  /** A worked example of the data. */
  readonly example: { readonly [key: string]: JsonValue };
}

/** Describes a field; behaviour, inline and optional unless said otherwise. */
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
    required: more.required ?? false,
  };
}

/** A field that must be there. */
export function need(type: FieldType, about: string, more: Partial<Omit<FieldSpec, 'type' | 'about'>> = {}): FieldSpec {
  return field(type, about, { ...more, required: true });
}
