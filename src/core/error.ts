import { given, type JsonObject } from './json.ts';

/**
 * Every problem that Reprise reports. A code is `noun.problem`, is never reused for another meaning, and has a section in
 * `docs/reference/errors.md`. Callers match on `error.code`.
 *
 * @example
 * ```ts
 * const codes = Object.keys(errorCodes); // 'append.conflict', 'append.empty', …
 * ```
 */
export const errorCodes = {
  'agent.failed': 'An agent that was started from the command line failed on its own.',
  'agent.invalid': 'Something that is no agent was given to be resumed.',
  'agent.not-found': 'The configuration names no agent of that name.',
  'append.conflict': 'The branch moved on since the writer looked: its head is not the one the append expected.',
  'append.empty': 'An append without events was asked for.',
  'append.partly-known': 'Some events of a batch are stored already and some are not.',
  'branch.exists': 'A branch of that name exists in the session.',
  'branch.not-found': 'The session has no branch of that name.',
  'branch.rewound': 'The branch was rewound since this writer began on it.',
  'budget.exceeded': 'The model calls, tokens or cost that were allowed are used up.',
  'config.invalid': 'The configuration file cannot be read or is not well formed.',
  'copy.aborted': 'A copy was stopped by its caller; what it had written stays, and the next one goes on there.',
  'copy.diverged': 'The target has a session of that id with a history of its own.',
  'copy.not-verified': 'What was copied is not what the source holds.',
  'edit.invalid': 'An edit cannot be applied to the history it was given for.',
  'effect.refused': 'A call that may not be repeated was asked for, and nobody allowed it.',
  'event.damaged': 'An event does not match its digest.',
  'event.erased': 'The payload of the event was erased before.',
  'event.id-reused': 'The id of a stored event was used again for different content.',
  'event.invalid': 'An event is not well formed.',
  'event.newer-version': 'An event was written by a newer release and cannot be folded by this one.',
  'event.not-found': 'The session has no event of that id or seq.',
  'event.not-in-view': 'The event is stored, but is not part of the view at that point.',
  'event.reserved': 'Structural events are written by their verbs, not appended by hand.',
  'event.structural': 'The operation is not possible on a structural event.',
  'experiment.invalid': 'An experiment or its file of variants is not well formed.',
  'filter.invalid': 'A filter cannot be understood.',
  'fingerprint.other-scheme': 'Two fingerprints of different schemes cannot be compared.',
  'id.invalid': 'A name or id is empty, too long, reserved, or has characters that are not allowed.',
  'import.invalid': 'A foreign file cannot be read as what it should be.',
  'json.cyclic': 'A value contains itself.',
  'json.lone-surrogate': 'A string is not well-formed Unicode.',
  'json.not-json': 'A value is not JSON.',
  'json.too-deep': 'A value is nested too deeply.',
  'json.unsafe-number': 'A number cannot be carried exactly.',
  'key.invalid': 'A state key is not a well-formed text.',
  'limit.exceeded': 'A named limit was reached.',
  'model.not-found': 'The agent knows no model of that name.',
  'option.invalid': 'An option has a value that it cannot have, or there is none of that name.',
  'part.damaged': 'A stored part does not match its digest.',
  'part.missing': 'A stored part is missing, and no erasure accounts for it.',
  'point.out-of-range': 'The point lies beyond the head of its branch, or before its beginning.',
  'projection.failed': 'A projection threw while folding an event.',
  'projection.invalid': 'A projection is not well formed, or gave a value that is not JSON.',
  'recording.failed': 'Events could not be recorded, and the run was to fail with that.',
  'redo.nothing': 'There is no marker to undo.',
  'redo.orphans': 'Undoing the marker would orphan what was appended since.',
  'ref.invalid': 'A ref cannot be understood.',
  'resume.aborted': 'A resumed run was stopped by its caller.',
  'resume.invalid': 'A branch cannot be resumed in the way that was asked for.',
  'resume.nothing': 'A branch holds nothing that an agent could go on from.',
  'resume.timeout': 'A resumed run took longer than it was allowed to.',
  'resume.waiting': 'A call waits for an answer that only the caller can give.',
  'session.exists': 'A session of that id exists.',
  'session.not-confirmed': 'Deleting a session needs an explicit confirmation.',
  'session.not-found': 'The store has no session of that id.',
  'state.conflict': 'What the writer had read was changed by another append.',
  'store.busy': 'Another process holds the store, and the wait for it ran out.',
  'store.closed': 'The store was closed.',
  'store.damaged': 'The store file is damaged.',
  'store.denied': 'The server does not let this user in, or not do what was asked for.',
  'store.failed': 'The store failed.',
  'store.full': 'There is no room left where the store is kept.',
  'store.newer': 'The store was written by a newer release.',
  'store.not-found': 'There is no store at that place.',
  'store.read-only': 'The store cannot be written.',
  'store.unreachable': 'The server that keeps the store does not answer, or the connection to it was cut.',
  'store.unsupported': 'No store answers to that address.',
  'time.invalid': 'A time is not an ISO 8601 date and time.',
  'transaction.ended': 'The transaction was committed or aborted before.',
  'transaction.expired': 'The transaction was open for longer than it was allowed to be.',
  'transaction.not-found': 'There is no open transaction of that id.',
} as const;

/** One of the codes in {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** The optional parts of an error. */
export interface ErrorDetails {
  /** What to do next, as one sentence. */
  readonly hint?: string;
  /** The values that the message names, for programs. */
  readonly details?: JsonObject;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

const marker: symbol = Symbol.for('reprise.error');

/**
 * The one error class of Reprise. Match on `code`; `instanceof` also holds across two copies of the package.
 *
 * @example
 * ```ts
 * try {
 *   await session.fork('main@900', { name: 'x' });
 * } catch (error) {
 *   if (error instanceof RepriseError && error.code === 'point.out-of-range') console.error(error.message, error.hint);
 * }
 * ```
 */
export class RepriseError extends Error {
  override readonly name: string = 'RepriseError';
  /** One of a closed set of codes. */
  readonly code: ErrorCode;
  /** What to do next, as one sentence; undefined if there is nothing to advise. */
  readonly hint: string | undefined;
  /** The values that the message names. */
  readonly details: JsonObject;

  constructor(code: ErrorCode, message: string, more: ErrorDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.hint = more.hint;
    this.details = more.details ?? {};
    Object.defineProperty(this, marker, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && marker in value;
  }

  /** Returns the error as plain data, as `--json` prints it and the wire carries it. */
  toJSON(): {
    readonly code: ErrorCode;
    readonly message: string;
    readonly hint?: string;
    readonly details: JsonObject;
  } {
    return {
      code: this.code,
      message: this.message,
      ...given({ hint: this.hint }),
      details: this.details,
    };
  }
}

/** Tells whether an error is a {@link RepriseError} with this code. */
export function hasCode<Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is RepriseError & { readonly code: Code } {
  return error instanceof RepriseError && error.code === code;
}

/** Returns the message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Stops on a mistake of our own: a broken assumption, never a user's input. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Broken assumption in Reprise: ${what}`);
}
