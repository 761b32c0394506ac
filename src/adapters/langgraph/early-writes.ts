import type { EventDraft } from '../../core/event/event.ts';
import type { JsonObject } from '../../core/json.ts';

/** What a task wrote on a checkpoint, as the data of a `graph.wrote`. */
export interface TaskWrites {
  readonly namespace: string;
  /** The framework's id of the checkpoint. */
  readonly saved: string;
  readonly task: string;
  readonly writes: readonly (JsonObject & { readonly index: number })[];
}

/** Writes kept at a time; of more, the oldest go: their checkpoint never came, and nobody can ask for them. */
const earlyMax = 1_000;

/**
 * Writes whose checkpoint is still to come. LangGraph runs ahead of its checkpoints, and now and then writes on one that
 * it never saves. In the log a checkpoint stands before what was written on it, or going back to it would not undo that;
 * so such writes wait here, and are appended together with it. Until it is stored, nothing that was written on it could
 * be found, so nothing is lost when the process dies before that.
 */
export class EarlyWrites {
  #waiting: { readonly thread: string; readonly wrote: TaskWrites }[] = [];

  /** Keeps writes until their checkpoint comes. */
  keep(thread: string, wrote: TaskWrites): void {
    this.#waiting.push({ thread, wrote });
    if (this.#waiting.length > earlyMax) this.#waiting.shift();
  }

  /** The writes on a checkpoint, in the order they came. */
  of(thread: string, namespace: string, checkpoint: string): readonly TaskWrites[] {
    return this.#waiting.flatMap(({ thread: held, wrote }) =>
      held === thread && wrote.namespace === namespace && wrote.saved === checkpoint ? [wrote] : [],
    );
  }

  /** Forgets writes that are stored now. */
  forget(stored: readonly TaskWrites[]): void {
    if (stored.length > 0) this.#waiting = this.#waiting.filter(({ wrote }) => !stored.includes(wrote));
  }

  /** Forgets what waits in a thread that is deleted. */
  forgetThread(thread: string): void {
    this.#waiting = this.#waiting.filter((held) => held.thread !== thread);
  }
}

/** Writes without what is stored of them: the first under an index stays, except that special ones are replaced. */
export function freshWrites(wrote: TaskWrites, known: Iterable<number>): TaskWrites | undefined {
  const indexes = new Set(known);
  const writes = wrote.writes.filter(({ index }) => index < 0 || !indexes.has(index));
  return writes.length === 0 ? undefined : { ...wrote, writes };
}

/** Writes as an event. */
export function wroteDraft(wrote: TaskWrites): EventDraft {
  return { type: 'graph.wrote', data: { ...wrote } };
}
