import type { Condition } from '../core/append.ts';
import { createPartMemory, encodeData } from '../core/encode.ts';
import { RepriseError } from '../core/error.ts';
import { checkDraft, type Event, type EventDraft } from '../core/event.ts';
import { specOf } from '../core/event-types.ts';
import type { JsonObject } from '../core/json.ts';
import { checkLimit } from '../core/limits.ts';
import type { PartInput } from '../core/parts.ts';
import type { Seq } from '../core/point.ts';
import type { AppendOutcome, AppendRequest, AppendTarget, EventInput } from '../core/ports.ts';
import { isStructural } from '../core/structural-types.ts';
import { isoTime } from '../core/time.ts';
import { type Engine, sessionRef } from './engine.ts';
import { readPlaces } from './events.ts';

/** What to append, where, and under which condition. */
export interface WriteRequest {
  readonly session: string;
  readonly target: AppendTarget;
  readonly drafts: readonly EventDraft[];
  readonly condition: Condition;
  readonly epoch?: Seq;
}

/** A write whose drafts have their ids and times. */
export interface StampedRequest extends Omit<WriteRequest, 'drafts'> {
  readonly drafts: readonly StampedDraft[];
}

/** A draft with its id and time, so that repeating it repeats the same event. */
export type StampedDraft = Omit<EventDraft, 'data'> & {
  readonly id: string;
  readonly time: string;
  readonly data: JsonObject;
};

/** Checks a draft and gives it the id and time it was given without. */
export function stamp(engine: Engine, draft: EventDraft, now: string): StampedDraft {
  checkDraft(draft);
  return {
    ...draft,
    data: (draft.data ?? {}) as JsonObject,
    id: draft.id ?? engine.platform.newId(),
    time: draft.time === undefined ? now : isoTime(draft.time),
  };
}

/** Refuses structural events: they are written by their verbs. */
export function refuseStructural(drafts: readonly EventDraft[]): void {
  const found = drafts.find((draft) => isStructural(draft?.type));
  if (found === undefined) return;
  throw new RepriseError('event.reserved', `Cannot append "${found.type}" by hand: it changes how history is read`, {
    hint: 'Use fork, edit, rewind, revert, redo or erase.',
    details: { type: found.type },
  });
}

/** Encodes and appends a batch, and gives the events as stored. */
export async function write(engine: Engine, request: WriteRequest): Promise<readonly Event[]> {
  checkLimit('appendEventsMax', request.drafts.length, 'append a batch');
  const now = engine.platform.now();
  const drafts = request.drafts.map((draft) => stamp(engine, draft, now));
  const attempt = async (): Promise<AppendOutcome> => {
    const outcomes = await engine.store.append([encodeRequest(engine, { ...request, drafts })]);
    return outcomes[0] as AppendOutcome;
  };
  let outcome = await attempt();
  if (!outcome.ok) {
    // What this process remembers having stored may have been refused or erased: then everything is sent again.
    engine.memories.delete(request.session);
    if (outcome.error.code === 'part.missing') outcome = await attempt();
  }
  if (!outcome.ok) throw outcome.error;
  const { branch } = outcome;
  // A repeated append is answered with what is stored, not with what was sent this time.
  if (outcome.known)
    return readPlaces(
      engine,
      request.session,
      outcome.events.map(({ seq }) => ({ branch, seq })),
    );
  return outcome.events.map((appended, index) =>
    storedEvent(request.session, branch, drafts[index] as StampedDraft, appended),
  );
}

/** Encodes drafts as one append request. */
export function encodeRequest(engine: Engine, request: StampedRequest): AppendRequest {
  const memory = engine.memories.get(request.session) ?? createPartMemory();
  engine.memories.set(request.session, memory);
  const parts: PartInput[] = [];
  const events: EventInput[] = [];
  let bytes = 0;
  for (const draft of request.drafts) {
    const { data, ...envelope } = draft;
    const version = draft.version ?? specOf(draft.type)?.version ?? 1;
    const encoded = encodeData({ ...envelope, version, data }, engine.platform, memory);
    parts.push(...encoded.parts);
    bytes += encoded.parts.reduce((sum, part) => sum + part.text.length, encoded.skeleton.length);
    events.push({ ...envelope, version, data: encoded.skeleton, keys: encoded.keys });
  }
  checkLimit('appendBytesMax', bytes, 'append a batch');
  const { session, target, condition, epoch } = request;
  return {
    ...sessionRef(engine, session),
    target,
    events,
    parts,
    condition,
    ...(epoch === undefined ? {} : { epoch }),
  };
}

function storedEvent(
  session: string,
  branch: string,
  draft: StampedDraft,
  appended: Extract<AppendOutcome, { ok: true }>['events'][number],
): Event {
  const { seq, turn, causeSeq, digest } = appended;
  return {
    session,
    branch,
    seq,
    id: draft.id,
    time: draft.time,
    type: draft.type,
    version: draft.version ?? specOf(draft.type)?.version ?? 1,
    ...(draft.agent === undefined ? {} : { agent: draft.agent }),
    ...(draft.run === undefined ? {} : { run: draft.run }),
    turn,
    ...(draft.cause === undefined ? {} : { cause: draft.cause }),
    ...(causeSeq === undefined ? {} : { causeSeq }),
    data: draft.data,
    digest,
  };
}
