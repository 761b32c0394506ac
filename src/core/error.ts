import { given, isObject, type JsonObject } from './json.ts';

/**
 * Every problem that Reprise can name. A code is `noun.problem`, never changes its meaning, and has a section in
 * `docs/reference/errors.md`. Callers match on `error.code`.
 *
 * @example
 * ```ts
 * const codes = Object.keys(errorCodes); // 'append.conflict', 'append.empty', …
 * ```
 */
export const errorCodes = {
  'agent.exists': 'The branch has an agent of that name.',
  'agent.failed': 'An agent that the command line started failed on its own.',
  'agent.invalid': 'A value that is not an agent was given as one.',
  'agent.not-found': 'The configuration has no agent of that name.',
  'agent.not-spawned': 'The branch has no agent of that name at that moment.',
  'append.conflict': 'The branch has moved: its head is not the one that the append expected.',
  'append.empty': 'An append has no events.',
  'append.partly-known': 'Some events of a batch are stored already and some are not.',
  'belief.invalid': 'A claim is not well formed.',
  'belief.not-standing': 'A claim that was to be superseded does not stand.',
  'branch.exists': 'The session has a branch of that name.',
  'branch.in-use': 'The branch cannot be taken away: others grow from it, or the session began with it.',
  'branch.not-found': 'The session has no branch of that name.',
  'branch.rewound': 'The branch was rewound after this writer started.',
  'budget.exceeded': 'The model calls, tokens or cost that were allowed are used up.',
  'bundle.damaged': 'A bundle is not what its digests or its signature say.',
  'bundle.invalid': 'A file or folder is not a bundle or a proof, or one of a newer release.',
  'check.invalid': 'A check or a judge answered something that is neither a pass, nor a failure, nor a score.',
  'client.unsupported': 'A client cannot be recorded: it is not what its adapter knows.',
  'config.invalid': 'The configuration file cannot be read or is not well formed.',
  'config.not-run': 'Only running the configuration would tell a setting, and the command does not run it.',
  'config.untrusted': 'A file that decides what runs, or where recordings go, belongs to a different user.',
  'copy.aborted': 'The caller stopped a copy; finished batches stay, and the next copy continues after them.',
  'copy.diverged': 'The target has a session of that id with its own history.',
  'copy.not-verified': 'The copy at the target does not match the source.',
  'edit.invalid': 'An edit does not fit the history it was given for.',
  'effect.refused': 'An agent asked for a call that must not be made silently, and no rule allows it.',
  'erase.running': 'A run that has not ended could bring the erased content back.',
  'error.unknown': 'An error that came as JSON has a code that this release does not know.',
  'event.damaged': 'An event does not match its digest.',
  'event.erased': 'The payload of the event was erased.',
  'event.id-reused': 'The id of a stored event was used again for different content.',
  'event.invalid': 'An event is not well formed.',
  'event.newer-version': 'A newer release wrote the event, and this one cannot fold it.',
  'event.not-found': 'The session has no event of that id or seq.',
  'event.not-in-view': 'The event is stored, but is not part of the view at that point.',
  'event.reserved': 'Only their verbs write structural events; they cannot be appended by hand.',
  'event.structural': 'The operation is not possible on a structural event.',
  'experiment.changed': 'An experiment cannot be continued with other variants than it began with.',
  'experiment.invalid': 'An experiment or its file of variants is not well formed.',
  'experiment.not-found': 'The store has no experiment of that id.',
  'experiment.over-budget': 'The budget of a whole experiment is used up; the rest of it was not run.',
  'export.invalid': 'A history cannot be written in a foreign format.',
  'filter.invalid': 'A filter cannot be parsed.',
  'fingerprint.other-scheme': 'Two fingerprints of different schemes cannot be compared.',
  'folder.exists': 'A folder that something was to be written to has other content.',
  'folder.failed': 'A folder cannot be written.',
  'id.invalid': 'A name or id is empty, too long, reserved, or has characters that are not allowed.',
  'import.invalid': 'A foreign file cannot be read in its format.',
  'json.cyclic': 'A value contains itself.',
  'json.lone-surrogate': 'A string is not well-formed Unicode.',
  'json.not-json': 'A value is not JSON.',
  'json.too-deep': 'A value is nested too deeply.',
  'json.unsafe-number': 'A number cannot be carried exactly.',
  'key.invalid': 'A state key is not well-formed text.',
  'limit.exceeded': 'A named limit was reached.',
  'mask.key-invalid': 'The key of masks can be guessed, or others can read it.',
  'message.unsupported': 'A message has something that a provider has no form for.',
  'model.not-found': 'The agent has no model of that name.',
  'option.invalid': 'An option has a value that is not allowed, or does not exist.',
  'part.damaged': 'A stored part does not match its digest.',
  'part.missing': 'A stored part is missing, and no erasure accounts for it.',
  'point.out-of-range': 'The point lies beyond the head of its branch, or before its beginning.',
  'projection.failed': 'A projection threw while it folded an event.',
  'projection.invalid': 'A projection is not well formed, or returned a value that is not JSON.',
  'question.not-found': 'The run has no question of that id.',
  'recording.failed': 'Events could not be recorded, and the run was set to fail in that case.',
  'redo.nothing': 'There is no marker to undo.',
  'redo.orphans': 'Undoing the marker would orphan events that were appended since.',
  'ref.invalid': 'A ref cannot be parsed.',
  'report.invalid': 'A report of tests cannot be read.',
  'request.incomplete': 'A model request cannot be built: its arguments were neither given nor captured.',
  'resume.aborted': 'The caller stopped a resumed run.',
  'resume.invalid': 'A branch cannot be resumed in the requested way.',
  'resume.nothing': 'The branch has nothing that an agent could continue from.',
  'resume.timeout': 'A resumed run took longer than it was allowed to.',
  'resume.waiting': 'A call waits for an answer that only the caller can give.',
  'run.ambiguous': 'Several runs are open, and none was named.',
  'run.exists': 'The branch has a run of that id.',
  'run.not-found': 'The branch has no such run, or the run has ended.',
  'run.not-kept': 'The server keeps no run of that id.',
  'run.open': 'A run is under way on the branch.',
  'scope.denied': 'The scope of the agent does not allow it.',
  'session.exists': 'The store has a session of that id.',
  'session.not-confirmed': 'Deleting a session needs an explicit confirmation.',
  'session.not-found': 'The store has no session of that id.',
  'signature.invalid': 'A key that signs bundles, or checks their signatures, cannot be used.',
  'simulation.failed': 'The simulation of a call threw, took too long, or returned no JSON.',
  'state.conflict': 'An append changed a value that the writer had read.',
  'store.busy': 'A different process has locked the store, and the wait for it ran out.',
  'store.closed': 'The store was closed.',
  'store.damaged': 'The store is damaged.',
  'store.denied': 'The server or the file system refuses this user, or refuses the operation.',
  'store.failed': 'The store failed.',
  'store.full': 'The disk of the store is full.',
  'store.newer': 'A newer release wrote the store.',
  'store.moved': 'The file of the store was moved, removed, replaced or changed while it was open.',
  'store.not-found': 'There is no store at that address.',
  'store.read-only': 'The store cannot be written.',
  'store.unreachable': 'The server of the store does not answer, or the connection to it was cut.',
  'store.unsupported': 'No store supports that address.',
  'strategy.unknown': 'The session settles contradictions by a rule that the caller did not pass.',
  'task.claimed': 'A different agent has taken the task.',
  'task.ended': 'The task has ended.',
  'task.exists': 'The branch has a task of that id.',
  'task.not-found': 'The branch has no task of that id.',
  'time.invalid': 'A time is not an ISO 8601 date and time.',
  'token.invalid': 'The server does not know the token, or it has expired or was revoked.',
  'topic.invalid': 'A topic is empty or not well-formed text.',
  'transaction.ended': 'The transaction was already committed or aborted.',
  'transaction.expired': 'The transaction was open for longer than it was allowed to be.',
  'transaction.not-found': 'There is no open transaction of that id.',
} as const;

/** One of the codes in {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/** The optional parts of an error. */
export interface ErrorDetails {
  /** One sentence that says what to do next. */
  readonly hint?: string;
  /** The values in the message, for programs. */
  readonly details?: JsonObject;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/** An error as plain data: the form in which `--json` prints it and the wire carries it. */
export interface ErrorJson {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly details: JsonObject;
}

const marker: symbol = Symbol.for('reprise.error');

/**
 * The one error class of Reprise. Match on `code`; `instanceof` works even across two copies of the package.
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
  /** The problem, as one of a closed set of codes. */
  readonly code: ErrorCode;
  /** One sentence that says what to do next; undefined if there is no advice. */
  readonly hint: string | undefined;
  /** The values in the message. */
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

  /**
   * Returns the error that JSON describes: the inverse of `toJSON`. Never throws, whatever it is given. A code that this
   * release does not know becomes `error.unknown`, with the code among the details; the cause does not travel.
   *
   * @example
   * ```ts
   * const received = JSON.parse('{ "code": "store.busy", "message": "Cannot append: a different writer holds it" }');
   * const error = RepriseError.from(received);
   * if (error.code === 'store.busy') console.error(error.message);
   * ```
   */
  static from(json: unknown): RepriseError {
    const message = fieldOf(json, 'message');
    const hint = fieldOf(json, 'hint');
    const code = fieldOf(json, 'code');
    const details = jsonObjectOf(fieldOf(json, 'details'));
    const text = typeof message === 'string' ? message : 'Cannot read an error: it has no message';
    const more = given({ hint: typeof hint === 'string' ? hint : undefined });
    if (isErrorCode(code)) return new RepriseError(code, text, { ...more, details });
    const named = given({ code: typeof code === 'string' ? code : undefined });
    return new RepriseError('error.unknown', text, { ...more, details: { ...details, ...named } });
  }

  /** Returns the error as plain data: the form in which `--json` prints it and the wire carries it. */
  toJSON(): ErrorJson {
    return {
      code: this.code,
      message: this.message,
      ...given({ hint: this.hint }),
      details: this.details,
    };
  }
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code);
}

/** Returns a field of any value; undefined if there is none, or if reading it throws. */
function fieldOf(value: unknown, name: string): unknown {
  try {
    return isObject(value) ? value[name] : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a copy of a JSON object; an empty one for every other value. */
function jsonObjectOf(value: unknown): JsonObject {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(value) ?? 'null');
    return isObject(copy) ? copy : {};
  } catch {
    return {};
  }
}

/** Returns true if an error is a {@link RepriseError} with this code. */
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

/** Throws on a mistake of our own: a broken assumption, never a user's input. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Broken assumption in Reprise: ${what}`);
}
