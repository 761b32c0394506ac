import { RepriseError } from '../../core/error.ts';
import { type Event, type EventDraft } from '../../core/event/event.ts';
import { isStructural } from '../../core/event/families/structural.ts';
import { given, type JsonObject } from '../../core/json.ts';
import { checkLimit } from '../../core/limits.ts';
import { createPartMemory, encodeData, type PartMemory } from '../../core/parts/encode.ts';
import type { PartInput } from '../../core/parts/parts.ts';
import type { Seq } from '../../core/point.ts';
import type { Condition } from '../../core/store/append-request.ts';
import { checkSize } from '../../core/store/append-size.ts';
import type { AppendOutcome, AppendRequest, AppendTarget, EventInput } from '../../core/store/event-store.ts';
import { type Engine, sessionRef } from '../context/engine.ts';
import { type StampedDraft, stamp } from '../history/stamp.ts';
import { readPoints } from '../history/stored-events.ts';

/** The drafts to append, where, and under which condition. */
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

/** Refuses structural events: only their verbs write them. */
export function refuseStructural(drafts: readonly EventDraft[]): void {
  const found = drafts.find((draft) => typeof draft?.type === 'string' && isStructural(draft.type));
  if (found === undefined) return;
  throw new RepriseError('event.reserved', `Cannot append "${found.type}" by hand: it changes how history is read`, {
    hint: 'Use fork, edit, rewind, revert, redo or erase.',
    details: { type: found.type },
  });
}

/** Encodes and appends a batch, and returns the events as stored. */
export async function write(engine: Engine, request: WriteRequest): Promise<readonly Event[]> {
  checkLimit('appendEventsMax', request.drafts.length, 'append a batch');
  const now = engine.platform.now();
  const given = request.drafts.map((draft) => stamp(engine, draft, now));
  const encoded = encodeRequest(engine, { ...request, drafts: given });
  let [outcome] = (await engine.store.append([encoded.append])) as [AppendOutcome];
  if (!outcome.ok) {
    engine.memories.delete(request.session);
    // A part that this process remembers may have been refused or erased. Then send the batch again without continuing
    // anything: other requests on their way may be refused too.
    if (outcome.error.code === 'part.missing') {
      const drafts = given.map((draft, index) => ({ ...draft, data: encoded.data[index] as JsonObject }));
      const { append } = encodeRequest(engine, { ...request, drafts }, createPartMemory());
      [outcome] = (await engine.store.append([append])) as [AppendOutcome];
    }
  }
  if (!outcome.ok) throw outcome.error;
  const { branch } = outcome;
  // A repeated append returns the events as they were stored the first time.
  if (outcome.known)
    return readPoints(
      engine,
      request.session,
      outcome.events.map(({ seq }) => ({ branch, seq })),
    );
  return outcome.events.map((appended, index) =>
    storedEvent(request.session, branch, given[index] as StampedDraft, encoded.data[index] as JsonObject, appended),
  );
}

/** Returns the lists and bodies this process remembers of a session, which becomes the last one to be forgotten. */
export function memoryOf(engine: Engine, session: string): PartMemory {
  const memory = engine.memories.get(session) ?? createPartMemory();
  engine.memories.delete(session);
  engine.memories.set(session, memory);
  return memory;
}

/** An append as a store takes it. */
interface EncodedRequest {
  readonly append: AppendRequest;
  /** The data of each event as a read returns it: a copy, since the caller may change the original. */
  readonly data: readonly JsonObject[];
}

/** Encodes drafts as one append request; lists and bodies continue what `memory` knows. */
export function encodeRequest(
  engine: Engine,
  request: StampedRequest,
  memory: PartMemory = memoryOf(engine, request.session),
): EncodedRequest {
  const parts: PartInput[] = [];
  const events: EventInput[] = [];
  const copies: JsonObject[] = [];
  for (const draft of request.drafts) {
    const encoded = encodeData(draft, engine.platform, memory);
    parts.push(...encoded.parts);
    events.push({ ...draft, data: encoded.skeleton, keys: encoded.keys });
    copies.push(encoded.data);
  }
  checkSize({ events, parts });
  const { session, target, condition, epoch } = request;
  const append = {
    ...sessionRef(engine, session),
    target,
    events,
    parts,
    condition,
    ...given({ epoch }),
  };
  return { append, data: copies };
}

function storedEvent(
  session: string,
  branch: string,
  draft: StampedDraft,
  data: JsonObject,
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
    version: draft.version,
    ...given({ agent: draft.agent, run: draft.run }),
    turn,
    ...given({ cause: draft.cause, causeSeq }),
    data,
    digest,
  };
}
