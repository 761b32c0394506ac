import type { JsonObject, JsonValue } from '../json.ts';

/** A value of an event's data, which may be missing or have any type. */
export type GistValue = JsonValue | undefined;

/**
 * Writes the pieces of a gist: the line that describes an event. An entry of the catalogue says which pieces; the room
 * that shows events says how they look. A value that is missing or has the wrong type becomes an empty text.
 */
export interface GistWriter {
  /** Text as it is, or as `wrap` returns it. */
  readonly text: (value: GistValue, wrap?: (text: string) => string) => string;
  /** Text in quotation marks. */
  readonly quote: (value: GistValue) => string;
  /** A number after its name. */
  readonly number: (name: string, value: GistValue) => string;
  /** Any value, shortened. */
  readonly value: (value: GistValue) => string;
  /** The first items of an array. */
  readonly list: (items: GistValue) => string;
  /** The length of an array and what its items are, such as `3 tools`. */
  readonly count: (items: GistValue, noun: string) => string;
  /** A message: its role, its text, and its tool calls and results. */
  readonly message: (message: GistValue) => string;
  /** How something ended: its `outcome` and `error`. */
  readonly outcome: (data: JsonObject) => string;
  /** How much something took: its tokens, `cost` and `latencyMs`. */
  readonly spending: (data: JsonObject) => readonly string[];
  /** The branch and commit of a working tree. */
  readonly git: (git: GistValue) => string;
  /** An event that a marker carries: its type and its own gist. */
  readonly event: (event: GistValue) => string;
}
