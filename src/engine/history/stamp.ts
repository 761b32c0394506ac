import { specOf } from '../../core/event/catalogue.ts';
import { checkDraft, type EventDraft } from '../../core/event/event.ts';
import type { JsonObject } from '../../core/json.ts';
import { isoTime } from '../../core/time.ts';
import type { Engine } from '../context/engine.ts';

/** A draft with its id, time and version, so that repeating it repeats the same event. */
export type StampedDraft = Omit<EventDraft, 'data'> & {
  readonly id: string;
  readonly time: string;
  readonly version: number;
  readonly data: JsonObject;
};

/** Checks a draft, and adds an id, a time and a version where it has none. */
export function stamp(engine: Engine, draft: EventDraft, now: string): StampedDraft {
  checkDraft(draft);
  return {
    ...draft,
    data: (draft.data ?? {}) as JsonObject,
    id: draft.id ?? engine.platform.newId(),
    time: draft.time === undefined ? now : isoTime(draft.time),
    version: draft.version ?? specOf(draft.type)?.version ?? 1,
  };
}
