import type { Event } from '../core/event/event.ts';

/**
 * Tells which events belong to a task: those that name it, and those that they led to. Causes come before their
 * consequences, so it has to be asked about every event, in order.
 */
export class TaskEvents {
  readonly #task: string;
  readonly #inside = new Set<number>();

  constructor(task: string) {
    this.#task = task;
  }

  /** Returns whether the event belongs to the task. */
  take({ seq, replaces, causeSeq, data }: Event): boolean {
    const isInside = data['task'] === this.#task || (causeSeq !== undefined && this.#inside.has(causeSeq));
    if (!isInside) return false;
    this.#inside.add(seq);
    // The consequences of the replaced event belong to its replacement.
    if (replaces !== undefined) this.#inside.add(replaces);
    return true;
  }
}
