import { specOf } from '../event/catalogue.ts';
import type { Event } from '../event/event.ts';
import { given } from '../json.ts';
import type { Sha256 } from '../parts/digest.ts';
import type { Seq } from '../point.ts';
import { type BehaviourText, behaviourOf, createBehaviourText, forgetIds, type Rename } from './behaviour.ts';
import { createRunBook, firstRunOf, noteRun } from './resumption.ts';
import { diffValues, type JsonPath, type ValueDiff } from './value-diff.ts';

/** A description of an event for a diff: light enough to keep a long history of them in memory. */
export interface DiffEvent {
  readonly seq: Seq;
  readonly type: string;
  /** A digest of the event's behaviour. Events with equal digests are equal. */
  readonly hash: string;
  /** The subject of the event. Two different events with the same slot are one changed event. */
  readonly slot: string;
  /** The event itself, if it was kept. */
  readonly event?: Event;
}

/** Returns the subject of an event: its type, its agent, and the slot that the catalogue gives its type. */
export function slotOf({ type, agent, data }: Event): string {
  return JSON.stringify([type, agent ?? null, ...(specOf(type)?.slot?.(data) ?? [])]);
}

/** How to describe events for a diff. */
export interface DescribeOptions {
  /** Whether each description keeps its event: it takes memory, and the diff has changed fields at once. */
  readonly keepEvents?: boolean;
  /** Names the ids that count; without it, none does. */
  readonly rename?: Rename;
}

/** Describes one event for a diff; undefined if it does not count as behaviour. */
function describeForDiff(
  event: Event,
  tools: { readonly sha256: Sha256; readonly textOf: BehaviourText },
  options: DescribeOptions = {},
): DiffEvent | undefined {
  const text = tools.textOf(event, options.rename ?? forgetIds);
  if (text === undefined) return undefined;
  const described = { seq: event.seq, type: event.type, hash: tools.sha256(text), slot: slotOf(event) };
  return options.keepEvents === true ? { ...described, event } : described;
}

/** Describes a history event by event. */
export interface HistoryDescriber {
  readonly add: (event: Event) => void;
  /** Returns the descriptions so far, without events that do not count as behaviour. */
  readonly events: () => readonly DiffEvent[];
}

/**
 * Describes a history for a diff. As in a fingerprint, neither the start of a run nor an end that a resume took back
 * counts, so that an unedited fork that behaved the same shows no difference.
 */
export function createHistoryDescriber(sha256: Sha256, options: DescribeOptions = {}): HistoryDescriber {
  const tools = { sha256, textOf: createBehaviourText(sha256) };
  const runs = createRunBook();
  const ends = new Map<string, DiffEvent>();
  const takenBack = new Set<DiffEvent>();
  const described: DiffEvent[] = [];
  const add = (event: Event): void => {
    const resumed = noteRun(runs, event);
    const end = resumed === undefined ? undefined : ends.get(resumed);
    if (end !== undefined) takenBack.add(end);
    const one = describeForDiff(event, tools, options);
    if (one === undefined) return;
    described.push(one);
    if (event.run === undefined) return;
    const first = firstRunOf(runs, event.run);
    if (event.type === 'run.ended') ends.set(first, one);
    else ends.delete(first);
  };
  const events = (): readonly DiffEvent[] =>
    takenBack.size === 0 ? described : described.filter((one) => !takenBack.has(one));
  return { add, events };
}

/** Compares the behaviour of two events; the result has paths in `data`. */
export function changedFields(left: Event, right: Event): ValueDiff {
  const diff = diffValues(behaviourOf(left, forgetIds)?.data ?? {}, behaviourOf(right, forgetIds)?.data ?? {});
  if (specOf(left.type) === undefined) return diff;
  return {
    identical: diff.identical,
    added: diff.added.map((one) => ({ ...one, path: unfold(one.path) })),
    removed: diff.removed.map((one) => ({ ...one, path: unfold(one.path) })),
    changed: diff.changed.map((one) => ({
      ...one,
      path: unfold(one.path),
      ...given({ leftPath: one.leftPath && unfold(one.leftPath) }),
    })),
  };
}

/** Splits the dotted path of a behavioural field: `request.messages` becomes two names. */
function unfold(path: JsonPath): JsonPath {
  const [field, ...rest] = path;
  return [...String(field).split('.'), ...rest];
}
