import { RepriseError } from '../error.ts';
import { checkId } from '../id.ts';
import type { JsonInput, JsonObject } from '../json.ts';
import { checkKeys, type KnownKeys, shownValue } from '../known-keys.ts';
import { checkLimit } from '../limits.ts';
import type { Digest, Seq } from '../point.ts';

/** The ways in which something ends. A run that waits for a person ends `waiting`. */
export type Outcome = 'ok' | 'error' | 'aborted' | 'interrupted' | 'budget' | 'waiting';

/** Every outcome, in the order in which people are offered them. */
export const outcomes: readonly Outcome[] = ['ok', 'error', 'aborted', 'interrupted', 'budget', 'waiting'];

/** One immutable fact, in the form that the library returns, `--json` prints and the wire carries. */
export interface Event {
  readonly session: string;
  /** The branch that stores the event. */
  readonly branch: string;
  readonly seq: Seq;
  readonly id: string;
  /** When it happened, by the writer's clock. */
  readonly time: string;
  readonly type: string;
  /** The version of the type's data. */
  readonly version: number;
  readonly agent?: string;
  readonly run?: string;
  /** The branch's story clock when it happened. */
  readonly turn: number;
  /** The id of the event that led to this one. */
  readonly cause?: string;
  /** The seq of that event, if it is in this branch's history. */
  readonly causeSeq?: Seq;
  readonly data: JsonObject;
  /** The digest of this event and all before it. */
  readonly digest: Digest;
  /** Present when the payload was erased: `data` is then `{ erased: true }`. */
  readonly erased?: true;
  /** In a view, the seq of the event this one replaced. */
  readonly replaces?: Seq;
  /** In a view, the ids of the events this one replaced, the oldest first: an event that names one of them means this one. */
  readonly replacedIds?: readonly string[];
}

/** An event to append. Fields that are left out are filled in. */
export interface EventDraft {
  readonly type: string;
  readonly data?: JsonInput;
  /** The version of `data`; the catalogue's current one if left out. */
  readonly version?: number;
  readonly agent?: string;
  readonly run?: string;
  /** Its turn; the cause's, else that of the last event in the view, if left out. */
  readonly turn?: number;
  /** The id of the event that led to this one. */
  readonly cause?: string;
  /** A UUIDv7 is minted if left out. Give one to make a retry idempotent. */
  readonly id?: string;
  /** When it happened; now if left out. */
  readonly time?: string;
}

/** An event that a marker carries: a replacement or an insertion. */
export interface CarriedEvent {
  readonly type: string;
  readonly version: number;
  readonly time: string;
  readonly agent?: string;
  readonly run?: string;
  readonly turn: number;
  readonly cause?: string;
  readonly data: JsonObject;
}

/** The data of an event whose payload was erased. */
export const erasedData: JsonObject = Object.freeze({ erased: true });

const typePattern = /^[a-z][a-z0-9-]*(\.[a-z][a-zA-Z0-9-]*)+$/;

const assigned = 'Leave it out: the store assigns it, and append returns it.';

/** The keys of an event to append. */
export const draftKeys: KnownKeys = {
  keys: new Set<keyof EventDraft>(['type', 'data', 'version', 'agent', 'run', 'turn', 'cause', 'id', 'time']),
  code: 'event.invalid',
  attempt: 'append an event',
  whole: 'an event that is not stored yet',
  hints: {
    session: 'Leave it out: an event goes to the session that appends it.',
    branch: 'Say where first: session.branch(name).append(events).',
    seq: assigned,
    causeSeq: assigned,
    digest: assigned,
  },
};

/** Checks everything about a draft that can be checked without its history. */
export function checkDraft(draft: EventDraft): void {
  if (typeof draft !== 'object' || draft === null) refuse(`${shownValue(draft)} is not an object`);
  checkKeys(draft, draftKeys);
  if (typeof draft.type !== 'string' || !typePattern.test(draft.type)) {
    refuse(`its type ${shownValue(draft.type)} is not of the form "noun.pastVerb"`);
  }
  checkLimit('typeBytesMax', draft.type.length, 'append an event: its type is too long');
  if (draft.version !== undefined && !(Number.isSafeInteger(draft.version) && draft.version >= 1)) {
    refuse(`its version ${shownValue(draft.version)} is not a whole number from 1`);
  }
  if (draft.turn !== undefined && !(Number.isSafeInteger(draft.turn) && draft.turn >= 0)) {
    refuse(`its turn ${shownValue(draft.turn)} is not a whole number from 0`);
  }
  if (
    draft.data !== undefined &&
    (typeof draft.data !== 'object' || draft.data === null || Array.isArray(draft.data))
  ) {
    refuse('its data is not an object', 'json.not-json');
  }
  if (draft.agent !== undefined) checkId('agent', draft.agent);
  if (draft.run !== undefined) checkId('run', draft.run);
  if (draft.id !== undefined) checkId('event', draft.id);
  if (draft.cause !== undefined) checkId('event', draft.cause);
}

function refuse(why: string, code: 'event.invalid' | 'json.not-json' = 'event.invalid'): never {
  throw new RepriseError(code, `Cannot append an event: ${why}`, {
    hint: 'See docs/reference/events.md for the form of an event.',
  });
}
