import { given, type JsonObject } from './json.ts';

/**
 * Every problem that Reprise reports. A code is `noun.problem`, is never reused for a different meaning, and has a section in
 * `docs/reference/errors.md`. Callers match on `error.code`.
 *
 * @example
 * ```ts
 * const codes = Object.keys(errorCodes); // 'append.conflict', 'append.empty', …
 * ```
 */
export const errorCodes = {
  'agent.failed': 'An agent that the command line started failed by itself.',
  'agent.invalid': 'The value that should resume a branch is not an agent.',
  'agent.not-found': 'The configuration has no agent of that name.',
  'append.conflict': 'The head of the branch is not the one that the append expected.',
  'append.empty': 'An append has no events.',
  'append.partly-known': 'Some events of a batch are stored already and some are not.',
  'branch.exists': 'A branch of that name exists in the session.',
  'branch.not-found': 'The session has no branch of that name.',
  'branch.rewound': 'The branch was rewound since this writer started on it.',
  'budget.exceeded': 'The allowed model calls, tokens or cost are used up.',
  'config.invalid': 'The configuration file cannot be read or is not well formed.',
  'copy.aborted': 'The caller stopped a copy. The next copy continues where it stopped.',
  'copy.diverged': 'The target has a session of that id with a different history.',
  'copy.not-verified': 'The copy differs from the source.',
  'edit.invalid': 'An edit cannot be applied to its history.',
  'effect.refused': 'A call must not be repeated, and nobody allowed it.',
  'event.damaged': 'An event does not match its digest.',
  'event.erased': 'The payload of the event was erased.',
  'event.id-reused': 'An event has the id of a stored event and different content.',
  'event.invalid': 'An event is not well formed.',
  'event.newer-version': 'A newer release wrote the event, and this one cannot fold it.',
  'event.not-found': 'The session has no event of that id or seq.',
  'event.not-in-view': 'The event is stored, but it is not in the view at that point.',
  'event.reserved': 'Only verbs write structural events; append does not.',
  'event.structural': 'A structural event does not allow the operation.',
  'experiment.invalid': 'An experiment or its file of variants is not well formed.',
  'filter.invalid': 'A filter is not well formed.',
  'fingerprint.other-scheme': 'Two fingerprints of different schemes cannot be compared.',
  'id.invalid': 'A name or id is empty, too long, reserved, or has forbidden characters.',
  'import.invalid': 'A foreign file does not have the form of its format.',
  'json.cyclic': 'A value contains itself.',
  'json.lone-surrogate': 'A string is not well-formed Unicode.',
  'json.not-json': 'A value is not JSON.',
  'json.too-deep': 'A value is nested too deeply.',
  'json.unsafe-number': 'JSON cannot carry the number exactly.',
  'key.invalid': 'A state key is not a well-formed text.',
  'limit.exceeded': 'Something is over a named limit.',
  'model.not-found': 'The agent has no model of that name.',
  'option.invalid': 'An option has a wrong value, or does not exist.',
  'part.damaged': 'A stored part does not match its digest.',
  'part.missing': 'A stored part is missing, and no erasure accounts for it.',
  'point.out-of-range': 'The point is after the head of its branch, or before its beginning.',
  'projection.failed': 'A projection threw while folding an event.',
  'projection.invalid': 'A projection is not well formed, or its value is not JSON.',
  'recording.failed': 'Events could not be recorded, and the run was set to fail in that case.',
  'redo.nothing': 'There is no marker to undo.',
  'redo.orphans': 'Undoing the marker would orphan events that were appended since.',
  'ref.invalid': 'A ref is not well formed.',
  'resume.aborted': 'The caller stopped a resumed run.',
  'resume.invalid': 'The options do not fit the branch to resume.',
  'resume.nothing': 'The branch has nothing that an agent could continue.',
  'resume.timeout': 'A resumed run took longer than its limit.',
  'resume.waiting': 'A call waits for an answer from the caller.',
  'session.exists': 'A session of that id exists.',
  'session.not-confirmed': 'Deleting a session needs a confirmation.',
  'session.not-found': 'The store has no session of that id.',
  'state.conflict': 'A different append changed the keys that the transaction had read.',
  'store.busy': 'A different process holds the store, and the wait for it ran out.',
  'store.closed': 'The store was closed.',
  'store.damaged': 'The store file is damaged.',
  'store.denied': 'The server refuses this user, or a right that the user needs.',
  'store.failed': 'The store failed.',
  'store.full': 'The disk of the store is full.',
  'store.newer': 'A newer release wrote the store.',
  'store.not-found': 'There is no store at that address.',
  'store.read-only': 'The store is read-only.',
  'store.unreachable': 'The server of the store does not answer, or the connection broke.',
  'store.unsupported': 'No kind of store fits that address.',
  'time.invalid': 'A time is not an ISO 8601 date and time.',
  'transaction.ended': 'The transaction was committed or aborted already.',
  'transaction.expired': 'The transaction was open longer than its limit.',
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
