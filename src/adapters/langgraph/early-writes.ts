import type { EventDraft } from '../../core/event/event.ts';
import type { JsonObject } from '../../core/json.ts';

/** The writes of a task on a checkpoint, as the data of a `graph.wrote`. */
export interface TaskWrites {
  readonly namespace: string;
  /** The framework's id of the checkpoint. */
  readonly saved: string;
  readonly task: string;
  readonly writes: readonly (JsonObject & { readonly index: number })[];
}

/** How many writes are kept at a time; older ones are dropped: their checkpoint never came. */
const earlyMax = 1_000;

/**
 * Writes whose checkpoint is not stored yet. LangGraph runs ahead of its checkpoints, and sometimes writes on one that
 * it never saves. In the log a checkpoint must precede its writes, or going back to it would not undo them. So early
 * writes wait here and are appended with their checkpoint. Nothing is lost if the process dies before that: no one
 * could find writes without their checkpoint.
 */
export class EarlyWrites {
  #waiting: { readonly thread: string; readonly wrote: TaskWrites }[] = [];

  /** Keeps writes until their checkpoint comes. */
  keep(thread: string, wrote: TaskWrites): void {
    this.#waiting.push({ thread, wrote });
    if (this.#waiting.length > earlyMax) this.#waiting.shift();
  }

  /** Returns the writes on a checkpoint, in the order they came. */
  of(thread: string, namespace: string, checkpoint: string): readonly TaskWrites[] {
    return this.#waiting.flatMap(({ thread: held, wrote }) =>
      held === thread && wrote.namespace === namespace && wrote.saved === checkpoint ? [wrote] : [],
    );
  }

  /** Forgets writes that are stored now. */
  forget(stored: readonly TaskWrites[]): void {
    if (stored.length > 0) this.#waiting = this.#waiting.filter(({ wrote }) => !stored.includes(wrote));
  }

  /** Forgets the writes of a thread that is deleted. */
  forgetThread(thread: string): void {
    this.#waiting = this.#waiting.filter((held) => held.thread !== thread);
  }
}

/** Returns the writes that are not stored yet: the first write under an index stays, but special ones are replaced. */
export function freshWrites(wrote: TaskWrites, known: Iterable<number>): TaskWrites | undefined {
  const indexes = new Set(known);
  const writes = wrote.writes.filter(({ index }) => index < 0 || !indexes.has(index));
  return writes.length === 0 ? undefined : { ...wrote, writes };
}

/** Returns writes as an event. */
export function wroteDraft(wrote: TaskWrites): EventDraft {
  return { type: 'graph.wrote', data: { ...wrote } };
}
