/** A filter over events as data; every condition given must hold. */
export interface EventFilter {
  /** Any of these types. */
  readonly types?: readonly string[];
  /** This agent exactly, or with a leading `~` any agent whose id contains the rest. */
  readonly agent?: string;
  readonly run?: string;
  readonly turn?: number;
  /** Turns greater than this one. */
  readonly turnAfter?: number;
  /** Of a call: model, tool, http, mcp, process, person. */
  readonly kind?: string;
  /** Of a call: the model, tool or address. */
  readonly name?: string;
  /** Of whatever ended: ok, error, aborted, interrupted, budget. */
  readonly outcome?: string;
  /** Not before this time. */
  readonly since?: string;
  /** Not after this time. */
  readonly until?: string;
  /** Seqs after this one. */
  readonly after?: number;
  /** Seqs up to and including this one. */
  readonly through?: number;
  /** Each a field and a case-insensitive regular expression that must be found in it. */
  readonly fields?: readonly { readonly key: string; readonly pattern: string }[];
  /** Text found anywhere in the event, whatever its case. */
  readonly text?: string;
}
